"""What is taken of a `RunAgentInput`, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ag_ui import core

from yourcall.agui.wire import Known, faults, messages
from yourcall.entries import Interrupt, Json, User, canonical
from yourcall.errors import Busy, CheckFailed, Fault, NotFound, Refused, Rejected, WrongChannel
from yourcall.faults import ID_RULE, is_id
from yourcall.log import Log

if TYPE_CHECKING:
    from yourcall.engine import Conversation

MANY: Final = 100
"""New messages, and answers, that a request may bring: each of them is a write of its own."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message that the user wrote, as the request brings it."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is read of a `RunAgentInput`: `said` since the agent last spoke, and `history`, ids of messages only."""

    thread: str
    run: str
    said: tuple[Said, ...]
    resume: tuple[core.ResumeEntry, ...]
    history: frozenset[str]

    @property
    def weight(self) -> int:
        """Bytes of what is taken of it."""
        taken = [[said.text for said in self.said], [entry.payload for entry in self.resume]]
        return len(canonical(taken))

    def knows(self, log: Log) -> bool:
        """Whether the client has the messages that the log has, its new ones apart."""
        return self.history - {said.id for said in self.said} == {message["id"] for message in messages(log)} - {
            said.id for said in self.said
        }


@dataclass(slots=True)
class Taken:
    """What became of a request: `recorded` counts what went into the log."""

    recorded: int = 0
    errors: dict[str, list[Json]] = field(default_factory=dict)
    warnings: list[Json] = field(default_factory=list)


def read(value: Json) -> RunRequest:
    """Read a `RunAgentInput`. Raises `Rejected` for what would be taken and is not well-formed.

    The rest is not looked at: a client's history may hold what this version does not know.
    """
    if not isinstance(value, dict):
        raise _malformed("", "Expected a RunAgentInput.")
    history = value.get("messages")
    if not isinstance(history, list) or not all(isinstance(message, dict) for message in history):
        raise _malformed("/messages", "Expected a list of messages.")
    new = _trailing(history)
    if len(new) > MANY:
        raise _invalid("/messages", f"At most {MANY} new messages can be sent at once.")
    return RunRequest(
        thread=_id(value, "threadId"),
        run=_id(value, "runId"),
        said=tuple(_said(message, f"/messages/{i}") for i, message in new),
        resume=tuple(_resume(value.get("resume"))),
        history=frozenset(
            message["id"]
            for message in history
            if message.get("role") in ("user", "assistant", "tool") and isinstance(message.get("id"), str)
        ),
    )


async def take(chat: Conversation[Any], log: Log, request: RunRequest) -> Taken:
    """Answers first, one by one, then messages. `log` is the conversation as it was before.

    A wrong answer leaves its question open, and then no message is taken either: the user will want to see why.
    What is not open is warned about. Raises `Refused` only as long as nothing was recorded.
    """
    taken, asked = Taken(), Known(log).asks
    for entry in request.resume:
        await _answer(chat, asked, entry, taken)
    known = {e.body.id for e in log.entries if isinstance(e.body, User)}
    fresh = [said for said in request.said if said.id not in known]
    if taken.errors:
        taken.warnings += [_warning(NotTaken(), messageId=said.id) for said in fresh]
        return taken
    for said in fresh:
        try:
            await chat.post(said.text, id=said.id)
            taken.recorded += 1
        except Refused as refusal:
            if not taken.recorded:
                raise
            taken.warnings.append(_warning(refusal, messageId=said.id))
    return taken


class NotTaken(Refused):
    """A message came along with an answer that was refused."""

    slug, status = "not-taken", 409

    def __init__(self) -> None:
        super().__init__("The message was not taken, because an answer that came with it was refused.")


async def _answer(
    chat: Conversation[Any], asked: Mapping[str, Interrupt], entry: core.ResumeEntry, taken: Taken
) -> None:
    try:
        if entry.interrupt_id not in asked:
            raise NotFound
        if entry.status == "cancelled" and asked[entry.interrupt_id].kind == "confirm":
            await chat.decline(entry.interrupt_id)  # whoever dismisses it has not said yes
        elif entry.status == "cancelled":
            await chat.skip(entry.interrupt_id)
        else:
            await chat.answer(entry.interrupt_id, entry.payload)
        taken.recorded += 1
    except Busy:
        raise  # the same answers may be sent again: those that were taken are recognised
    except (Rejected, CheckFailed, WrongChannel) as refusal:
        taken.errors[entry.interrupt_id] = faults(refusal)
    except Refused as refusal:
        taken.warnings.append(_warning(refusal, interruptId=entry.interrupt_id))


def _warning(refusal: Refused, **about: str) -> Json:
    return {**about, "type": refusal.slug, "detail": str(refusal)}


def _trailing(history: Sequence[Json]) -> list[tuple[int, Json]]:
    """The user's messages since the assistant's last; what else stands there is not the user's to write."""
    spoke = [i for i, message in enumerate(history) if message.get("role") == "assistant"]
    since = spoke[-1] + 1 if spoke else 0
    return [(i, message) for i, message in enumerate(history) if i >= since and message.get("role") == "user"]


def _said(message: Json, pointer: str) -> Said:
    match message.get("content"):
        case str(text):
            pass
        case [*parts] if all(isinstance(part, dict) and part.get("type") == "text" for part in parts):
            text = "\n".join(_string(part, "text", f"{pointer}/content/{i}") for i, part in enumerate(parts))
        case _:
            raise _malformed(f"{pointer}/content", "Only text can be sent here.")
    if not text.strip():
        raise _malformed(f"{pointer}/content", "Write something.")
    return Said(_id(message, "id", pointer), text)


def _resume(listed: Json) -> Iterator[core.ResumeEntry]:
    if not isinstance(listed, list | None):
        raise _malformed("/resume", "Expected a list of answers.")
    if listed and len(listed) > MANY:
        raise _invalid("/resume", f"At most {MANY} answers can be sent at once.")
    for i, entry in enumerate(listed or ()):
        pointer = f"/resume/{i}"
        if not isinstance(entry, dict):
            raise _malformed(pointer, "Expected an answer with its interruptId.")
        interrupt_id, status = _id(entry, "interruptId", pointer), entry.get("status")
        if status not in ("resolved", "cancelled"):
            raise _malformed(f"{pointer}/status", "Expected resolved or cancelled.")
        yield core.ResumeEntry(interrupt_id=interrupt_id, status=status, payload=entry.get("payload"))


def _string(owner: Json, name: str, pointer: str = "") -> str:
    value = owner.get(name)
    if not isinstance(value, str) or not value:
        raise _malformed(f"{pointer}/{name}", "Expected a text.")
    return value


def _id(owner: Json, name: str, pointer: str = "") -> str:
    chosen = _string(owner, name, pointer)
    if not is_id(chosen):
        raise _invalid(f"{pointer}/{name}", ID_RULE)
    return chosen


def _malformed(pointer: str, message: str) -> Rejected:
    return _invalid(pointer, message, "The request is not a RunAgentInput.")


def _invalid(pointer: str, message: str, told: str = "") -> Rejected:
    return Rejected(told, faults=[Fault(pointer, message, "invalid-request")])
