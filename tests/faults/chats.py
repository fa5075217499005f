"""F8: whatever users do, in any order, while their server is killed, stopped and started again.

A Hypothesis state machine over real HTTP. What it remembers is what was acknowledged: how it ended, each question is
told ever after, and what is not known to have ended can be answered. In the end all is brought to an end, and the store
is looked at.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import anyio
import httpx
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from tests.faults.checker import Facts, Kept, entries_are_immutable, lines, read, running, violations
from tests.faults.load import PATIENCE, PROGRAMS
from tests.faults.report import Outcome
from tests.faults.servers import Server, replicas
from yourcall.entries import Json

PACE = 0.005
UNKNOWN = "nobody-knows-it"
WHICH = st.integers(0, 3)
"""Which of the questions, those that are open first."""
WRONG: tuple[Json, ...] = ({}, {"number": "many"}, {"number": 1, "more": 2}, [], None)
NUMBERS = st.integers(0, 9)
DEATHS = st.sampled_from((*[None] * 10, 0.001, 0.004, 0.01))
"""How long after a request was sent the server dies, in seconds; mostly it does not, for a new one takes its time."""

Ending: TypeAlias = int | Literal["skipped", "closed"]
"""How a question ended, as far as its user knows: by their number, or because of what they did instead."""


@dataclass
class Ground:
    """A server for many stories, each of a user of its own: to start one takes most of the time."""

    server: Server
    store: str
    outcome: Outcome
    users: int = 0

    def new_user(self) -> str:
        self.users += 1
        return f"u{self.users}"


@dataclass
class Chat:
    """What its user knows of a conversation."""

    id: str
    said: dict[str, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    brief: set[str] = field(default_factory=set)
    """Those of the questions that may be over at any moment."""
    ended: dict[str, Ending] = field(default_factory=dict)
    gone: bool = False

    def closes(self) -> None:
        """All questions that were open are not any more."""
        self.ended = {**dict.fromkeys(self.asked, "closed"), **self.ended}


class Chats(RuleBasedStateMachine):
    """One user and one server, which is killed while nothing is asked of it, and while something is."""

    ground: Ground
    """Where it takes place; of the class that `play` makes."""
    chats = Bundle("chats")

    def __init__(self) -> None:
        super().__init__()
        self.user = self.ground.new_user()
        self.server, self.store = self.ground.server, self.ground.store
        # each request has a connection of its own: a server that is stopped waits for nobody's next
        limits = httpx.Limits(max_keepalive_connections=0)
        self.http = httpx.Client(
            base_url=self.server.url, limits=limits, timeout=PATIENCE, headers={"X-User": self.user}
        )
        self.facts, self.before, self.all = Facts(), list[Kept](), list[Chat]()
        self.messages = 0

    # ----------------------------------------------------------------- what a user does

    @initialize(target=chats)
    def first(self) -> Chat:
        chat = self._create()
        self._say(chat, "asks")
        return chat

    @rule(target=chats)
    def create(self) -> Chat:
        return self._create()

    def _create(self) -> Chat:
        chat = Chat(f"{self.user}c{len(self.all)}")
        self._ask("POST", "/conversations", {"id": chat.id}, (201,))
        self.all.append(chat)
        return chat

    @rule(chat=chats, program=st.sampled_from((*PROGRAMS, "asks_briefly")), after=DEATHS)
    def say(self, chat: Chat, program: str, after: float | None) -> None:
        """Also while something runs, or waits; and perhaps the server dies meanwhile, so that it is said again."""
        self._say(chat, program, after)

    def _say(self, chat: Chat, program: str, after: float | None = None) -> None:
        self.messages += 1
        id = f"m{self.messages}"
        body: Json = {"id": id, "text": f"{chat.id}-{id}: {program}"}
        self._ask("POST", f"/conversations/{chat.id}/messages", body, (404,) if chat.gone else (202,), after)
        if not chat.gone:
            chat.said[id] = str(body["text"])
            chat.closes()

    @rule(chat=chats, which=WHICH, number=NUMBERS, after=DEATHS)
    def answer(self, chat: Chat, which: int, number: int, after: float | None) -> None:
        """Also one that has ended, or was answered; whatever it is, its user is told the truth."""
        id = self._question(chat, which)
        response = self._ask(
            "POST", f"/interrupts/{id}/answer", {"number": number}, self._told(chat, id, number), after
        )
        if response.status_code == 200:
            chat.ended[id] = number
        self._remember(chat, id, response)

    @rule(chat=chats, which=WHICH, number=NUMBERS)
    def answer_twice_at_once(self, chat: Chat, which: int, number: int) -> None:
        """Two numbers at once: the one is taken, the other is told so."""
        told: list[tuple[int, int]] = []
        id = self._question(chat, which)

        def answer(number: int) -> None:
            told.append((number, self._send("POST", f"/interrupts/{id}/answer", {"number": number}).status_code))

        threads = [threading.Thread(target=answer, args=(n,)) for n in (number, number + 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        allowed = {number: self._told(chat, id, number) for number, _ in told}
        is_open = not chat.gone and id != UNKNOWN and id not in chat.ended
        assert all(status in allowed[number] or (is_open and status == 409) for number, status in told), told
        taken = [number for number, status in told if status == 200]
        assert len(taken) <= 1, f"{taken} were both taken"
        assert taken or not is_open or id in chat.brief, "none was taken"
        if taken:
            chat.ended[id] = taken[0]
        elif any(status == 410 for _, status in told):
            chat.ended.setdefault(id, "closed")

    @rule(
        chat=chats, which=WHICH, payload=st.sampled_from(({}, {"number": "many"}, {"number": 1, "more": 2}, [], None))
    )
    def answer_wrongly(self, chat: Chat, which: int, payload: Json) -> None:
        """It is refused, and changes nothing."""
        id = self._question(chat, which)
        told = (
            {404}
            if chat.gone or id == UNKNOWN
            else {409, 410}
            if id in chat.ended
            else {422, 410}
            if id in chat.brief
            else {422}
        )
        response = self._ask("POST", f"/interrupts/{id}/answer", payload, told)
        self._remember(chat, id, response)

    @rule(chat=chats, which=WHICH, after=DEATHS)
    def skip(self, chat: Chat, which: int, after: float | None) -> None:
        id = self._question(chat, which)
        response = self._ask("POST", f"/interrupts/{id}/skip", {}, self._told(chat, id, "skipped"), after)
        if response.status_code == 200:
            chat.ended[id] = "skipped"
        self._remember(chat, id, response)

    @rule(chat=chats, how=st.sampled_from(("cancel", "cancel", "resume", "resume", "delete")), after=DEATHS)
    def manage(self, chat: Chat, how: str, after: float | None) -> None:
        """Stop it, let it go on, or remove it with all that belongs to it: then nobody finds it any more."""
        if how == "delete":
            # sent again after its server has died, it may find that it was done
            told = (404,) if chat.gone else (204,) if after is None else (204, 404)
            self._ask("DELETE", f"/conversations/{chat.id}", None, told, after)
            chat.gone = True
            return
        self._ask("POST", f"/conversations/{chat.id}/{how}", None, (404,) if chat.gone else (202,), after)
        if how == "cancel":
            chat.closes()

    def _question(self, chat: Chat, which: int) -> str:
        """One that the user has seen, perhaps just now; or one that nobody knows."""
        self.read(chat, settled=True)
        asked = sorted(chat.asked, key=lambda id: (id in chat.ended, id))
        return asked[which % len(asked)] if asked else UNKNOWN

    @rule(chat=chats, settled=st.booleans())
    def read(self, chat: Chat, settled: bool) -> None:
        """What was said is there, and what has ended is not open."""
        if chat.gone:
            self._ask("GET", f"/conversations/{chat.id}", None, (404,))
            return
        snapshot = self._settled(chat) if settled else self._snapshot(chat)
        there = {one["id"]: one["content"] for one in snapshot["messages"] if one["role"] == "user"}
        assert chat.said.items() <= there.items(), f"{chat.said} was said, {there} is there"
        endings = {one["id"]: one["metadata"]["yourcall"]["ending"] for one in snapshot["interrupts"]}
        opened = {id for id, ending in endings.items() if ending is None}
        assert chat.asked <= endings.keys(), "a question was shown, and is not there"
        assert not opened & chat.ended.keys(), "a question that has ended is open"
        chat.brief |= {one["id"] for one in snapshot["interrupts"] if one.get("expiresAt")}
        over = endings.keys() - opened - chat.ended.keys()
        assert over & chat.asked <= chat.brief, "a question has ended by itself"
        chat.ended |= dict.fromkeys(over, "closed")
        chat.asked |= endings.keys()

    @rule(chat=chats, after=st.integers(0, 40))
    def follow(self, chat: Chat, after: int) -> None:
        """From any place in it; what comes is what comes after that place in the whole."""
        if chat.gone:
            self._ask("GET", f"/conversations/{chat.id}/events", None, (404,))
            return
        head = self._settled(chat)["head"]
        whole, part = self._frames(chat, 0), self._frames(chat, after)
        after = after if after <= head else 0
        assert part == [frame for frame in whole if frame[0] > after]

    @rule(chat=chats)
    def wait(self, chat: Chat) -> None:
        """Until whatever has a limit is over."""
        deadline = time.monotonic() + PATIENCE
        while not chat.gone and any(one.get("expiresAt") for one in self._open(self._settled(chat))):
            assert time.monotonic() < deadline, "a question is over, and nobody closes it"
            time.sleep(0.05)

    @rule(chat=chats)
    def look_as_somebody_else(self, chat: Chat) -> None:
        """For whom it is not there, nor is any question of it."""
        eve = {"X-User": "eve"}
        paths = [
            f"/conversations/{chat.id}",
            f"/conversations/{chat.id}/events",
            *(f"/interrupts/{id}" for id in chat.asked),
        ]
        assert {self._send("GET", path, headers=eve).status_code for path in paths} == {404}

    # ----------------------------------------------------------------- what happens to the server

    @rule(kill=st.booleans())
    def restart(self, kill: bool) -> None:
        """By kill -9, or as it is told to stop by SIGTERM."""
        self._count_one()
        if kill:
            anyio.run(self.server.kill)
        else:
            self.server.terminate()
            assert anyio.run(self.server.dead) in (None, 0, -signal.SIGTERM)
        self._start()

    def _count_one(self) -> None:
        self.ground.outcome.count += 1
        self.ground.outcome.hits += bool(running(self.store) & self.server.started_runs)

    def _start(self) -> None:
        now = self._kept()
        changed = list(entries_are_immutable([kept for kept in self.before if kept.place not in self._gone()], now))
        assert not changed, changed
        self.before = now
        anyio.run(self.server.start)

    @contextmanager
    def _dying(self, after: float) -> Iterator[None]:
        """The server is killed so long after the block began, and started again when both have come to their end."""

        def kill() -> None:
            time.sleep(after)
            self._count_one()
            anyio.run(self.server.kill)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            yield
        finally:
            killer.join()
            self._start()

    # ----------------------------------------------------------------- requests

    def _send(self, method: str, path: str, body: Json = None, headers: dict[str, str] | None = None) -> httpx.Response:
        """Send it, again as long as the server is busy."""
        deadline = time.monotonic() + PATIENCE
        content = json.dumps(body) if body is not None or path.endswith("/answer") else None
        headers = {**(headers or {}), **({"Content-Type": "application/json"} if content else {})}
        while True:
            response = self.http.request(method, path, headers=headers, content=content)
            if response.status_code != 503 or "retry-after" not in response.headers:
                return response
            assert time.monotonic() < deadline, f"{method} {path}: busy for too long"
            time.sleep(0.02)

    def _ask(
        self, method: str, path: str, body: Json, told: tuple[int, ...] | set[int], after: float | None = None
    ) -> httpx.Response:
        """Send it, and have one of these statuses; if the server died before it spoke, send it again."""
        response = None
        if after is not None:
            with self._dying(after), suppress(httpx.TransportError):  # then nobody knows whether it was taken
                response = self._send(method, path, body)
        response = response or self._send(method, path, body)
        assert response.status_code in told, f"{method} {path}: {response.status_code} {response.text}, not {told}"
        if response.status_code >= 400:
            assert response.headers["content-type"] == "application/problem+json"
        return response

    def _told(self, chat: Chat, id: str, ending: Ending) -> set[int]:
        """What whoever wants to end a question so may be told."""
        if chat.gone or id == UNKNOWN:
            return {404}
        if id not in chat.ended:
            return {200, 410} if id in chat.brief else {200}
        known = chat.ended[id]
        if known == ending:
            return {200}
        return {410} if known in ("skipped", "closed") else {409}

    def _remember(self, chat: Chat, id: str, response: httpx.Response) -> None:
        """That it has ended, if that is why it was refused."""
        if response.status_code == 410:
            chat.ended.setdefault(id, "closed")

    def _snapshot(self, chat: Chat) -> dict[str, Any]:
        found: dict[str, Any] = self._ask("GET", f"/conversations/{chat.id}", None, (200,)).json()
        return found

    def _settled(self, chat: Chat) -> dict[str, Any]:
        """The conversation once nothing runs."""
        deadline = time.monotonic() + PATIENCE
        while (snapshot := self._snapshot(chat))["phase"] == "run":
            assert time.monotonic() < deadline, f"{chat.id} still runs"
            self._frames(chat, snapshot["head"])
        return snapshot

    def _open(self, snapshot: dict[str, Any]) -> list[dict[str, Any]]:
        return [one for one in snapshot["interrupts"] if one["metadata"]["yourcall"]["ending"] is None]

    def _frames(self, chat: Chat, after: int) -> list[tuple[int, str]]:
        """What is recorded of what comes after this place; the stream has its proper end."""
        headers = {"Last-Event-ID": str(after)}
        response = self._send("GET", f"/conversations/{chat.id}/events", headers=headers)
        assert response.status_code == 200, response.text
        frames: list[tuple[int, str]] = []
        last = ""
        for block in response.text.split("\n\n"):
            fields = dict(
                line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":")
            )
            if "data" in fields:
                event = json.loads(fields["data"])
                last = event["type"]
                self._shown(chat, event)
                if "id" in fields:
                    frames.append((int(fields["id"]), last))
        assert last in ("RUN_FINISHED", "RUN_ERROR"), f"the stream ends with {last}"
        return frames

    def _shown(self, chat: Chat, event: dict[str, Any]) -> None:
        match event:
            case {"type": "TOOL_CALL_RESULT", "toolCallId": call, "content": content}:
                self.facts.shown[(self.user, chat.id), call] = content

    # ----------------------------------------------------------------- the end

    def teardown(self) -> None:
        try:
            self._finish()
        finally:
            self.http.close()

    def _kept(self) -> list[Kept]:
        return [kept for kept in read(self.store) if kept.place[0] == self.user]

    def _gone(self) -> set[tuple[str, str]]:
        return {(self.user, chat.id) for chat in self.all if chat.gone}

    def _finish(self) -> None:
        """Bring all to its end, and look at what is left."""
        for chat in self.all:
            while not chat.gone and (left := self._open(self._settled(chat))):
                for one in left:
                    self._ask("POST", f"/interrupts/{one['id']}/answer", {"number": 7}, self._told(chat, one["id"], 7))
            if chat.gone:
                self._ask("GET", f"/conversations/{chat.id}", None, (404,))
        for chat in (chat for chat in self.all if not chat.gone):
            place = self.user, chat.id
            self.facts.said |= {(place, id): text for id, text in chat.said.items()}
            self.facts.asked |= {(place, id) for id in chat.asked}
            ends = {id: end for id, end in chat.ended.items() if end != "closed"}
            self.facts.answered |= {(place, id): None if end == "skipped" else int(end) for id, end in ends.items()}
        gone = self._gone()
        self.facts.shown = {at: text for at, text in self.facts.shown.items() if at[0] not in gone}
        kept = self._kept()
        assert not gone & {one.place for one in kept}
        # what a conversation did before it was deleted, no log tells of
        mine = {chat.id for chat in self.all if not chat.gone}
        effects = [line for line in lines(self.server.settings.effects) if line.split()[1].split("-")[0] in mine]
        found = violations(kept, self.facts, effects)
        assert not found, found
        self.ground.outcome.entries += sum(len(one.entries) for one in kept)
        self.ground.outcome.facts += len(self.facts.said) + len(self.facts.answered) + len(self.facts.shown)


def play(examples: int, steps: int, folder: Path, outcome: Outcome, *, seed: int = 1) -> None:
    """So many users' stories, of so many steps each. Raises what breaks one, with the shortest story that does."""
    store = f"sqlite:///{folder}/chat.db"
    with replicas(1, store, folder, pace=PACE) as [server]:
        anyio.run(server.start)
        anyio.run(server.ready)

        class There(Chats):
            ground = Ground(server, store, outcome)

        told = settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        run_machine(with_seed(seed)(There), settings=told)
        said = lines(server.settings.log)
    assert not [line for line in said if "Error" in line or "Traceback" in line], "\n".join(said)
