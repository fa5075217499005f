"""Files in a local folder, under random names, for the process's own user alone.

The folder belongs to one machine: where several serve the same users, give the engine a `Blobs` of your own on what
they share, or mount the folder from there. It must lie outside of whatever a web server hands out.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

import anyio
from anyio.to_thread import run_sync

from yourcall.errors import FileGone

PIECE: Final = 64 << 10
LEFT_BEHIND: Final = 3600
"""Seconds after which what a killed process was receiving is removed."""

_ID: Final = re.compile(r"[0-9a-f]{32}")


class FolderBlobs:
    """`Blobs` in the folder at `path`, made when it is needed; without a path, in a folder that goes at the end."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = None if path is None else Path(path)
        self._temporary: Path | None = None

    async def open(self) -> None:
        """Remove what a killed process left half received."""
        if self._path is not None:
            await run_sync(_clear, self._path / "incoming", time.time() - LEFT_BEHIND)

    async def close(self) -> None:
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            await run_sync(shutil.rmtree, temporary)

    @asynccontextmanager
    async def incoming(self) -> AsyncIterator[Path]:
        path = self._root / "incoming" / uuid4().hex
        await run_sync(_create, path)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    async def put(self, id: str, path: Path) -> None:
        with anyio.CancelScope(shield=True):
            await run_sync(_move, path, self._place(id))

    async def read(self, id: str) -> bytes:
        try:
            return await run_sync(self._place(id).read_bytes)
        except FileNotFoundError:
            raise FileGone(id) from None

    async def stream(self, id: str) -> AsyncIterator[bytes]:
        try:
            file = await anyio.open_file(self._place(id), "rb")
        except FileNotFoundError:
            raise FileGone(id) from None
        async with file:
            while piece := await file.read(PIECE):
                yield piece

    async def delete(self, id: str) -> None:
        await run_sync(lambda: self._place(id).unlink(missing_ok=True))

    @property
    def _root(self) -> Path:
        if self._path is not None:
            return self._path
        self._temporary = self._temporary or Path(tempfile.mkdtemp(prefix="yourcall-"))
        return self._temporary

    def _place(self, id: str) -> Path:
        """Where this id is, if it is one of ours: nothing else becomes a path."""
        if not _ID.fullmatch(id):
            raise FileGone(id)
        return self._root / id[:2] / id


def _create(path: Path) -> None:
    _make_folder(path.parent)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _make_folder(path: Path) -> None:
    if not path.is_dir():
        _make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
        _sync(path.parent)


def _move(source: Path, target: Path) -> None:
    """First the bytes, then the name: a name that is there after a crash has all its bytes."""
    _sync(source)
    _make_folder(target.parent)
    source.rename(target)
    _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _clear(folder: Path, before: float) -> None:
    for path in folder.glob("*"):
        if path.stat().st_mtime < before:
            path.unlink(missing_ok=True)
