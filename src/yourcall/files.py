"""The files that users give: received and looked at before they count, kept by an append, swept when nobody kept them.

A file is received into a local file of its own, within the limits of whoever asked for it. Then it is a draft: first
its row is written, then its bytes are made durable, so that a crash between the two leaves a row to clean up by.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias
from uuid import uuid4

import anyio
from anyio.to_thread import run_sync

from yourcall.asks import Ask, payload_digest
from yourcall.entries import Channel, File
from yourcall.errors import DraftGone, Fault, FileGone, FileTooLarge, NoRoom, Rejected
from yourcall.faults import pointer
from yourcall.ports import DRAFT_SECONDS, Blobs, Draft, FileRows, Kept, Key, Look
from yourcall.upload import Rules, Upload, clean_name

log = logging.getLogger("yourcall")

QUOTA: Final = 1 << 30
"""Bytes that all files of one user may have."""
MOST_NAMED: Final = 10
"""Files that one message may bring."""
SWEEP_BATCH: Final = 100
BUFFER: Final = 256 << 10

Put: TypeAlias = Callable[[bytes], Awaitable[None]]
Source: TypeAlias = Callable[[Put], Awaitable[str]]
"""Puts the bytes of one file, piece by piece; returns the name that its sender gave it."""


class Files:
    """The files of an engine. `look` tells what a received file is; `quota` is in bytes for each user."""

    def __init__(self, rows: FileRows, blobs: Blobs, look: Look, *, quota: int = QUOTA) -> None:
        self.rows, self.blobs = rows, blobs
        self._look, self._quota = look, quota

    async def receive(self, owner: str, source: Source, rules: Rules) -> tuple[File, str]:
        """Receive a file as a draft of this owner; returns it, and what identifies what was sent.

        Raises `FileTooLarge` as soon as that is known, `FileType`, `Rejected`, `NoRoom`, and what `source` raises.
        """
        async with self.blobs.incoming() as path:
            name, sent = await _received(source, path, rules.max_bytes)
            kind = await run_sync(self._look, path, name, rules)
            size, sha256 = await run_sync(_measured, path)
            file = File(uuid4().hex, name, kind, size, sha256)
            if not await self.rows.add(owner, file, self._quota):
                raise NoRoom
            try:
                await self.blobs.put(file.id, path)
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await self.rows.drop(owner, file.id)
                raise
        return file, sent

    async def named(self, owner: str, ids: Sequence[str]) -> tuple[File, ...]:
        """The owner's files of these ids. Raises `Rejected`, with a fault for each that is not there."""
        if len(ids) > MOST_NAMED:
            raise Rejected(faults=[Fault("/files", f"At most {MOST_NAMED} files at once.")])
        found = {file.id: file for file in await self.rows.find(owner, ids)}
        twice = {n for n, id in enumerate(ids) if id in ids[:n]}
        if missing := [n for n, id in enumerate(ids) if id not in found or n in twice]:
            words = "This file is not there any more. Send it again."
            raise Rejected(faults=[Fault(pointer("files", n), words, "invalid-request") for n in missing])
        return tuple(found[id] for id in ids)

    async def read(self, owner: str, file: File) -> bytes:
        """The bytes of the owner's file. Raises `FileGone`."""
        if not await self.rows.find(owner, [file.id]):
            raise FileGone(file.id)
        return await self.blobs.read(file.id)

    async def kept(self, key: Key) -> Sequence[File]:
        """The files of a conversation, the oldest first."""
        return await self.rows.kept(key)

    async def sweep(self) -> None:
        """Remove what counts no more: first the bytes, then the row by which they are found.

        Bytes that cannot be removed now are left to the next time.
        """
        gone: list[str] | None = None
        while gone != [] and (doomed := await self.rows.doomed(DRAFT_SECONDS, SWEEP_BATCH)):
            gone = [id for id in doomed if await self._removed(id)]
            await self.rows.remove(gone)

    async def _removed(self, id: str) -> bool:
        try:
            await self.blobs.delete(id)
        except Exception:
            log.exception("The file %s could not be removed; it is tried again", id)
            return False
        return True


@contextmanager
def keeping(files: Sequence[File]) -> Iterator[None]:
    """Around the append that keeps these named files. Raises `Rejected` for one that something else has kept."""
    try:
        yield
    except DraftGone as gone:
        words = "This file came with something else already. Send it again."
        faults = [Fault(pointer("files", n), words) for n, file in enumerate(files) if file.id == gone.id]
        if not faults:
            raise
        raise Rejected(faults=faults) from None


class FileAnswer:
    """A file that answers an `Upload`; `source` is read once, when the live ask has said what is taken."""

    channel: ClassVar[Channel] = "upload"

    def __init__(self, files: Files, owner: str, source: Source) -> None:
        self._files, self._owner, self._source = files, owner, source
        self._draft: File | None = None
        self.mark = ""

    async def read(self, ask: Ask[Any]) -> File:
        assert isinstance(ask, Upload), "its channel is an upload's"
        self._draft, self.mark = await self._files.receive(self._owner, self._source, ask.rules)
        return self._draft

    async def keep(self, ask: Ask[Any], value: Any) -> Kept:
        return Kept(ask.encode(value), [Draft("file", value.id)])

    async def recognise(self, limit: int) -> None:
        """Find out what was sent without keeping it: the question has its answer, and it may be this one."""
        if self.mark:
            return
        name, digest = await _digested(self._source, limit, _nowhere)
        self.mark = _mark(name, digest)

    async def release(self) -> None:
        """Let go of a file that was not taken; one that was is the log's."""
        if self._draft is not None:
            with anyio.CancelScope(shield=True):
                await self._files.rows.drop(self._owner, self._draft.id)


async def _received(source: Source, path: Path, limit: int) -> tuple[str, str]:
    async with await anyio.open_file(path, "wb", buffering=BUFFER) as file:

        async def write(piece: bytes) -> None:
            await file.write(piece)

        name, digest = await _digested(source, limit, write)
    return name, _mark(name, digest)


async def _digested(source: Source, limit: int, put: Put) -> tuple[str, str]:
    """Read it to its end, if that comes before the limit: its name, and the hash of its bytes."""
    hashed, size = hashlib.sha256(), 0

    async def take(piece: bytes) -> None:
        nonlocal size
        size += len(piece)
        if size > limit:
            raise FileTooLarge(limit)
        hashed.update(piece)
        await put(piece)

    name = clean_name(await source(take))
    return name, hashed.hexdigest()


async def _nowhere(piece: bytes) -> None:
    pass


def _mark(name: str, digest: str) -> str:
    return payload_digest({"name": name, "sha256": digest})


def _measured(path: Path) -> tuple[int, str]:
    with path.open("rb") as file:
        return path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
