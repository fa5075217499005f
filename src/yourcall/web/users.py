"""Who asks. The app says it, by a dependency of its own; here it is made sure of and handed on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Depends
from starlette.requests import Request

from yourcall.web.problems import Unauthenticated


def signed_in(user: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, None]]:
    """A dependency that lets nobody through of whom the app's dependency `user` does not know who they are."""
    who = Depends(user)

    async def require(request: Request, user: Any = who) -> None:
        if user is None or user == "":
            raise Unauthenticated
        if not isinstance(user, str):
            raise TypeError(f"The `user` dependency must return the user's id as a str, not {type(user).__name__}.")
        request.state.yourcall_user = user

    return require


def user_of(request: Request) -> str:
    """The id of who asks, on a route that requires somebody."""
    user: str = request.state.yourcall_user
    return user
