"""What a tool's body can do: ask its user, do something once, know where it is.

A paused tool is re-executed from the top, and every call here is answered from what the log recorded for *its*
call. `ask` does no I/O: it returns the recorded answer, raises the recorded ending, or raises `Paused`, which the
context remembers, so that a body that swallows it is paused all the same.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, TypeVarTuple, overload

import anyio
import anyio.to_thread
from typing_extensions import TypeVar

from yourcall import effects, errors
from yourcall.asks import Ask, Raw, digest, shown
from yourcall.awaiting import is_awaited
from yourcall.connect import Connect, OAuthProvider
from yourcall.credentials import Credential, Credentials
from yourcall.entries import Answered, Closed, Effect, File, Interrupt, Json, digested
from yourcall.log import CallLog
from yourcall.ports import AccountOver, Accounts, Key, Shelf
from yourcall.scrub import Hidden
from yourcall.secret import Secret, SecretValue
from yourcall.tasks import Tally, to_the_end

D = TypeVar("D", default=Any, covariant=True)
T = TypeVar("T")
V = TypeVar("V")
R = TypeVar("R")
Args = TypeVarTuple("Args")

_RAISE: Final[Any] = object()
_NOT_AWAITED: Final = (
    "ctx.{0} is not awaited: write `ctx.{0}(...)` without `await`; its line returns when there is an answer."
)

_NOT_ANSWERED: Final[dict[str, type[errors.NotAnswered]]] = {
    cls.ending: cls for cls in (errors.Skipped, errors.Declined, errors.Expired, errors.Unavailable)
}


@dataclass(frozen=True, slots=True)
class Pending:
    """A body unwound at this ask. `replaces` is the open ask of the same call that it no longer makes."""

    ask: Ask[Any]
    interrupt: Interrupt
    expires_in: float | None = None
    replaces: Interrupt | None = None
    hidden: Hidden = field(default_factory=Hidden)
    """What the body had revealed by then: the ask's check may know it."""


class Context(Generic[D]):
    """A tool's first parameter, given to it and hidden from the model.

    `user` owns the conversation; `deps` is what the app gave the engine; `on_skip` is what the agent makes of a
    skipped question. A context made by hand, `Context(user=..., deps=...)`, serves tests of a tool's own logic:
    where nobody can be asked, `ask` raises `Unavailable`.
    """

    def __init__(  # noqa: PLR0913  # by hand only the first few are given, the rest is the engine's
        self,
        *,
        user: str = "",
        deps: D = None,  # type: ignore[assignment]  # the engine always gives it; by hand, None is the caller's word
        conversation_id: str = "",
        call_id: str = "",
        on_skip: Literal["proceed", "wait"] = "proceed",
        past: CallLog | None = None,
        record: Callable[[Effect], Awaitable[None]] | None = None,
        files: Shelf | None = None,
        credentials: Credentials | None = None,
        accounts: Callable[[], Accounts] | None = None,
        require: Callable[[Ask[Any]], None] | None = None,
    ) -> None:
        self.user, self.deps = user, deps
        self.conversation_id, self.call_id = conversation_id, call_id
        self.on_skip = on_skip
        self._past, self._record, self._files = past, record, files
        self._credentials, self._accounts, self._require = credentials, accounts, require
        self._offered_for: Credential | None = None
        self._uses: dict[str, int] = {}
        self._unkeyed = 0
        self._taken: set[str] = set()
        self._names: set[str] = set()
        self._home: int | None = None
        self._sync = False
        self.hidden = Hidden()
        """What the body has revealed: whatever it says is scrubbed of it."""
        self.attachments: tuple[File, ...] = ()
        """The files that came with the answer that `ask` returned last, where it was asked with `attachments=True`."""
        self.effects = Tally()
        """The effects in flight; a pause waits for them."""
        self.pending: Pending | None = None
        """Where the body paused: remembered, whatever the body made of it."""
        self.broken: errors.ProgrammingError | None = None
        """A wrong use that the body must not hide."""
        self.stale: errors.Stale | None = None
        """An effect could not be recorded: the run is over, and so is whatever the body still does."""
        self.edited: dict[str, Json] = {}
        """What the user changed of the arguments before they approved the call."""
        self.missed = False
        """A probe met an effect that is not recorded: the open ask is not reached this way."""

    # ----------------------------------------------------------------- asking

    @overload
    def ask(self, ask: Ask[T], *, key: str | None = None, expires_in: float | None = None) -> T: ...
    @overload
    def ask(self, ask: Ask[T], *, key: str | None = None, expires_in: float | None = None, otherwise: V) -> T | V: ...
    def ask(
        self, ask: Ask[Any], *, key: str | None = None, expires_in: float | None = None, otherwise: Any = _RAISE
    ) -> Any:
        """Ask the user, and pause here until they answer; on the answer this line returns it.

        `key` names the ask where its order may change between executions. `expires_in` is in seconds from the
        moment it is shown; there is no limit by default. `otherwise` is returned if the user skips or the ask
        expires. Raises `Skipped`, `Declined`, `Expired` or `Unavailable`; uncaught, they become a truthful result.
        It is not awaited, in an `async def` neither.
        """
        if is_awaited():
            raise self._break(_NOT_AWAITED.format("ask"))
        try:
            return self._ask(ask, _own(key), expires_in)
        except (errors.Skipped, errors.Expired):
            if otherwise is _RAISE:
                raise
            return otherwise

    def interrupt(self, name: str, reason: Json = None) -> Json:
        """The raw primitive: show `reason`, return the client's JSON; a skip returns `{"skipped": true}`."""
        if is_awaited():
            raise self._break(_NOT_AWAITED.format("interrupt"))
        try:
            return self._ask(Raw(name, reason), _own(name), None)
        except errors.Skipped as skip:
            return {"skipped": True} | ({"note": skip.note} if skip.note else {})

    def _ask(self, ask: Ask[T], key: str | None, expires_in: float | None) -> T:
        self._enter("ask", at_home=True)
        if self._past is None:
            raise errors.Unavailable
        if ask.to is not None and ask.channel in ("secret", "handoff"):
            raise self._break(f"What a {ask.kind} ask brings belongs to the conversation's owner: leave `to` out.")
        if ask.to == self.user:
            raise self._break(
                "`to` is the conversation's own owner, who answers nothing that is put to others: leave it out."
            )
        if expires_in is not None and not 0 < expires_in < math.inf:
            raise self._break("expires_in is a number of seconds above 0.")
        key, occurrence = self._place(key)
        payload = self.hidden.json(shown(ask))  # before anything else: it names what cannot be shown
        mark = digest(ask, key, self.hidden.json)
        asked = [i for i in self._past.asks if (i.key, i.occurrence) == (key, occurrence)]
        last = asked[-1] if asked else None
        ending = self._past.endings.get(last.id) if last else None
        if last is None or (ending is None and last.digest != mark) or _is_changed(ending):
            if self._require is not None:
                self._require(ask)
            raise self._paused(self._new(ask, payload, key, occurrence, len(asked), mark, expires_in))
        if ending is None:
            raise self._paused(Pending(ask, last, hidden=self.hidden))
        if isinstance(ending, Answered) and last.digest != mark:  # an old "no" is never taken for a new "yes"
            raise self._break(
                f"Question {key!r} is not the one that was answered. Let what varies between executions come from "
                "`await ctx.once(...)`, and give two questions two keys.",
                errors.ReplayMismatch,
            )
        self._taken.add(last.id)
        if isinstance(ending, Answered):
            self.attachments = ending.files
            return self._decoded(ask, ending.value)
        raise _NOT_ANSWERED[ending.ending](ending.note, last.to)

    def _decoded(self, ask: Ask[T], value: Json) -> T:
        try:
            return ask.decode(value)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise self._break(
                f"The recorded answer does not fit the {ask.kind} ask any more ({type(error).__name__}).",
                errors.ReplayMismatch,
            ) from None

    def _place(self, key: str | None) -> tuple[str, int]:
        """The nth use of a name in this execution; an ask without a name is named by its order."""
        if key is None:
            self._unkeyed += 1
            return f"#{self._unkeyed}", 1
        key = self.hidden.text(key)
        self._uses[key] = self._uses.get(key, 0) + 1
        return key, self._uses[key]

    def _new(
        self,
        ask: Ask[Any],
        payload: Json,
        key: str,
        occurrence: int,
        generation: int,
        mark: str,
        expires_in: float | None,
    ) -> Pending:
        assert self._past is not None
        interrupt = Interrupt(
            id=digested([*self._this_call, key, occurrence, generation]),
            call_id=self.call_id,
            key=key,
            kind=ask.kind,
            ask=payload,
            digest=mark,
            message=self.hidden.text(ask.title),
            schema=None if ask.payload_says_all else self.hidden.json(ask.schema()),
            occurrence=occurrence,
            generation=generation,
            to=ask.to,
            channel=ask.channel,
        )
        return Pending(ask, interrupt, expires_in, replaces=self._past.open, hidden=self.hidden)

    def _paused(self, pending: Pending) -> errors.Paused:
        self.pending = pending
        return errors.Paused()

    # ----------------------------------------------------------------- files

    def read(self, file: File) -> Awaitable[bytes]:
        """The bytes of a file that the user gave; also in a `check=`. Raises `FileGone` if it is not there any more."""
        return self._shelf.read(self.user, file)

    def files(self) -> Awaitable[Sequence[File]]:
        """The files that the user gave in this conversation, in answers and with messages, the oldest first."""
        return self._shelf.kept(Key(self.user, self.conversation_id))

    @property
    def _shelf(self) -> Shelf:
        if self._sync and not self.pending:  # in a check of what was asked, the body has unwound
            raise errors.ProgrammingError("Files are awaited: make this tool an `async def`.")
        if self._files is None:
            raise errors.Unavailable
        return self._files

    # ----------------------------------------------------------------- what the user keeps with us

    def reveal(self, secret: Secret) -> Awaitable[SecretValue]:
        """The value of a secret; a user who has given none is asked for it, and the tool pauses here.

        From here on, results, effects, errors and log records of this tool are scrubbed of the value. Raises what `ask`
        raises, and `CredentialGone` where the user had given it and took it back.
        """
        self._require_async("reveal")
        return self._reveal(secret)

    def token(self, provider: OAuthProvider) -> Awaitable[SecretValue]:
        """An access token of the user's account at `provider`, good for a minute at least.

        It is refreshed where it must be. A user who has not connected the account is asked to, and the tool pauses
        here; so is one whose provider gives no more tokens. As with `reveal`, the tool's words are scrubbed of it.
        Raises what `ask` raises, `CredentialGone` where the user disconnected the account meanwhile, and
        `ProviderFailed` where the provider does not answer now.
        """
        self._require_async("token")
        return self._token(provider)

    def forget(self, credential: Credential) -> Awaitable[bool]:
        """Remove what the user gave; False if there is nothing. As an effect of `once`, it is not repeated."""
        self._require_async("forget")
        credentials = self._kept
        _, use = self._place(f"#forget:{credential.name}")
        forget: Callable[[], Awaitable[bool]] = functools.partial(credentials.forget, credential)
        if isinstance(credential, OAuthProvider) and self._accounts is not None:
            forget = functools.partial(self._accounts().forget, self.user, credential)
        # Repeatable: if it was cut off, nothing was asked since, so what it removes is what was meant.
        return self.once(f"#forget:{credential.name}:{use}", forget, repeatable=True)

    def holds(self, credential: Credential) -> Awaitable[bool]:
        """Whether the user has it. That may change between executions: let no ask depend on it."""
        self._require_async("holds")
        return self._kept.holds(credential)

    async def _reveal(self, secret: Secret) -> SecretValue:
        self._enter("reveal")
        key = f"#reveal:{secret.name}"
        # What was asked here before is asked again first, whatever the vault has by now: its answer must be taken.
        answered = self._asked_before(key) and self._ask(secret, key, None) is not None
        opened = await self._kept.open(secret)
        if opened is None:
            if answered or self._offered(secret):
                raise errors.CredentialGone(secret.name)
            self._ask(secret, key, None)
            raise errors.CredentialGone(secret.name)
        value = opened.value.decode()
        await anyio.to_thread.run_sync(self.hidden.add, value)  # a long one takes a while
        return SecretValue(secret.name, value)

    async def _token(self, provider: OAuthProvider) -> SecretValue:
        self._enter("token")
        if self._accounts is None:
            raise errors.Unavailable
        key, answered, over = f"#token:{provider.name}", False, False
        while self._asked_before(key):  # as often as the provider ended what was connected in this call
            self._ask(Connect(provider), key, None)
            answered = True
        try:
            token = await self._accounts().token(self.user, provider)
        except AccountOver:
            token, over = None, True
        if token is None:
            if not over and (answered or self._offered(provider)):
                raise errors.CredentialGone(provider.name)
            self._ask(Connect(provider), key, None)
            raise errors.CredentialGone(provider.name)
        await anyio.to_thread.run_sync(self.hidden.add, token)
        return SecretValue(provider.name, token)

    def _offered(self, credential: Credential) -> bool:
        """Whether the tool is here because the user had it: that it is missing now means that they took it back."""
        return self._offered_for is not None and self._offered_for.name == credential.name

    def _asked_before(self, key: str) -> bool:
        place = (key, self._uses.get(key, 0) + 1)
        return any((one.key, one.occurrence) == place for one in (self._past.asks if self._past else ()))

    @property
    def _kept(self) -> Credentials:
        if self._credentials is None:
            raise errors.Unavailable
        return self._credentials

    # ----------------------------------------------------------------- effects

    @overload
    def once(
        self, name: str, fn: Callable[[*Args], Awaitable[R]], *args: *Args, repeatable: bool = False
    ) -> Awaitable[R]: ...
    @overload
    def once(self, name: str, fn: Callable[[*Args], R], *args: *Args, repeatable: bool = False) -> Awaitable[R]: ...
    def once(  # type: ignore[misc]  # mypy does not match `*args: *Args` with `*args: Any`
        self, name: str, fn: Callable[..., Any], *args: Any, repeatable: bool = False
    ) -> Awaitable[Any]:
        """Do `fn(*args)` once, however often this body is executed, and return its recorded value.

        It is recorded before it starts and after it ended. If a crash came in between, nobody knows whether it
        happened: `OutcomeUnknown` is raised, or with `repeatable=True` (reads, idempotent effects) it runs again.
        Every execution, the first too, sees the stored form of the value; a failure is raised as `OnceFailed`.
        `fn` may be sync or async, must not ask the user, and is not cancelled half way. Classes in its value are
        restored by its return annotation.
        """
        self._require_async("once")
        return self._once(name, fn, args, repeatable)

    def effect_key(self, name: str) -> str:
        """An idempotency key for `once(name, ..., repeatable=True)`, the same in every execution of this call."""
        if effects.inside.get() is None:
            self._enter("effect_key")
        return digested([*self._this_call, "effect", name])

    @property
    def _this_call(self) -> list[str]:
        """What tells this call from all others, in every execution of it."""
        step = self._past.step if self._past else ""
        return [self.user, self.conversation_id, step, self.call_id]

    async def _once(self, name: str, fn: Callable[..., Any], args: tuple[Any, ...], repeatable: bool) -> Any:
        name = self.hidden.text(name)
        self._enter(f"once({name!r})")
        if name in self._names:
            raise self._break(f"once({name!r}) is used twice in one execution: give the second another name.")
        self._names.add(name)
        hints = effects.hints_of(fn)
        effect = Effect(self.call_id, name, effects.args_digest(name, args, fn, hints, self.hidden), "begun")
        before = self._past.effects.get(name) if self._past else None
        if before and before.args != effect.args:
            raise self._break(
                f"once({name!r}) was begun with other arguments in an earlier execution. Let what varies come from a "
                "`once` of its own.",
                errors.ReplayMismatch,
            )
        if before and before.state != "begun":
            return effects.outcome(before, hints)
        if self._record is None and self._past is not None:
            self.missed = True
            raise errors.Paused
        if before is not None and not repeatable:
            await self._write(Effect(self.call_id, name, effect.args, "unknown"))
            raise errors.OutcomeUnknown(name)

        async def perform() -> Effect:
            if before is None:
                await self._write(effect)
            ended = await effects.perform(effect, fn, args, hints, self.hidden)
            if not (repeatable and ended.state == "unknown"):  # that one stays begun: the next execution repeats it
                await self._write(ended)
            return ended

        with self.effects.one():
            # From the record of its beginning to that of its end, neither a pause nor a cancel cuts it off.
            return effects.outcome(await to_the_end(perform), hints)

    async def _write(self, effect: Effect) -> None:
        if self._record is not None:
            try:
                await self._record(effect)
            except errors.Stale as stale:
                self.stale = stale
                raise

    # ----------------------------------------------------------------- the rules of one execution

    def _enter(self, what: str, *, at_home: bool = False) -> None:
        """Every call of the context comes through here: a pause stays a pause, a misuse stays one."""
        if (name := effects.inside.get()) is not None:
            raise self._break(f"ctx.{what} inside once({name!r}): ask before or after the effect, not in it.")
        if self.stale:
            raise self.stale
        if self.pending or self.missed:
            raise errors.Paused
        if self.broken:
            raise self.broken
        if at_home and self._home is not None and self._home != _place_of_execution(self._sync):
            raise self._break(
                f"ctx.{what} in another task or thread than the tool's own: their order would change between "
                "executions. Ask in the tool's body itself (`asyncio.wait_for` starts a task of its own too)."
            )

    def _require_async(self, what: str) -> None:
        if self._sync:
            raise errors.ProgrammingError(f"ctx.{what} is awaited: make this tool an `async def`.")

    def _break(
        self, message: str, kind: type[errors.ProgrammingError] = errors.ProgrammingError
    ) -> errors.ProgrammingError:
        self.broken = kind(message)
        return self.broken

    @contextmanager
    def at_home(self, *, sync: bool, offered_for: Credential | None = None) -> Iterator[None]:
        """The body runs in this task or thread. `offered_for` is the credential that its tool was offered for."""
        self._sync, self._offered_for = sync, offered_for
        self._home = _place_of_execution(sync)
        yield

    @property
    def leftover(self) -> bool:
        """Whether the body took some, but not all, of the answers that its log recorded for it."""
        endings = self._past.endings if self._past else {}
        recorded = {interrupt_id for interrupt_id, ending in endings.items() if not _is_changed(ending)}
        return bool(self._taken) and bool(recorded - self._taken)


def _own(key: str | None) -> str | None:
    """A key of the app's. The library's own, for the asks that other calls imply, start with `#`."""
    if key is not None and key.startswith("#"):
        raise errors.ProgrammingError("A key must not start with '#': those are the library's own.")
    return key


def _is_changed(ending: Answered | Closed | None) -> bool:
    return isinstance(ending, Closed) and ending.ending == "changed"


def _place_of_execution(sync: bool) -> int:
    if sync:
        return threading.get_ident()
    try:
        return anyio.get_current_task().id
    except RuntimeError:
        return -1
