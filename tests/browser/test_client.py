"""`client.js` by itself: streams in any pieces, cut streams, refusals. It runs where it belongs, in a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route

from tests.browser.stage import User


@pytest.fixture
def page(new_user: Callable[..., User]) -> Page:
    """A page that has the module at hand, as `client`."""
    user = new_user(breaks=True)
    user.visit()
    user.page.evaluate("import('/cards/client.js').then((module) => { globalThis.client = module; })")
    return user.page


def sse(*events: str, ids: tuple[int, ...] = ()) -> str:
    """A stream's body; the nth event has the nth id."""
    marks = [f"id: {n}\n" for n in ids] + [""] * len(events)
    return "".join(f'{mark}data: {{"type": "{event}"}}\n\n' for mark, event in zip(marks, events, strict=False))


class Replies:
    """Answers requests for a stream one after the other, and keeps what they asked for."""

    def __init__(self, page: Page, *replies: dict[str, Any]) -> None:
        self.after: list[str | None] = []
        self._replies = iter(replies)
        page.route("**/conversations/c/events", self._reply)

    def _reply(self, route: Route) -> None:
        self.after.append(route.request.header_value("last-event-id"))
        route.fulfill(**{"content_type": "text/event-stream", **next(self._replies)})


FOLLOW = """async () => {
  const events = [];
  const done = await new client.Client(".").follow("c", 3, (event, seq) => events.push([event.type, seq ?? null]))
    .then(() => "done", (error) => `${error.constructor.name} ${error.status} ${error.slug}`);
  return { events, done };
}"""


def test_the_parser_takes_any_pieces_and_line_ends(page: Page) -> None:
    """However a stream is cut into pieces, and with LF, CR or CRLF, the same frames come out, each once."""
    found = page.evaluate(
        r"""() => {
          const stream = "\uFEFF: hello\nretry: 5\n\nid: 7\ndata: one\n\ndata:two\ndata:  three\n\nevent: x\n\n"
            + "data\n\nid: a\0b\nid: 8\ndata: ünïcödé 🏋\nunknown: field\n\n\ndata: unfinished";
          const wanted = JSON.stringify([
            { id: "7", data: "one" }, { data: "two\n three" }, { data: "" }, { id: "8", data: "ünïcödé 🏋" },
          ]);
          const wrong = [];
          let seed = 1;
          const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
          for (const end of ["\n", "\r", "\r\n"]) {
            const text = stream.slice(1).replaceAll("\n", end);
            const cuts = [...Array(text.length).keys()].map((at) => [at]);
            for (let n = 0; n < 300; n++) cuts.push(Array.from({ length: 1 + random(9) }, () => random(text.length)));
            for (const at of cuts) {
              const frames = [];
              const feed = client.parser((frame) => frames.push(frame));
              const places = [0, ...at.sort((a, b) => a - b), text.length];
              places.slice(1).forEach((to, n) => feed(text.slice(places[n], to)));
              if (JSON.stringify(frames) !== wanted) wrong.push([end, at, frames]);
            }
          }
          return wrong.slice(0, 3);
        }"""
    )
    assert found == []


def test_the_parser_has_a_bound(page: Page) -> None:
    """A frame that never ends is an error before it fills the memory; many small ones never are."""
    found = page.evaluate(
        """() => {
          const fed = (limit, ...pieces) => {
            const feed = client.parser(() => {}, limit);
            try { pieces.forEach(feed); return "fine"; } catch (error) { return `${error.constructor.name}`; }
          };
          return [
            fed(100, ..."data: 0123456789 ".repeat(10)),
            fed(100, ...Array(20).fill("data: 0123456789\\n")),
            fed(100, ...Array(999).fill("data: 0123456789\\n\\n")),
          ];
        }"""
    )
    assert found == ["StreamError", "StreamError", "fine"]


def test_I2_a_cut_stream_is_no_finished_run(page: Page) -> None:
    """Without a terminal event the stream is opened again after the last whole entry, until there is one."""
    replies = Replies(
        page,
        {"body": sse("RUN_STARTED", "TEXT_MESSAGE_CONTENT")},
        {"body": sse("CUSTOM", "TOOL_CALL_RESULT", "CUSTOM", ids=(4, 5)) + 'data: {"type": "RUN_FIN'},
        {"body": "", "status": 503},
        {"body": "<html>", "content_type": "text/html"},
        {"body": sse("RUN_STARTED", "RUN_FINISHED", ids=(6,))},
    )
    found = page.evaluate(FOLLOW)
    assert found["done"] == "done"
    assert found["events"] == [
        ["RUN_STARTED", None], ["TEXT_MESSAGE_CONTENT", None],
        ["CUSTOM", 4], ["TOOL_CALL_RESULT", 5], ["CUSTOM", None],
        ["RUN_STARTED", 6], ["RUN_FINISHED", None],
    ]  # fmt: skip
    assert replies.after == ["3", "3", "5", "5", "5"]


def test_I2_a_failed_run_is_a_terminal_event_too(page: Page) -> None:
    """RUN_ERROR ends the stream as well as RUN_FINISHED does."""
    replies = Replies(page, {"body": sse("RUN_STARTED", "RUN_ERROR")})
    assert page.evaluate(FOLLOW)["done"] == "done"
    assert len(replies.after) == 1


def test_a_refusal_is_not_tried_again(page: Page) -> None:
    """A problem that time does not mend is thrown at once, with what it says."""
    problem = json.dumps({"type": "https://example.org/problems/not-found", "detail": "No such conversation."})
    replies = Replies(page, {"body": problem, "status": 404, "content_type": "application/problem+json"})
    assert page.evaluate(FOLLOW) == {"events": [], "done": "Problem 404 not-found"}
    assert len(replies.after) == 1


def test_leaving_ends_the_stream_and_the_waiting(page: Page) -> None:
    """With its signal aborted, nothing is read and nothing is tried any more."""
    replies = Replies(page, {"body": ""}, {"body": ""})
    found = page.evaluate(
        """async () => {
          const leave = new AbortController();
          const onCut = () => leave.abort();
          return await new client.Client(".").follow("c", 0, () => {}, { signal: leave.signal, onCut })
            .then(() => "done", (error) => error.name);
        }"""
    )
    assert found == "AbortError"
    assert len(replies.after) == 1


def test_headers_of_ones_own_go_along(page: Page) -> None:
    """An app that signs its users in by a token gives it to the client once."""
    seen: list[str | None] = []

    def answer(route: Route) -> None:
        seen.append(route.request.header_value("authorization"))
        route.fulfill(json={"agent": {}}, status=200)

    page.route("**/about", answer)
    page.evaluate("new client.Client('.', { headers: { Authorization: 'Bearer t' } }).about()")
    assert seen == ["Bearer t"]
