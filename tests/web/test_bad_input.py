"""Every bad input over HTTP: its status, its slug, its text, and nothing of what was sent."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from itertools import repeat
from typing import Any

import anyio
import httpx
import pytest

from tests.web.agents import Pick, asked, engine_of
from tests.web.serving import DEADLINE, User, serve, until
from yourcall import Context, Rejected, tool
from yourcall.log import Transcript, UserMessage
from yourcall.store.sqlite import SQLiteStore
from yourcall.testing import Said

pytestmark = pytest.mark.anyio

CANARY = "canary-7f3a"
"""In everything that is sent, in nothing that comes back."""

ROUTES = ["/conversations", "/conversations/c1/messages", "/interrupts/x/answer", "/interrupts/x/skip", "/agui"]


def problem(response: httpx.Response, status: int, slug: str, detail: str, **more: Any) -> dict[str, Any]:
    """The response is this problem, and has no more to say than it must."""
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["status"]) == (status, status), response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["cache-control"] == "no-store"
    assert body["type"].endswith(f"/{slug}")
    assert body["detail"] == detail
    assert body["title"]
    assert CANARY not in response.text
    assert set(body) <= {"type", "title", "status", "detail", "ending", "errors"}
    assert {name: body.get(name) for name in more} == more
    return body


@pytest.fixture(scope="module")
async def ada() -> AsyncIterator[User]:
    """A user of a server whose model asks two questions after each message, and thanks for the answers."""
    async with serve(engine_of(repeat(asks_twice))) as served:
        yield await served.user("ada")


def asks_twice(transcript: Transcript) -> Said:
    wants = isinstance(transcript[-1], UserMessage)
    return [("pick", {}), ("free", {})] if wants else "Thanks."


async def questions(user: User, conversation: str) -> list[str]:
    """The ids of the open questions, after a message that makes the model ask."""
    await user.say(conversation, "Paint it")
    await user.settled(conversation)
    return [one["id"] for one in await user.open(conversation)]


# --------------------------------------------------------------------------- the body


@pytest.mark.parametrize("path", ROUTES)
async def test_only_json_is_read(ada: User, path: str) -> None:
    """A form on any page can send the other types, text/plain with JSON in it too."""
    for media_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "*/*"):
        response = await ada.post(path, content=f'{{"a": "{CANARY}"}}', headers={"Content-Type": media_type})
        problem(response, 415, "media-type", "Send application/json.")
    response = await ada.post(path, content=b'{"a": 1}')
    problem(response, 415, "media-type", "Send application/json.")


async def test_the_charset_may_be_named(ada: User) -> None:
    """As many clients do."""
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert (await ada.post("/conversations", content=b"{}", headers=headers)).status_code == 201


@pytest.mark.parametrize("path", ROUTES[:-1])
async def test_a_body_over_the_limit_is_refused(ada: User, path: str) -> None:
    """By its announced length, before it is read, and by its bytes where no length is announced."""
    large = json.dumps({"text": CANARY * 30_000}).encode()
    detail = "The answer is larger than 256 KiB."
    headers = {"Content-Type": "application/json"}
    problem(await ada.post(path, content=large, headers=headers), 413, "too-large", detail)

    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(large), 8192):
            yield large[start : start + 8192]

    problem(await ada.post(path, content=chunks(), headers=headers), 413, "too-large", detail)


async def test_an_announced_length_is_enough(ada: User) -> None:
    """The refusal comes before the body does, also for a length that no integer should hold."""
    for length in ("300000", "9" * 18):
        head = (
            f"POST /chat/conversations HTTP/1.1\r\nHost: {ada.base_url.host}\r\nX-User: ada\r\n"
            f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        )
        assert ada.base_url.port
        async with await anyio.connect_tcp(ada.base_url.host, ada.base_url.port) as connection:
            await connection.send(head.encode())
            with anyio.fail_after(DEADLINE):
                assert (await connection.receive()).startswith(b"HTTP/1.1 413 ")


async def test_the_limit_is_exact(ada: User) -> None:
    """256 KiB are read, one byte more is not."""
    conversation = await ada.create()
    overhead = len(json.dumps({"text": ""}, separators=(",", ":")))
    fits = {"text": "x" * ((256 << 10) - overhead)}
    path, headers = f"/conversations/{conversation}/messages", {"Content-Type": "application/json"}
    body = json.dumps(fits, separators=(",", ":"))
    assert (await ada.post(path, content=body, headers=headers)).status_code == 202
    assert (await ada.post(path, content=body + " ", headers=headers)).status_code == 413


async def test_an_agui_history_may_be_long_but_not_what_is_new(ada: User) -> None:
    """AG-UI clients send all they know with each request; only what is taken of it counts as theirs to send."""
    spoke = {"id": "a", "role": "assistant", "content": "x" * 1_000_000}
    await ada.run("c1", [spoke, {"id": "m1", "role": "user", "content": "Hi"}])
    body = {"threadId": "c1", "runId": "r"}
    new = {"id": "m2", "role": "user", "content": CANARY * 30_000}
    response = await ada.post("/agui", json=body | {"messages": [spoke, new]})
    problem(response, 413, "too-large", "The answer is larger than 256 KiB.")
    whole = {"id": "m2", "role": "assistant", "content": CANARY * 400_000}
    response = await ada.post("/agui", json=body | {"messages": [whole]})
    problem(response, 413, "too-large", "The request is larger than 4 MiB.")


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    "body",
    [
        f'{{"a": "{CANARY}"',
        f'{{"{CANARY}": 1, "{CANARY}": 2}}',
        f'["{CANARY}", NaN]',
        f'["{CANARY}", 1e400]',
        "[" * 33 + f'"{CANARY}"' + "]" * 33,
    ],
)
async def test_bad_json_is_refused(ada: User, path: str, body: str) -> None:
    """Broken, ambiguous, not finite or too deep."""
    response = await ada.post(path, content=body, headers={"Content-Type": "application/json"})
    problem(response, 400, "malformed-json", "The body is not valid JSON.")


@pytest.mark.parametrize("path", ROUTES)
async def test_text_that_cannot_be_stored_is_refused(ada: User, path: str) -> None:
    """Everywhere, with its place: a database would refuse it later, or worse, not."""
    for text in (r"\u0000", r"\ud800"):
        body = f'{{"{CANARY}": 1, "a": ["{CANARY}{text}"]}}'
        response = await ada.post(path, content=body, headers={"Content-Type": "application/json"})
        detail = "Text contains characters that cannot be stored."
        place = {"pointer": "/a/0", "detail": detail, "type": "invalid-text"}
        problem(response, 422, "invalid-text", detail, errors=[place])


async def test_our_own_bodies_have_no_other_fields(ada: User) -> None:
    """T15: a misspelt or smuggled member is refused, by its name; a class to be made is just that."""
    conversation = await ada.create()
    path = f"/conversations/{conversation}/messages"
    response = await ada.post(path, json={"text": "x", "__class__": {"lc": 1, "id": CANARY}})
    errors = [{"pointer": "/__class__", "detail": "Unexpected field.", "type": "unknown-field"}]
    problem(response, 422, "unknown-field", "Unexpected field.", errors=errors)
    for body, pointer, detail in (
        ({}, "/text", "Expected a text."),
        ({"text": 7}, "/text", "Expected a text."),
        ({"text": " "}, "/text", "Write something."),
        ({"text": "x", "id": "a/b"}, "/id", "Expected up to 200 printable characters without a slash."),
        ([CANARY], "", "Expected an object."),
    ):
        response = await ada.post(path, json=body)
        errors = [{"pointer": pointer, "detail": detail, "type": "invalid-request"}]
        problem(response, 422, "invalid-request", detail, errors=errors)
    assert (await ada.snapshot(conversation))["head"] == 0


async def test_a_thread_id_must_fit_into_a_path(ada: User) -> None:
    """What AG-UI starts, the other routes must be able to name."""
    response = await ada.post("/agui", json={"threadId": f"a/{CANARY}", "runId": "r", "messages": []})
    detail = "Expected up to 200 printable characters without a slash."
    place = {"pointer": "/threadId", "detail": detail, "type": "invalid-request"}
    problem(response, 422, "invalid-request", detail, errors=[place])


# --------------------------------------------------------------------------- answers


async def test_an_answer_that_is_none_is_refused_and_the_question_stays_open(ada: User) -> None:
    """N9, O3, O4: a label that was not offered, the wrong type, nothing at all: each with its place."""
    conversation = await ada.create()
    one, _ = await questions(ada, conversation)
    wrong: list[Any] = [{"pick": CANARY}, {"pick": ["red"]}, {"pick": None}, {}, [], None, CANARY, 1, {"PICK": "red"}]
    for payload in wrong:
        response = await ada.answer(one, payload)
        detail = "Not one of the offered options."
        place = {"pointer": "/pick", "detail": detail, "type": "invalid-answer"}
        problem(response, 422, "invalid-answer", detail, errors=[place])
    response = await ada.answer(one, {"pick": "red", "files.path": CANARY})
    place = {"pointer": "/files.path", "detail": "Unexpected field.", "type": "unknown-field"}
    problem(response, 422, "unknown-field", "Unexpected field.", errors=[place])
    assert one in [open["id"] for open in await ada.open(conversation)]
    assert (await ada.answer(one, {"pick": "red"})).status_code == 200


async def test_a_second_different_answer_is_refused_with_the_first_one_s_ending(ada: User) -> None:
    """The identical answer is told what is recorded; another one is too late."""
    one, _ = await questions(ada, await ada.create())
    first = await ada.answer(one, {"pick": "red"})
    again = await ada.answer(one, {"pick": "red"})
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json() == again.json() == {"id": one, "ending": {"kind": "answered"}}
    detail = "This question was already answered."
    for late in (await ada.answer(one, {"pick": "blue"}), await ada.post(f"/interrupts/{one}/skip")):
        problem(late, 409, "already-answered", detail, ending={"kind": "answered", "answer": "red"})


async def test_an_answer_to_another_version_of_the_question_is_refused(ada: User) -> None:
    """T11: the digest that the client saw stands in If-Match, as an entity tag."""
    conversation = await ada.create()
    one, _ = await questions(ada, conversation)
    [open, _] = await ada.open(conversation)
    digest = open["metadata"]["yourcall"]["digest"]
    wrong = await ada.answer(one, {"pick": "red"}, **{"If-Match": f'"{digest[::-1]}"'})
    problem(wrong, 412, "changed", "The question changed. Reload it.")
    for tag in ("*", f'"{digest}"', f'W/"{digest}"', digest):
        assert (await ada.answer(one, {"pick": "red"}, **{"If-Match": tag})).status_code == 200


async def test_a_closed_question_takes_no_answer(ada: User) -> None:
    """Skipped and superseded are told apart, by the ending that comes along."""
    conversation = await ada.create()
    one, two = await questions(ada, conversation)
    skipped = await ada.post(f"/interrupts/{one}/skip", json={"note": "later"})
    assert skipped.json() == {"id": one, "ending": {"kind": "skipped", "note": "later"}}
    await ada.say(conversation, "Never mind")
    detail = "This question is no longer open."
    ending = {"kind": "skipped", "note": "later"}
    problem(await ada.answer(one, {"pick": "red"}), 410, "closed", detail, ending=ending)
    problem(await ada.answer(two, "x"), 410, "closed", detail, ending={"kind": "superseded"})
    problem(await ada.post(f"/interrupts/{two}/skip"), 410, "closed", detail, ending={"kind": "superseded"})


async def test_an_expired_question_takes_no_answer() -> None:
    """By the store's clock, at the append: also if no sweep has closed it yet."""
    now = [time.time()]

    @tool
    def hurry(ctx: Context) -> str:
        """Ask for a pick within a minute."""
        return str(ctx.ask(Pick("Which?", "red", "blue"), expires_in=60))

    store = SQLiteStore(":memory:", clock=lambda: now[0])
    async with serve(engine_of([[("hurry", {})], "Too late."], hurry, store=store)) as served:
        ada = await served.user("ada")
        [one] = await questions(ada, await ada.create())
        now[0] += 61
        response = await ada.answer(one, {"pick": "red"})
        problem(response, 410, "expired", "This question has expired.", ending={"kind": "expired"})


@pytest.mark.parametrize("body", [b"", b"null", b"{}", b'{"note": null}', b'{"note": ""}', b'{"note": "no"}'])
async def test_O2_a_skip_needs_no_content(ada: User, body: bytes) -> None:
    """Nothing, null and an empty object are a skip; the same skip again is harmless."""
    one, _ = await questions(ada, await ada.create())
    headers = {"Content-Type": "application/json"} if body else {}
    for _ in range(2):
        response = await ada.post(f"/interrupts/{one}/skip", content=body, headers=headers)
        assert response.status_code == 200
        assert response.json()["ending"]["kind"] == "skipped"


async def test_a_check_speaks_in_the_tool_author_s_words() -> None:
    """A key that the service refuses stays on its card; a check that breaks is not the user's fault."""
    verdicts: list[Exception | None] = [Rejected("Hevy did not accept this key."), RuntimeError(CANARY), None]

    async def hevy_accepts(key: str) -> None:
        if verdict := verdicts.pop(0):
            raise verdict

    @tool
    def connect(ctx: Context) -> str:
        """Ask for a key."""
        return str(ctx.ask(Pick("Key?", "red", "blue", check=hevy_accepts)))

    async with serve(engine_of([[("connect", {})], "Connected."], connect)) as served:
        ada = await served.user("ada")
        conversation = await ada.create()
        [one] = await questions(ada, conversation)
        refused = await ada.answer(one, {"pick": "red"})
        detail = "Hevy did not accept this key."
        place = {"pointer": "", "detail": detail, "type": "rejected"}
        problem(refused, 422, "rejected", detail, errors=[place])
        broken = await ada.answer(one, {"pick": "red"})
        problem(broken, 502, "check-failed", "The answer could not be checked just now. Try again.")
        assert (await ada.answer(one, {"pick": "red"})).status_code == 200
        await until(lambda: asked(served.engine) == 2)


async def test_a_message_is_refused_where_the_agent_wants_an_answer_first() -> None:
    """`on_message="reject"`: 409, and nothing is recorded."""
    async with serve(engine_of([[("pick", {})]], on_message="reject")) as served:
        ada = await served.user("ada")
        conversation = await ada.create()
        await questions(ada, conversation)
        head = (await ada.snapshot(conversation))["head"]
        for response in (
            await ada.post(f"/conversations/{conversation}/messages", json={"text": CANARY}),
            await ada.post(
                "/agui",
                json={
                    "threadId": conversation,
                    "runId": "r",
                    "messages": [{"id": "m9", "role": "user", "content": CANARY}],
                },
            ),
        ):
            problem(response, 409, "waiting", "Answer or skip the open question first.")
        assert (await ada.snapshot(conversation))["head"] == head


# --------------------------------------------------------------------------- the server's own troubles


async def test_a_server_that_shuts_down_says_when_to_come_back() -> None:
    """503 with Retry-After, and nothing is taken that could not be carried on."""
    async with serve(engine_of([[("free", {})], "Thanks."])) as served:
        ada = await served.user("ada")
        conversation = await ada.create()
        [one] = await questions(ada, conversation)
        served.engine.draining = True
        detail = "The server is shutting down. Try again in a moment."
        message = {"id": "m", "role": "user", "content": "x"}
        answer = {"interruptId": one, "status": "resolved", "payload": "x"}
        for path, body in (
            (f"/conversations/{conversation}/messages", {"text": "x"}),
            (f"/conversations/{conversation}/resume", {}),
            (f"/conversations/{conversation}/cancel", {}),
            (f"/interrupts/{one}/answer", {"pick": "red"}),
            (f"/interrupts/{one}/skip", {}),
            ("/agui", {"threadId": conversation, "runId": "r", "messages": [message]}),
            ("/agui", {"threadId": conversation, "runId": "r", "messages": [], "resume": [answer]}),
        ):
            response = await ada.post(path, json=body)
            problem(response, 503, "busy", detail)
            assert int(response.headers["retry-after"]) > 0
        assert (await ada.snapshot(conversation))["phase"] == "waiting"
        served.engine.draining = False


async def test_what_breaks_inside_says_nothing_outside(caplog: pytest.LogCaptureFixture) -> None:
    """A bug, or a conversation of a newer release: 500, the details in the server's log."""
    async with serve(engine_of(["Hi."])) as served:
        ada = await served.user("ada")
        conversation = await ada.create()
        await ada.say(conversation, "Hi")
        await ada.settled(conversation)
        store = served.engine.store
        assert isinstance(store, SQLiteStore)
        async with store.file.transaction() as db:
            await db.execute("""UPDATE entry SET body = json_set(body, '$.v', 99)""")
        for response in (
            await ada.get(f"/conversations/{conversation}"),
            await ada.get(f"/conversations/{conversation}/events"),
            await ada.post(f"/conversations/{conversation}/messages", json={"text": CANARY}),
        ):
            problem(response, 500, "internal", "Something went wrong on the server. Try again.")
    assert "newer release" in caplog.text


async def test_a_reader_that_leaves_in_the_middle_of_its_request_hurts_nobody(
    ada: User, caplog: pytest.LogCaptureFixture
) -> None:
    """Half a body and a closed connection: no error, no half of a message."""
    conversation = await ada.create()
    url = ada.base_url
    head = (
        f"POST /chat/conversations/{conversation}/messages HTTP/1.1\r\nHost: {url.host}\r\nX-User: ada\r\n"
        'Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"text": "half'
    )
    assert url.port
    async with await anyio.connect_tcp(url.host, url.port) as connection:
        await connection.send(head.encode())
    await ada.snapshot(conversation)
    assert (await ada.snapshot(conversation))["head"] == 0
    assert not caplog.records


async def test_a_problem_is_no_problem_of_the_app_around_it() -> None:
    """The router installs no handler on the user's app: its own routes answer as before."""
    engine = engine_of()
    async with serve(engine) as served:
        outside = await served.client(served.url)
        response = await outside.get("/nowhere")
        assert (response.status_code, response.json()) == (404, {"detail": "Not Found"})
