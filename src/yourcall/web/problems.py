"""Everything that a request is refused for, as RFC 9457 says it.

A refusal is an exception with a slug, a status and a sentence for people; here it becomes a response. No value
that came in goes out again, neither in a text nor by way of the framework's own validation errors.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from yourcall import agui
from yourcall.entries import Json
from yourcall.errors import Busy, Fault, Refused, Rejected, TooManyAttempts
from yourcall.sizes import size

log = logging.getLogger("yourcall")

TYPE: Final = "urn:yourcall:problem/"
"""A problem's `type` is this and its slug; clients read what is after the last slash."""

RETRY_AFTER: Final = "2"
"""Seconds after which a busy server is worth another try."""


class Unauthenticated(Refused):
    """Nobody is signed in, by the app's own word."""

    slug, status = "unauthenticated", 401

    def __init__(self, challenge: str = "Bearer") -> None:
        self.challenge = challenge
        super().__init__("Sign in to answer.")


class CrossOrigin(Refused):
    """A page of another site made the user's browser send this."""

    slug, status = "cross-origin", 403

    def __init__(self) -> None:
        super().__init__("This request came from another site.")


class WrongHost(Refused):
    """The request was not addressed to a loopback name: a page may have rebound its own name to this machine."""

    slug, status = "wrong-host", 421

    def __init__(self) -> None:
        super().__init__("This server answers on localhost only.")


class DigestRequired(Refused):
    """An answer to a `Confirm` does not say which question it approves."""

    slug, status = "digest-required", 428

    def __init__(self) -> None:
        super().__init__("Send the question's digest in If-Match.")


class MediaType(Refused):
    """Only JSON is read: the other types are those that a form on any page can send."""

    slug, status = "media-type", 415

    def __init__(self) -> None:
        super().__init__("Send application/json.")


class TooLarge(Refused):
    """The body is larger than the limit."""

    slug, status = "too-large", 413

    def __init__(self, limit: int) -> None:
        what = "answer" if limit < 1 << 20 else "request"
        super().__init__(f"The {what} is larger than {size(limit)}.")


class MalformedJson(Refused):
    """Not JSON, or JSON that two readers could read differently."""

    slug, status = "malformed-json", 400

    def __init__(self) -> None:
        super().__init__("The body is not valid JSON.")


class InvalidText(Rejected):
    """JSON can carry text that a database cannot."""

    def __init__(self, pointer: str) -> None:
        message = "Text contains characters that cannot be stored."
        super().__init__(message, faults=[Fault(pointer, message, "invalid-text")])


class InvalidRequest(Rejected):
    """The body is JSON, but not what this route takes."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(message, faults=[Fault(pointer, message, "invalid-request")])


class TooManyStreams(Refused):
    """The user follows so much at once that one more is refused; a run goes on without its listeners."""

    slug, status = "too-many-streams", 429

    def __init__(self) -> None:
        super().__init__("Too much of this is open at once. Close a tab, or try again in a moment.")


class Internal(Refused):
    """Our fault; what happened is in the server's log and nowhere else."""

    slug, status = "internal", 500

    def __init__(self) -> None:
        super().__init__("Something went wrong on the server. Try again.")


class JsonResponse(Response):
    """JSON that no cache keeps: all of it belongs to one user at one moment."""

    media_type = "application/json"

    def __init__(self, content: Json, status_code: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(content, status_code, {"Cache-Control": "no-store", **(headers or {})})

    def render(self, content: Json) -> bytes:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


class ProblemResponse(JsonResponse):
    """A refusal on the wire. `ending` is how a question closed, where the caller knows more than the refusal."""

    media_type = "application/problem+json"

    def __init__(self, refusal: Refused, *, ending: Json = None) -> None:
        closed = ending or _ending(refusal)
        errors = agui.faults(refusal) if isinstance(refusal, Rejected) else None
        parts = {
            "type": TYPE + refusal.slug,
            "title": refusal.slug.replace("-", " ").capitalize(),
            "status": refusal.status,
            "detail": str(refusal),
            "ending": closed,
            "errors": errors,
        }
        body = {name: value for name, value in parts.items() if value is not None}
        self.refusal = refusal
        super().__init__(body, refusal.status, _headers(refusal))


def _ending(refusal: Refused) -> Json:
    kind = getattr(refusal, "ending", None)
    return None if kind is None else {"kind": kind}


def _headers(refusal: Refused) -> dict[str, str]:
    match refusal:
        case Unauthenticated(challenge=challenge):
            return {"WWW-Authenticate": challenge}
        case Busy() | TooManyStreams():
            return {"Retry-After": RETRY_AFTER}
        case TooManyAttempts(after=after):
            return {"Retry-After": str(math.ceil(after))}
        case _:
            return {}


class Route(APIRoute):
    """A route whose refusals are problems. It is the router's alone: the app around it keeps its own handlers."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            try:
                return await handle(request)
            except Exception as error:
                return refusal_of(error)

        return guarded


def refusal_of(error: Exception) -> Response:
    """What went wrong, as a response. Raises what the app around the router is to say itself."""
    match error:
        case Refused():
            return ProblemResponse(error)
        case RequestValidationError():
            # Bodies are not the framework's to read here: what it could not read is the user's credentials.
            return ProblemResponse(Unauthenticated())
        case HTTPException(status_code=401, headers=headers):
            return ProblemResponse(Unauthenticated((headers or {}).get("WWW-Authenticate", "Bearer")))
        case HTTPException():
            raise error
        case ClientDisconnect():
            return Response(status_code=400)  # nobody reads it
        case _:
            log.error("A request failed", exc_info=error)
            return ProblemResponse(Internal())
