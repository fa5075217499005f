"""The protocols between the loop and the world: a store, a vault, a model, a bus.

Each has one contract suite in `tests/contracts/` that every implementation must pass.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from yourcall.connect import OAuthProvider
from yourcall.entries import Answered, Call, Closed, Entry, File, Interrupt, Json
from yourcall.errors import FileGone
from yourcall.events import Event
from yourcall.log import Transcript
from yourcall.upload import Rules

# --------------------------------------------------------------------------- store


@dataclass(frozen=True, slots=True)
class Key:
    """A conversation: ids are scoped to their owner, so the same id of another user is another conversation."""

    owner: str
    id: str


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run a conversation, until a moment of the store's clock (Unix seconds)."""

    runner: str
    until: float


@dataclass(frozen=True, slots=True)
class Row:
    """What a conversation's row says beside its log; all of it can be derived from the log, but for the lease.

    `tail` is the `seq` from which on `phase` needs the entries; `expires_at` the earliest of the open interrupts.
    """

    tail: int = 1
    phase: Literal["run", "waiting", "done"] = "done"
    expires_at: float | None = None
    lease: Lease | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A conversation as read at one moment `now` of the store's clock; one that does not exist has head 0."""

    now: float
    place: int | None = None
    """Which conversation of this id it is: one that is deleted and begun anew is another. None: there is none."""
    head: int = 0
    row: Row = field(default_factory=Row)
    entries: tuple[Entry, ...] = ()

    @property
    def exists(self) -> bool:
        return self.place is not None


@dataclass(frozen=True, slots=True)
class Found:
    """An interrupt, open or closed, with where it belongs."""

    key: Key
    interrupt: Interrupt
    ending: Answered | Closed | None


@dataclass(frozen=True, slots=True)
class Open:
    """One line of a user's inbox: a question that they may answer, where it was asked, and when (Unix seconds)."""

    key: Key
    interrupt: Interrupt
    asked_at: float


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of a user's list of conversations; `updated_at` in Unix seconds."""

    id: str
    phase: Literal["run", "waiting", "done"]
    updated_at: float
    opening: str = ""
    """What the user wrote first, its first 100 characters."""


DRAFT_SECONDS: Final = 3600.0
"""How long a draft waits for the append that keeps it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A sealed value or a file that is stored but counts for nothing, until an append keeps it.

    One that no append has kept is swept away after an hour. A file may be the draft of `giver`, who answers in the
    place of the conversation's owner; once it is kept, it is the owner's.
    """

    kind: Literal["sealed", "file"]
    id: str
    giver: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """What stays of an answer: what the log says of it, the drafts that this names, and the files that came along."""

    value: Json
    drafts: Sequence[Draft] = ()
    files: tuple[File, ...] = ()


class Appended(Enum):
    """How an append ended."""

    DONE = "done"
    LOST = "lost"
    """Somebody else appended first, or holds the lease that was to be taken, or it is too late: decide again."""
    DUPLICATE = "duplicate"
    """The client's message id is in the log already."""


class Attempts(Protocol):
    """Counts tries at questions whose answers can be guessed; it outlives a restart, and all processes see it."""

    async def begin(self, interrupt_id: str) -> int:
        """Count a try, before it is looked at; returns its id.

        Raises `NotFound` if there is no such question any more, and `TooManyAttempts` if `MAX_ATTEMPTS` at it count
        already in the last `ATTEMPT_SECONDS`.
        """

    async def forgive(self, attempt: int) -> None:
        """It was not a wrong one: count it no more."""


MAX_ATTEMPTS: Final = 5
ATTEMPT_SECONDS: Final = 600.0


class Store(Protocol):
    """Durable logs. Every method that takes a key or an owner sees only that owner's conversations."""

    @property
    def sealed(self) -> SealedRows:
        """The sealed values that are stored beside the logs."""

    @property
    def files(self) -> FileRows:
        """What is stored of files beside the logs."""

    @property
    def attempts(self) -> Attempts:
        """The tries at the questions of these logs."""

    @property
    def handoffs(self) -> HandoffRows:
        """The users who are on their way to a provider and back."""

    async def open(self) -> None:
        """Connect and bring the schema up to date."""

    async def close(self) -> None:
        """Let go of everything; idempotent."""

    async def load(self, key: Key, *, after: int | None = None) -> Snapshot:
        """The row and the entries newer than `after`: all for 0, the tail for None."""

    async def append(
        self,
        key: Key,
        head: int,
        entries: Sequence[Entry],
        row: Row,
        *,
        place: int | None = None,
        until: float = math.inf,
        keep: Sequence[Draft] = (),
    ) -> Appended:
        """Append at `head` and set the row, in one synced transaction; `head` 0 creates the conversation.

        `place` says which conversation of this id is meant, None any. From the moment `until` of the store's clock
        on, what was decided holds no more, and the append is lost.

        A `row.lease` that differs in its runner from the stored one is taken only if the stored one is free or
        over; an equal runner keeps its stored `until`; None frees it. The index of interrupts is kept in the
        same transaction, in which the drafts in `keep` are made to count. Raises `DraftGone`, and appends nothing,
        if one of these is none any more.
        """

    async def renew(self, key: Key, runner: str, seconds: float) -> bool:
        """Prolong a lease to `seconds` from now; False if this runner holds it no more."""

    async def release(self, key: Key, runner: str) -> None:
        """End the lease now, if this runner still holds it."""

    async def find(self, owner: str, interrupt_id: str, names: Sequence[str] = ()) -> Found | None:
        """An interrupt of this owner, or one that was put to one of these names, whatever became of it."""

    async def owner_of(self, interrupt_id: str) -> str | None:
        """Whose an interrupt is: for a caller that is nobody, and has proved by a MAC that it was sent here."""

    async def inbox(
        self, owner: str, names: Sequence[str] = (), limit: int = 100, *, before: tuple[float, str] | None = None
    ) -> Sequence[Open]:
        """The owner's open questions, and those that others' tools have put to one of these names; the latest first.

        Without those of the owner that were put to somebody else. `before` is where the last one stood that was
        listed already: its `asked_at` and its id.
        """

    async def due(self, limit: int, after: Key | None = None) -> Sequence[Key]:
        """Conversations for the sweep, in the order of their keys, those behind `after`.

        Something in them has expired, or is runnable and nobody holds a live lease.
        """

    async def conversations(
        self, owner: str, limit: int = 100, *, before: tuple[float, str] | None = None
    ) -> Sequence[Listed]:
        """The owner's conversations, the latest first, and of equally late ones the greatest id.

        `before` is where the last one stood that was listed already: its `updated_at` and its id.
        """

    async def delete(self, key: Key) -> bool:
        """Remove a conversation and all that belongs to it; False if there was none."""


# --------------------------------------------------------------------------- vault


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a secret value belongs: whose it is, its name, and the conversation, `"*"` for all of the owner's."""

    owner: str
    name: str
    conversation: str = "*"


@dataclass(frozen=True, slots=True)
class Opened:
    """A secret value, opened, and the version that it is."""

    version: str
    value: bytes = field(repr=False)


class Vault(Protocol):
    """Seals secret values. What it stores opens nowhere but in its own slot and version.

    Everything fails closed: a value that does not open is a `SealBroken`, never another value. Without keys nothing
    is sealed or opened: `ProgrammingError`.
    """

    async def start(self) -> None:
        """Once, when the store is open. Raises `ProgrammingError` if what is stored needs a key that is not here."""

    def require_keys(self) -> None:
        """Raises `ProgrammingError`, which says what to do, if there is no key to seal with."""

    async def draft(self, slot: Slot, value: bytes) -> Draft:
        """Seal a value; the append that keeps the draft makes it the slot's value and removes the one before.

        Raises `NotFound` if the slot's conversation does not exist.
        """

    async def open(self, slot: Slot) -> Opened | None:
        """The slot's value; None if it has none. Raises `Busy` if the store does not answer."""

    async def holds(self, slot: Slot) -> bool:
        """Whether the slot has a value; nothing is opened."""

    async def replace(self, slot: Slot, version: str, value: bytes) -> bool:
        """Seal a new value in place of this version; False if another came first."""

    async def claim(self, slot: Slot, version: str, seconds: float) -> bool:
        """Be the one who replaces this version, for so long; False if somebody else is, or has."""

    async def names(self, owner: str) -> Sequence[Slot]:
        """The slots of this owner that have a value."""

    async def forget(self, slot: Slot, version: str | None = None) -> bool:
        """Remove the slot's value, if it is this version; False if there was nothing to remove."""

    def mac(self, purpose: str, value: bytes) -> str:
        """Identifies a value under a key of the vault's: of no use to anyone without it.

        The same for all engines on a store, and after its keys were rotated.
        """

    async def sweep(self) -> None:
        """Remove the drafts that no append has kept for an hour."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed value as it is stored. `key` is the id of the key-encryption key that wraps its data key."""

    version: str
    slot: Slot
    key: str
    wrapped: bytes = field(repr=False)
    value: bytes = field(repr=False)


class SealedRows(Protocol):
    """Where sealed values are stored; at most one that is kept for each slot, and any number of drafts."""

    async def draft(self, row: Sealed) -> None:
        """Store a draft. Raises `NotFound` if the slot's conversation does not exist."""

    async def kept(self, slot: Slot) -> Sealed | None:
        """The slot's value, never a draft."""

    async def replace(self, row: Sealed, version: str | None) -> bool:
        """Store the slot's value in place of this version, None if it has none; False if it is another by now."""

    async def claim(self, slot: Slot, version: str, seconds: float) -> bool:
        """Mark this version for so long; False if it is marked, or not the slot's value any more."""

    async def slots(self, owner: str) -> Sequence[Slot]:
        """The slots of this owner that have a value, in the order of their names."""

    async def delete(self, slot: Slot, version: str | None = None) -> bool:
        """Remove the slot's value, if it is this version; False if there was nothing to remove.

        Those of a conversation go with it.
        """

    async def sweep(self) -> int:
        """Remove the drafts that are an hour old by the store's clock; how many there were."""

    async def keys(self) -> Mapping[str, int]:
        """How many rows, drafts too, each key-encryption key wraps."""

    async def under(self, key: str, limit: int, after: str = "") -> Sequence[Sealed]:
        """Rows that this key wraps, drafts too, in the order of their versions, those behind `after`."""

    async def rewrap(self, row: Sealed, key: str, wrapped: bytes) -> bool:
        """Put the data key of this row under another key; False if it is gone, or under another by now."""


class KeyProvider(Protocol):
    """Holds the key-encryption keys, and never hands one out."""

    @property
    def active(self) -> str | None:
        """The id of the key that new values are sealed under; None if there is no key."""

    def knows(self, key: str) -> bool:
        """Whether the key of this id is here."""

    async def wrap(self, key: str, value: bytes, bound: bytes) -> bytes:
        """Encrypt a data key, so that it is unwrapped only with the same `bound` (associated data)."""

    async def unwrap(self, key: str, wrapped: bytes, bound: bytes) -> bytes:
        """The data key. Raises `SealBroken` if it does not open, or if there is no key of this id."""


# --------------------------------------------------------------------------- files


LEAST_FILE: Final = 4096
"""Bytes that a file counts at least, as disks do: so a quota bounds also how many there are."""


class Blobs(Protocol):
    """Keeps the bytes of files. Ids are random and ours: nothing that a user named becomes a place."""

    async def open(self) -> None:
        """Make ready what the bytes are kept in."""

    async def close(self) -> None:
        """Let go of everything; idempotent."""

    def incoming(self) -> AbstractAsyncContextManager[Path]:
        """A new local file for bytes that arrive, nobody else's to read; it goes when the context ends."""

    async def put(self, id: str, path: Path) -> None:
        """Keep what is in this local file; it is durable once this returns. The file itself may be taken."""

    async def read(self, id: str) -> bytes:
        """All of it. Raises `FileGone` if it is not there."""

    def stream(self, id: str) -> AsyncIterator[bytes]:
        """It, piece by piece. Raises `FileGone` before the first if it is not there."""

    async def delete(self, id: str) -> None:
        """Remove it; harmless if it is not there."""


class Look(Protocol):
    """Tells what a received file is. Runs in a thread."""

    def __call__(self, path: Path, name: str, rules: Rules) -> str:
        """Its media type. Raises `FileType` or `Rejected` where it is not to be taken; may write it anew."""


class FileRows(Protocol):
    """What is known of files, beside the logs: whose they are, and whether they count.

    A file is added as a draft of its owner, kept by an append, which binds it to that conversation, and doomed when
    that conversation is deleted or no append came in time. The doomed are listed until they are removed, so that a
    crash between a file and its row leaves neither behind.
    """

    async def add(self, owner: str, file: File, quota: int) -> bool:
        """Note a draft before its bytes are put; False if the owner's files would have more than `quota` bytes.

        A file counts `LEAST_FILE` bytes at least.
        """

    async def find(self, owner: str, ids: Sequence[str]) -> Sequence[File]:
        """Those of these files that the owner has, draft or kept, in the order of `ids`."""

    async def kept(self, key: Key) -> Sequence[File]:
        """The files that are kept in a conversation, in the order in which they were added."""

    async def drop(self, owner: str, id: str) -> None:
        """Doom a draft that nobody will keep; harmless if it is none."""

    async def doomed(self, age: float, limit: int) -> Sequence[str]:
        """Ids of files that count no more; drafts older than `age` seconds are doomed now."""

    async def remove(self, ids: Sequence[str]) -> None:
        """Forget doomed files, once their bytes are gone."""


class Shelf(Protocol):
    """The files of users, as a tool may read them."""

    async def read(self, owner: str, file: File) -> bytes:
        """The bytes of the owner's file. Raises `FileGone`."""

    async def kept(self, key: Key) -> Sequence[File]:
        """The files of a conversation, the oldest first."""


# --------------------------------------------------------------------------- accounts elsewhere


@dataclass(frozen=True, slots=True)
class Handoff:
    """A user on the way to a provider and back, for one question.

    `browser` identifies who is to come back beside the user. `issuer` is the provider's, if it has one, and
    `names_issuer` says that it always sends its name along (RFC 9207).
    """

    key: Key
    interrupt: str
    provider: str
    browser: str
    redirect_uri: str
    issuer: str | None = None
    names_issuer: bool = False


OVER_SECONDS: Final = 3600.0
"""How long a state that is over is remembered, so that whoever reloads its page is told what became of it."""


MOST_UNDER_WAY: Final = 50
"""States that one user has at once: the oldest make room, so that nobody fills the store by leaving again and again."""


class HandoffRows(Protocol):
    """Who is on the way, each under a `state` of one use, several at once. What is stored is the state's hash."""

    async def begin(self, state: str, handoff: Handoff, seconds: float) -> bool:
        """Somebody leaves and has so long to come back; False if the question is not open, or not this owner's.

        Of the owner's states, the oldest beyond `MOST_UNDER_WAY` are forgotten.
        """

    async def use(self, state: str, provider: str, browser: str, owner: str) -> Handoff | None:
        """Somebody comes back: the first time, in time, by the same way. Otherwise nothing changes: None."""

    async def find(self, state: str, provider: str, browser: str, owner: str) -> Handoff | None:
        """Who left under this state, whatever became of it: not for long after it is over."""


class AccountOver(Exception):
    """The provider gives no more tokens for this account, which was forgotten: the user may connect it again."""


class Accounts(Protocol):
    """The users' accounts at providers: their tokens are in the vault, and are refreshed when they are about to end."""

    async def token(self, owner: str, provider: OAuthProvider) -> str | None:
        """An access token that is good for a while; None if the user has not connected the account.

        Raises `AccountOver`, and `ProviderFailed` if the provider does not answer now.
        """

    async def forget(self, owner: str, provider: OAuthProvider) -> bool:
        """Remove the account here, and tell the provider if it takes such news; False if there was none."""


# --------------------------------------------------------------------------- model


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    schema: Json


Reads: TypeAlias = Callable[[File], Awaitable[bytes]]
"""Gives the bytes of a file. Raises `FileGone`."""


async def nothing_kept(file: File) -> bytes:
    """Reads a file where none are kept."""
    raise FileGone(file.id)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request for one step.

    `read` is for the files that messages of the transcript name. A model reads what its provider takes, and says of
    the rest that it is there.
    """

    transcript: Transcript
    tools: tuple[ToolSpec, ...] = ()
    instructions: str = ""
    settings: Mapping[str, Json] = field(default_factory=dict)
    read: Reads = field(default=nothing_kept, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The model wrote a piece of text."""

    text: str


@dataclass(frozen=True, slots=True)
class Restarted:
    """The step begins anew: what was streamed of it so far was never said."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The provider said that the step is finished. Comes once, last; without it the step is not recorded.

    `usage` counts its tokens, in the words of AG-UI's `TokenUsage`: `provider`, `model`, `input_tokens`,
    `output_tokens`, and as parts of these `cached_input_tokens`, `cache_write_input_tokens`, `reasoning_tokens`.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    blob: Json = None
    usage: Json = None


ModelEvent: TypeAlias = TextDelta | Restarted | Finished


class Model(Protocol):
    """A language model that streams one step at a time.

    Raises `errors.ModelFailed` where the provider fails; ending without `Finished` is a failure too.
    """

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]: ...


# --------------------------------------------------------------------------- bus


class Bus(Protocol):
    """Carries live events from a run to its listeners. Loses nothing that matters: the log has it."""

    def opened(self) -> AbstractAsyncContextManager[None]:
        """It carries events as long as this context lasts."""

    def publish(self, key: Key, events: Sequence[Event]) -> None:
        """Hand events to whoever listens now. Never waits: a listener that does not keep up is dropped."""

    def listen(self, key: Key) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Events from the moment of entering on. The iterator ends when the listener was dropped.

        If another process is in the middle of a step, what it has said so far comes first, as one piece.
        """
