"""What the user's side may do to a log: pure decisions, each `(log, now) -> entries`.

Every one goes through `Record.write`, which appends it at the head or decides again; `log.admit` says what is
admitted. A decision writes endings, results and what follows from them together: nobody can see half of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Literal, TypeAlias

from yourcall.entries import Answered, Asked, Body, Closed, Ending, File, Interrupt, Result, Status, Stopped, User
from yourcall.errors import Declined, Fault, Rejected
from yourcall.errors import Waiting as WaitingOnUser
from yourcall.log import INTERRUPTED, CallLog, Done, Log, phase
from yourcall.texts import storable_text

OnMessage: TypeAlias = Literal["supersede", "reject", "keep"]

SUPERSEDED = "Not answered: the user wrote a message instead. It follows."
CANCELLED = "Not answered: the user cancelled the run."
NOT_BEGUN = "Not run: the user cancelled the run."


def say(log: Log, text: str, message_id: str | None, policy: OnMessage, files: tuple[File, ...] = ()) -> list[Body]:
    """The user writes. Raises `Waiting` where the policy is to reject messages while a question is open."""
    if policy == "reject" and log.interrupts:
        raise WaitingOnUser
    closing = supersede(i for i in log.interrupts if _asks_the_writer(i)) if policy == "supersede" else []
    return [*closing, User(text, message_id, files)]


def require_storable(text: str, pointer: str) -> None:
    """Raises `Rejected` for text that neither disk nor wire takes."""
    if not storable_text(text):
        words = "Text contains characters that cannot be stored."
        raise Rejected(faults=[Fault(pointer, words, "invalid-text")])


def supersede(interrupts: Iterable[Interrupt]) -> list[Body]:
    """Close these questions, and their calls with them: the user said something else."""
    bodies: list[Body] = []
    for interrupt in interrupts:
        bodies += [
            Closed(interrupt.id, interrupt.call_id, "superseded"),
            _not_ok(interrupt.call_id, SUPERSEDED, "superseded"),
        ]
    return bodies


def ask(log: Log, interrupt: Interrupt, replaces: Interrupt | None, policy: OnMessage) -> list[Body]:
    """A body paused: record its question, in place of the one that it no longer asks."""
    if log.open(interrupt.id):
        return []
    changed: list[Body] = [Closed(replaces.id, replaces.call_id, "changed")] if replaces else []
    if _is_implied(interrupt) and _no(interrupt) in skipped(log):
        return [*changed, _not_ok(interrupt.call_id, Declined.text + " Do not ask again.", "declined")]
    if how := _closed_twice(log, interrupt):
        return [*changed, _not_ok(interrupt.call_id, f"The user has {how} this twice. Do not ask again.", "failed")]
    superseded = policy == "supersede" and log.unseen and _asks_the_writer(interrupt)
    unseen = supersede([interrupt]) if superseded else []
    return [*changed, Asked(interrupt), *unseen]


def _asks_the_writer(interrupt: Interrupt) -> bool:
    """Whether a message of the conversation's owner can stand for an answer: what was put to others stays theirs."""
    return interrupt.to is None


def answer(log: Log, interrupt: Interrupt, answered: Answered) -> list[Body]:
    """Answer one question, and with it those that want the same account."""
    same = _same_account(log, interrupt)
    return [answered, *(dataclasses.replace(answered, interrupt=one.id, call=one.call_id) for one in same)]


def close(log: Log, interrupt: Interrupt, ending: Ending, note: str | None = None, by: str | None = None) -> list[Body]:
    """Skip or decline one question, and with it those that want the same account; their calls go on."""
    closing = (interrupt, *_same_account(log, interrupt))
    return [Closed(one.id, one.call_id, ending, note, by) for one in closing]


def give_up(interrupt: Interrupt, ending: Ending, reason: str) -> list[Body]:
    """Close a question that cannot be answered any more, and its call with it."""
    return [Closed(interrupt.id, interrupt.call_id, ending), _not_ok(interrupt.call_id, reason, "failed")]


def expire(log: Log, now: float) -> list[Body]:
    """Close what nobody answered in time; the calls go on with `Expired`."""
    due = (i for i in log.interrupts if i.expires_at is not None and now >= i.expires_at)
    return [Closed(i.id, i.call_id, "expired") for i in due]


def cancel(log: Log) -> list[Body]:
    """Stop the whole run: every open question and every unfinished call is closed, each with its own truth."""
    if isinstance(phase(log), Done):
        return []
    calls = log.step.calls.values() if log.step else ()
    return _stop([one for one in calls if one.result is None])


def _stop(unfinished: list[CallLog]) -> list[Body]:
    bodies: list[Body] = []
    for one in unfinished:
        if one.open:
            bodies.append(Closed(one.open.id, one.call.id, "cancelled"))
            bodies.append(_not_ok(one.call.id, CANCELLED, "cancelled"))
        elif one.begun_by or one.asks or one.effects:
            bodies.append(_not_ok(one.call.id, INTERRUPTED, "interrupted"))
        else:
            bodies.append(_not_ok(one.call.id, NOT_BEGUN, "cancelled"))
    return [*bodies, Stopped("cancelled")]


def skipped(log: Log) -> tuple[str, ...]:
    """The digests of the asks that the user skipped since they last wrote, or after `no:` declined; one that came twice
    is in it twice."""
    step = log.step
    if step is None or log.unseen:
        return ()
    endings = ((i, one.endings.get(i.id)) for one in step.calls.values() for i in one.asks)
    closed = [(i, ending.ending) for i, ending in endings if isinstance(ending, Closed)]
    new = [i.digest for i, ending in closed if ending == "skipped"]
    new += [_no(i) for i, ending in closed if ending == "declined"]
    return (*step.assistant.skipped, *new)


def _same_account(log: Log, interrupt: Interrupt) -> list[Interrupt]:
    """The other open questions that one sign-in ends: those of calls that need the same account at the same time."""
    same = (i for i in log.interrupts if i.id != interrupt.id and _is_implied(i))
    return [i for i in same if (i.kind, i.ask) == (interrupt.kind, interrupt.ask)]


def _is_implied(interrupt: Interrupt) -> bool:
    """Whether a tool asked because it needs an account (`ctx.token`), not to ask."""
    return interrupt.key.startswith("#token:")


def _no(interrupt: Interrupt) -> str:
    return f"no:{interrupt.digest}"


def _closed_twice(log: Log, interrupt: Interrupt) -> str:
    before = skipped(log)
    if before.count(interrupt.digest) >= 2:
        return "skipped"
    return "declined" if before.count(_no(interrupt)) >= 2 else ""


def _not_ok(call_id: str, text: str, status: Status) -> Result:
    return Result(call_id, {"ok": False, "error": text}, status)
