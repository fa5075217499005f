"""Secrets and tokens of awkward characters, through a server that says all it can: they are in no sink of it.

The server is a process of its own (`app.py`), with traces and debug logs on for everything; a service that repeats what
it is sent is called over real HTTP. Its checks fail, its tools raise, record, ask and return what they know. What it
leaves behind and what it answered is then searched for each value in all spellings, and for a control that was put
into every one of these places on purpose.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from starlette.responses import JSONResponse

from tests.canaries.scan import forms, found
from tests.canaries.values import CANARIES, CONTROL, SECRETS, TOKENS
from tests.oauth.stage import Browser, leads_to
from tests.web.serving import User, serve_app
from yourcall.vault.keyring import new_key

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
WATCHDOG = 300.0
"""Seconds after which a server that a test has left behind is ended."""


# --------------------------------------------------------------------------- the service, and the server


def service_of() -> FastAPI:
    """Repeats what it is sent, and gives tokens: a pair that is stale at once, then one that lasts."""
    app = FastAPI()

    @app.get("/service")
    async def service(request: Request) -> Response:
        you = request.headers.get("authorization", "")
        return JSONResponse({"you": you, "control": CONTROL}, headers={"X-You": you})

    @app.post("/refuses")
    async def refuses(request: Request) -> Response:
        return Response(await request.body(), 400)

    @app.post("/token")
    async def token(request: Request) -> dict[str, Any]:
        sent = dict(parse_qsl((await request.body()).decode()))
        if sent["grant_type"] == "authorization_code":
            user, n = sent["code"].removeprefix("code-of-"), 1
        else:
            user, n = next(name for name, one in TOKENS.items() if one == sent["refresh_token"]).split()[-1], 2
        return {
            "access_token": TOKENS[f"access {n} of {user}"], "refresh_token": TOKENS[f"refresh {n} of {user}"],
            "token_type": "Bearer", "expires_in": 0 if n == 1 else 3600, "scope": "sleep",
        }  # fmt: skip

    return app


@contextmanager
def server(folder: Path, service: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The running process and where it answers; its output is in `folder / "output"` once the block is left."""
    command = [sys.executable, "-m", "tests.canaries.app", str(folder), service, CONTROL]
    env = os.environ | {"YOURCALL_KEYS": new_key(), "CONTROL": CONTROL, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        watchdog = threading.Timer(WATCHDOG, process.kill)
        watchdog.start()
        assert process.stdout
        said: list[bytes] = []
        try:
            for line in process.stdout:
                said.append(line)
                if line.startswith(b"http://"):
                    break
            else:
                raise AssertionError(b"".join(said).decode())
            reader = threading.Thread(target=lambda: said.extend(process.stdout or ()))
            reader.start()
            yield line.decode().strip(), process
            process.terminate()
            process.wait()
            reader.join()
        finally:
            watchdog.cancel()
            process.kill()
        (folder / "output").write_bytes(b"".join(said))


# --------------------------------------------------------------------------- what its users do


@dataclass
class Story:
    """One user's way through all of it; whatever comes back is kept, by what it is."""

    user: User
    sinks: dict[str, list[bytes]]

    def keep(self, what: str, response: httpx.Response) -> httpx.Response:
        self.sinks[what].append(response.content + repr(response.headers).encode())
        return response

    async def run(self, conversation: str, text: str) -> list[dict[str, Any]]:
        """A message, its run, and the questions that are open then."""
        await self.user.create(id=conversation)
        await self.user.say(conversation, f"{text} {CONTROL}")
        await self.user.events(conversation)
        return await self.user.open(conversation)

    async def enter(self, interrupt: str, value: Any) -> int:
        sent = await self.user.post(f"/interrupts/{interrupt}/secret", json={"value": value})
        return self.keep("answers" if sent.status_code < 400 else "errors", sent).status_code

    async def answer(self, asked: dict[str, Any], payload: Any) -> int:
        digest = asked["metadata"]["yourcall"]["digest"]
        sent = await self.user.answer(asked["id"], payload, **{"If-Match": f'"{digest}"'})
        return self.keep("answers" if sent.status_code < 400 else "errors", sent).status_code

    async def give_secret(self, value: str) -> None:
        """The check breaks, then refuses; wrong bodies and ways; then it is taken, again, and contradicted."""
        (asked,) = await self.run(f"give-{CONTROL}", "give_secret")
        id = asked["id"]
        assert [await self.enter(id, value) for _ in "12"] == [502, 422]
        assert await self.answer(asked, {"value": value}) == 409
        for body in ({"value": [value]}, {value: "x"}, {"value": "x", value: 1}):
            self.keep("errors", await self.user.post(f"/interrupts/{id}/secret", json=body))
        for text, type in ((value, "text/plain"), (f'{{"value": "{value}', "application/json")):
            headers = {"Content-Type": type}
            self.keep(
                "errors", await self.user.post(f"/interrupts/{id}/secret", content=text.encode(), headers=headers)
            )
        resume = [{"interruptId": id, "status": "resolved", "payload": {"value": value}}]
        self.sinks["events"].append(repr(await self.user.run(f"give-{CONTROL}", resume=resume)).encode())
        assert [await self.enter(id, one) for one in (value, value, "another")] == [200, 200, 409]
        (unwanted,) = await self.run("other", "give_other")
        await self.enter(unwanted["id"], value)
        await self.look(f"give-{CONTROL}", "other")

    async def give_token(self, user: str) -> None:
        """To the provider and back; the first time, what asks whose the token is breaks."""
        (asked,) = await self.run(f"give-{CONTROL}", "give_token")
        browser, id = Browser(self.user), asked["id"]
        while await self.user.open(f"give-{CONTROL}"):
            self.keep("HTML", await browser.page(id))
            sent = dict(parse_qsl(urlsplit(leads_to(self.keep("HTML", await browser.press(id)))).query))
            back = urlencode({"code": f"code-of-{user}", "state": sent["state"]})
            came = self.keep("answers", await browser.come(f"{sent['redirect_uri']}?{back}"))
            self.keep("HTML", await self.user.get(urlsplit(came.headers["location"]).path.removeprefix("/chat")))
        await self.look(f"give-{CONTROL}")

    async def use(self, what: str) -> None:
        """All tools at once; those that ask are answered, wrongly at first."""
        for asked in await self.run("use", what):
            match asked["metadata"]["yourcall"]["kind"]:
                case "form":
                    assert [await self.answer(asked, {"size": n}) for n in (1, 6, 9)] == [422, 502, 200]
                case "confirm":
                    assert await self.answer(asked, {"approved": True}) == 200
                case _:
                    assert await self.answer(asked, {"any": "thing"}) == 200
        await self.user.events("use")
        await self.look("use")

    async def look(self, *conversations: str) -> None:
        """Read all that can be read."""
        for one in conversations:
            self.sinks["events"].append(repr(await self.user.events(one)).encode())
            self.keep("snapshots", await self.user.get(f"/conversations/{one}"))
        for path in ("/conversations", "/interrupts", "/credentials", "/about"):
            self.keep("answers", await self.user.get(path))


@pytest.fixture(scope="module")
async def sinks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("canaries")
    said: dict[str, list[bytes]] = defaultdict(list)
    async with serve_app(service_of(), cast("Any", None)) as service:
        with server(folder, service.url) as (url, process):
            for n, value in enumerate(SECRETS.values()):
                story = Story(await service.client(f"{url}/chat", **{"X-User": f"user{n}"}), said)
                await story.give_secret(value)
                await story.use("secret")
            for name in ("ann", "ben"):
                story = Story(await service.client(f"{url}/chat", **{"X-User": name}), said)
                await story.give_token(name)
                await story.use("token")
                files = {"file": ("a.txt", CONTROL.encode())}
                story.keep("answers", await story.user.post("/files", files=files))
            said |= alive(folder, process.pid)
    return {name: b"\n".join(parts) for name, parts in said.items()} | left(folder)


def alive(folder: Path, pid: int) -> dict[str, list[bytes]]:
    """What can be seen of the server while it runs."""
    database = [file.read_bytes() for file in folder.glob("chat.db*") if file.is_file()]
    assert len(database) == 3, "the database, its write-ahead log, and the index of that"
    process = Path(f"/proc/{pid}")
    return {
        "database": database,
        "arguments": [(process / "cmdline").read_bytes()],
        "environment": [(process / "environ").read_bytes()],
    }


def left(folder: Path) -> dict[str, bytes]:
    """What is in the files that the server leaves behind."""
    files = {name: (folder / name).read_bytes() for name in ("output", "logs", "spans", "requests", "children")}
    blobs = [file.read_bytes() for file in (folder / "blobs").rglob("*") if file.is_file()]
    return files | {"files": b"\n".join(blobs), "database, closed": (folder / "chat.db").read_bytes()}


# --------------------------------------------------------------------------- what must hold


SINKS = [
    "database", "database, closed", "files", "logs", "output", "spans", "events", "snapshots", "requests", "errors",
    "answers", "HTML", "arguments", "environment", "children",
]  # fmt: skip


@pytest.mark.parametrize("sink", SINKS)
async def test_T7_no_canary_is_in(sinks: dict[str, bytes], sink: str) -> None:
    """T7, K2, K3: none of twenty secrets and tokens, in no spelling; the same scan finds the control that is there."""
    assert found({"control": CONTROL}, sinks[sink]) == ["control"]
    assert found(CANARIES, sinks[sink]) == []


@pytest.mark.parametrize("sink", ["database", "database, closed", "logs", "output"])
async def test_no_code_or_state_is_in(sinks: dict[str, bytes], sink: str) -> None:
    """The address at which a provider sends the browser back is logged without what it brings."""
    assert b"GET /chat/callback/google" in sinks["output"]
    assert not re.search(rb"code-of-|state=", sinks[sink])


async def test_every_sink_is_scanned(sinks: dict[str, bytes]) -> None:
    """What is kept of the server and is not looked through would be a hole in the test."""
    assert sorted(sinks) == sorted(SINKS)


@pytest.mark.parametrize("name", CANARIES)
def test_the_scan_finds_every_spelling(name: str) -> None:
    """Anywhere, and only the one that is there."""
    for form in forms(CANARIES[name]):
        assert found(CANARIES, b"\x00\xffx" + form + b"x\xff") == [name], form
