"""Plain pages of our own, for steps that lead out of the chat: no script, no form but ours, and text is only text."""

from __future__ import annotations

from html import escape
from typing import Any, Final
from urllib.parse import quote

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from yourcall.web.problems import ProblemResponse, refusal_of

HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Html(str):
    """Text that is markup already."""


def el(tag: str, *children: str, **attributes: str | bool) -> Html:
    """An element. Children and attributes are text, which is escaped; only another element is not.

    An attribute that Python has no name for is written as `class_` and `http_equiv`.
    """
    given = "".join(
        f" {name}" if value is True else f' {name}="{escape(str(value))}"'
        for name, value in ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
        if value is not False
    )
    inner = "".join(child if isinstance(child, Html) else escape(child) for child in children)
    return Html(f"<{tag}{given}>" if tag in ("meta", "link") else f"<{tag}{given}>{inner}</{tag}>")


class Page(Response):
    """A page with a heading. `cards` is the relative address of the front end's files."""

    media_type = "text/html"

    def __init__(self, title: str, *body: str, cards: str, status: int = 200, head: str = "") -> None:
        document = el(
            "html",
            el(
                "head",
                el("meta", charset="utf-8"),
                el("meta", name="viewport", content="width=device-width, initial-scale=1"),
                el("title", title),
                el("link", rel="icon", href=f"{cards}/icon.svg", type="image/svg+xml"),
                el("link", rel="stylesheet", href=f"{cards}/theme.css"),
                el("link", rel="stylesheet", href=f"{cards}/page.css"),
                head,
            ),
            el("body", el("main", el("h1", title, dir="auto"), *body), class_="yc-page"),
            lang="en",
        )
        super().__init__(f"<!doctype html>\n{document}", status, HEADERS)


def way_back(home: str | None, conversation: str | None = None) -> list[Html]:
    """A link to the conversation in the chat, or to the chat alone, if it is known where that is."""
    if home is None:
        return []
    place = "" if conversation is None else f"#{quote(conversation, safe='')}"
    return [el("p", el("a", "Back to the chat", href=f"{home}{place}"))]


def see(address: str) -> Response:
    """On to another page, which learns nothing of what is in the address now."""
    return RedirectResponse(address, 303, {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})


def page_route(home: str | None) -> type[APIRoute]:
    """A route of pages: a browser is told in words what it was refused for, everybody else in problem+json."""

    class PageRoute(APIRoute):
        def get_route_handler(self) -> Any:
            handle = super().get_route_handler()

            async def guarded(request: Request) -> Response:
                try:
                    return await handle(request)
                except Exception as error:
                    return refused(request, error, home)

            return guarded

    return PageRoute


def refused(request: Request, error: Exception, home: str | None) -> Response:
    """The refusal, in the form that is asked for."""
    response = refusal_of(error)
    if not isinstance(response, ProblemResponse) or "text/html" not in request.headers.get("accept", ""):
        return response
    text, status = str(response.refusal), response.status_code
    parts = [el("p", text), el("p", CLOSE), *way_back(home)]
    page = Page("This did not work", *parts, cards="../cards", status=status)
    page.headers.update({name: value for name, value in response.headers.items() if name == "www-authenticate"})
    return page


CLOSE: Final = "You may close this page."
