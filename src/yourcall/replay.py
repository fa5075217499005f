"""Run one call against its recorded answers: the body from the top, to its result or to its next ask.

The same function serves a run and a probe. A probe is given a context that begins no effects; it only looks for
the open ask, so that an answer can be parsed and checked by the live ask before anything is written.
"""

from __future__ import annotations

import dataclasses
import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

import anyio
import anyio.to_thread

from yourcall import errors
from yourcall.asks import Ask, Check
from yourcall.context import Context, Pending
from yourcall.entries import Interrupt, Json, Status, storable
from yourcall.scrub import hiding, shown
from yourcall.tasks import cancelled_from_above, leaves, not_to_keep
from yourcall.tools import Tool

log = logging.getLogger("yourcall")

T = TypeVar("T")

INSTRUCTIONS: Final = {
    "proceed": "Use your best judgment and go on. Do not ask this again.",
    "wait": "Do nothing about this until the user writes. Do not ask this again.",
}
MISMATCH: Final = (
    "This tool did not ask what it had asked before, so its answers were not used. What varies between executions "
    "must come from `await ctx.once(...)`, and two asks need two keys."
)


@dataclass(frozen=True, slots=True)
class Returned:
    """The body ended: what the model reads, and how it went."""

    content: Json
    status: Status = "ok"
    broke: bool = False
    """It raised something that is neither an ending nor a word to the model."""
    gone: str = ""
    """The credential that the user has taken back, if that is how it ended."""


Landing: TypeAlias = Returned | Pending


async def replay(tool: Tool[Any], ctx: Context[Any], args: str) -> Landing:
    """Execute the tool's body from the top. Raises `Stale`, and cancellation; all else becomes a landing."""
    with hiding(ctx.hidden):
        landed = await _landed(tool, ctx, args)
    if isinstance(landed, Returned):
        landed = _edited(landed, ctx.edited)
        return dataclasses.replace(landed, content=ctx.hidden.json(landed.content))
    return landed


def _edited(landed: Returned, edited: Mapping[str, Json]) -> Returned:
    """With what the user changed of the arguments: the model must not believe that its own were used."""
    if not edited:
        return landed
    failed = landed.status != "ok" and isinstance(landed.content, dict)
    content = landed.content if failed else {"result": landed.content}
    return dataclasses.replace(landed, content={**content, "edited_by_user": storable(dict(edited))})


async def _landed(tool: Tool[Any], ctx: Context[Any], args: str) -> Landing:
    raised = False
    try:
        landed = Returned(await tool.invoke(ctx, tool.parse(args)))
    except BaseException as error:
        landed, raised = _failed(tool, ctx, error), True
    with anyio.CancelScope(shield=True):
        await ctx.effects.none()
    if ctx.stale:
        raise ctx.stale
    if ctx.pending and not ctx.leftover:
        return ctx.pending
    if ctx.broken:
        return _mistaken(tool, ctx.broken)
    if ctx.leftover and (ctx.pending or not raised):
        return _mistaken(tool, errors.ReplayMismatch(MISMATCH))
    return landed


def _failed(tool: Tool[Any], ctx: Context[Any], error: BaseException) -> Returned:
    """An exception as a result: in the tool's own words where it has some, else by its type, never with its text."""
    parts = list(leaves(error))
    for leaf in parts:
        if isinstance(leaf, errors.Stale | KeyboardInterrupt):
            raise leaf
        # A body has a task of its own: one that cancels its task has failed.
        if isinstance(leaf, anyio.get_cancelled_exc_class()) and cancelled_from_above():
            raise error
    leaf = next((leaf for leaf in parts if isinstance(leaf, errors.YourcallError)), parts[0])
    match leaf:
        case errors.Paused():
            return _error(f"{tool.name} failed.")
        case errors.NotAnswered():
            return _unanswered(leaf, ctx.on_skip)
        case errors.CredentialGone(name=name):
            return dataclasses.replace(_error(str(leaf)), gone=name)
        case errors.ProviderFailed() | errors.Busy():
            return dataclasses.replace(_error(str(leaf)), broke=True)
        case errors.ProgrammingError():
            return _mistaken(tool, leaf)
        case errors.YourcallError():
            return _error(str(leaf))
    log.error("The tool %s failed", tool.name, exc_info=error)
    text = f"{tool.name} failed ({type(leaf).__name__})."
    return Returned({"ok": False, "error": storable(text)}, "failed", broke=True)


def _mistaken(tool: Tool[Any], mistake: errors.ProgrammingError) -> Returned:
    """The app's code is wrong: its developer reads in the server's log what to change, and nobody else does."""
    log.error("The tool %s does not work: %s", tool.name, mistake, exc_info=mistake)
    return _error(does_not_work(tool.name))


def does_not_work(tool: str) -> str:
    """What the model and its user read of a mistake in the app."""
    return f"{tool} does not work: something in this app is wrong or missing. Calling it again does not help."


def _unanswered(ending: errors.NotAnswered, on_skip: str) -> Returned:
    content = {"ok": False, "error": ending.text}
    if ending.note:
        content["note"] = ending.note
    if isinstance(ending, errors.Skipped):
        content["instruction"] = INSTRUCTIONS[on_skip]
    status: Any = ending.ending
    return Returned(content, status)


def _error(text: str) -> Returned:
    return Returned({"ok": False, "error": storable(text)}, "failed")


async def probe(tool: Tool[Any], ctx: Context[Any], args: str, interrupt: Interrupt) -> Pending | None:
    """The ask at which the body stands now, if it stands where the interrupt was recorded; None if it does not.

    Another question at the same place is the caller's to see: its digest differs. Raises `CheckFailed` if the body
    broke on its way, as it may when a service that it needs is down: that says nothing of the question; and
    `CredentialGone` if the user took back what it needs to get there.
    """
    landed: Landing | None = None

    async def execute() -> None:
        nonlocal landed
        landed = await replay(tool, ctx, args)

    # A task of its own, as in a run: so a cancel of whoever answers is told from one that strays in the body.
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(execute)
    match landed:
        case Returned(broke=True):
            raise errors.CheckFailed
        case Returned(gone=name) if name:
            raise errors.CredentialGone(name)
        case Pending() if _same_place(landed.interrupt, interrupt):
            return landed
    return None


def _same_place(one: Interrupt, other: Interrupt) -> bool:
    return (one.key, one.occurrence) == (other.key, other.occurrence)


async def accept(ask: Ask[T], payload: Json) -> T:
    """The payload as the ask's own type, checked. Raises `Rejected`, `Declined`, or `CheckFailed` if a check breaks."""
    try:
        value = ask.parse(payload)
        if ask.check is not None:
            await _checked(ask.check, value)
        return value
    except errors.Declined as no:
        raise errors.Declined(no.note and shown(no.note), no.to) from None
    except errors.Rejected as refusal:
        raise refusal.without(shown) from None
    except BaseException as error:  # whatever it was, also a stray cancel or `sys.exit`: the question stays open
        if not_to_keep(error):
            raise
        log.exception("The check of a %s answer failed", ask.kind)
        raise errors.CheckFailed from None


async def _checked(check: Check[T], value: T) -> None:
    if inspect.iscoroutinefunction(check):
        await check(value)
    elif inspect.isawaitable(outcome := await anyio.to_thread.run_sync(check, value)):
        await outcome
