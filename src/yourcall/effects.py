"""One effect of `ctx.once`: it is done, and what came of it is put into the form in which the log keeps it.

Whether it may be done, and what is recorded of it when, is the context's to say (`context.py`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final, get_type_hints

import anyio
import anyio.to_thread

from yourcall import errors
from yourcall.entries import Effect, Json, digested
from yourcall.scrub import Hidden
from yourcall.secret import SecretValue
from yourcall.values import decode, encode

inside: Final[ContextVar[str | None]] = ContextVar("yourcall_effect", default=None)
"""The name of the effect that is being done here."""


async def perform(
    begun: Effect, fn: Callable[..., Any], args: tuple[Any, ...], hints: dict[str, Any], hidden: Hidden
) -> Effect:
    """Do it, and return how it ended, without what must not be in the log; `hints` are the annotations of `fn`."""
    token = inside.set(begun.name)
    try:
        value = await fn(*args) if _is_async(fn) else await anyio.to_thread.run_sync(functools.partial(fn, *args))
        if inspect.isawaitable(value):
            value = await value
    except (KeyboardInterrupt, errors.Stale):
        raise
    except anyio.get_cancelled_exc_class():  # the process ends, or the effect gave up half way: who knows
        return Effect(begun.call, begun.name, begun.args, "unknown")
    except BaseException as error:  # also `sys.exit`: whatever it was, the effect has ended
        return Effect(begun.call, begun.name, begun.args, "failed", error=hidden.text(type(error).__name__))
    finally:
        inside.reset(token)
    try:
        stored = encode(value, hints.get("return"), field=f"once({begun.name!r})")
        stored = _scrubbed(stored, hints, hidden)
    except errors.YourcallError as error:
        return Effect(begun.call, begun.name, begun.args, "done", error=hidden.text(str(error)))
    return Effect(begun.call, begun.name, begun.args, "done", stored)


def _scrubbed(stored: Json, hints: dict[str, Any], hidden: Hidden) -> Json:
    """Without what must not be in the log. Raises `ReplayMismatch` for a value that does not survive that."""
    shown = hidden.json(stored)
    if shown != stored:
        decode(shown, hints.get("return"))
    return shown


def outcome(effect: Effect, hints: dict[str, Any]) -> Any:
    """What the body sees of an effect that has ended. Raises `OnceFailed`, `OutcomeUnknown`, and `ProgrammingError` for
    a value that is lost."""
    match effect:
        case Effect(state="done", error=None, value=value):
            return decode(value, hints.get("return"))
        case Effect(state="done", error=str(text)):
            raise errors.ProgrammingError(f"The effect happened, but its value is lost. {text}")
        case Effect(state="failed", name=name, error=kind):
            raise errors.OnceFailed(name, kind or "Exception")
        case _:
            raise errors.OutcomeUnknown(effect.name)


def args_digest(name: str, args: tuple[Any, ...], fn: Callable[..., Any], hints: dict[str, Any], hidden: Hidden) -> str:
    """Tells calls with other arguments apart. Raises `Unstorable` for an argument that cannot be told apart."""
    names = [hints.get(parameter) for parameter in _parameters(fn)]
    typed = [names[i] if i < len(names) and names[i] is not None else type(arg) for i, arg in enumerate(args)]
    stored = [
        ["secret", arg.name]
        if isinstance(arg, SecretValue)
        else encode(arg, typed[i], field=f"once({name!r}) argument {i + 1}")
        for i, arg in enumerate(args)
    ]
    return digested(hidden.json(stored))


def hints_of(fn: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of an effect; a callable whose annotations cannot be read has none."""
    target = fn.func if isinstance(fn, functools.partial) else fn
    if not (inspect.isfunction(target) or inspect.ismethod(target)):
        target = getattr(target, "__call__", target)  # noqa: B004  # its annotations, not whether it is callable
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError, AttributeError):
        return {}


def _parameters(fn: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        return []


def _is_async(fn: Callable[..., Any]) -> bool:
    target = fn.func if isinstance(fn, functools.partial) else fn
    return inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(getattr(target, "__call__", None))  # noqa: B004
