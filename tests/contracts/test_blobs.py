"""What every `Blobs` keeps. One that is new to the library joins `MAKERS`."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from yourcall.blobs.folder import FolderBlobs
from yourcall.errors import FileGone
from yourcall.ports import Blobs

pytestmark = pytest.mark.anyio

ID, OTHER = "0" * 32, "f" * 32

MAKERS: dict[str, Callable[[Path], Blobs]] = {
    "folder": lambda folder: FolderBlobs(folder / "files"),
    "temporary": lambda folder: FolderBlobs(),
}


@pytest.fixture(params=MAKERS)
async def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Blobs]:
    blobs = MAKERS[request.param](tmp_path)
    await blobs.open()
    yield blobs
    await blobs.close()


async def put(blobs: Blobs, id: str, data: bytes) -> None:
    async with blobs.incoming() as path:
        path.write_bytes(data)
        await blobs.put(id, path)


async def test_what_was_put_is_read(blobs: Blobs) -> None:
    """All of it and piece by piece, whatever its size."""
    for id, data in ((ID, b""), (OTHER, os.urandom(300_000))):
        await put(blobs, id, data)
        assert await blobs.read(id) == data
        assert b"".join([piece async for piece in blobs.stream(id)]) == data


async def test_what_is_not_there_is_gone(blobs: Blobs) -> None:
    """Never put, or deleted; deleting it again is harmless."""
    await put(blobs, ID, b"x")
    await blobs.delete(ID)
    await blobs.delete(ID)
    for id in (ID, OTHER):
        with pytest.raises(FileGone):
            await blobs.read(id)
        with pytest.raises(FileGone):
            await anext(blobs.stream(id))


async def test_what_arrives_and_is_not_put_is_gone(blobs: Blobs) -> None:
    """Each gets a file of its own, that nobody else may read, and that goes with the context."""
    async with blobs.incoming() as one, blobs.incoming() as other:
        assert one != other
        assert one.stat().st_mode & 0o777 == 0o600
        one.write_bytes(b"half")
    assert not one.exists()
    assert not other.exists()


@pytest.mark.parametrize("id", ["../../etc/passwd", "/etc/passwd", "..", "", "0" * 31, "0" * 33, "\0" * 32, "F" * 32])
async def test_only_ids_of_ours_become_places(blobs: Blobs, id: str) -> None:
    """Whatever else comes is not there: it is not looked for."""
    with pytest.raises(FileGone):
        await blobs.read(id)
    async with blobs.incoming() as path:
        with pytest.raises(FileGone):
            await blobs.put(id, path)


async def test_the_folder_is_for_nobody_else(tmp_path: Path) -> None:
    """Folders and files are the process's user's own."""
    blobs = FolderBlobs(tmp_path / "files")
    await blobs.open()
    await put(blobs, ID, b"x")
    for path in (tmp_path / "files", *(tmp_path / "files").rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


async def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """Half a file from long ago goes when the folder is opened; what another process is receiving now stays."""
    incoming = tmp_path / "files" / "incoming"
    incoming.mkdir(parents=True)
    for name, age in (("old", 7200), ("new", 10)):
        (incoming / name).write_bytes(b"half")
        os.utime(incoming / name, (time.time() - age,) * 2)
    await FolderBlobs(tmp_path / "files").open()
    assert [path.name for path in incoming.iterdir()] == ["new"]


async def test_a_temporary_folder_goes_at_the_end(tmp_path: Path) -> None:
    """Closing twice is harmless."""
    blobs = FolderBlobs()
    await put(blobs, ID, b"x")
    async with blobs.incoming() as path:
        folder = path.parents[1]
    await blobs.close()
    await blobs.close()
    assert not folder.exists()
