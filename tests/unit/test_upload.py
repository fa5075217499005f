"""`Upload`: what may be asked for, what a file may be called, and how it is received."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests import hostile
from tests.support import Clock
from yourcall import Context, File, Upload, errors
from yourcall.asks import digest
from yourcall.blobs.folder import FolderBlobs
from yourcall.blobs.looking import look
from yourcall.files import Files, Put, Source
from yourcall.ports import LEAST_FILE
from yourcall.store.sqlite import SQLiteStore
from yourcall.store.sqlite_files import SQLiteFiles
from yourcall.upload import Rules, clean_name

pytestmark = pytest.mark.anyio

PHOTO = File("f" * 32, "me.png", "image/png", 3, "abc")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SQLiteStore]:
    store = SQLiteStore(str(tmp_path / "c.db"), clock=Clock())
    await store.open()
    yield store
    await store.close()


def files_of(store: SQLiteStore, folder: Path, **options: Any) -> Files:
    return Files(SQLiteFiles(store.file), FolderBlobs(folder), look, **options)


def sent(name: str, *pieces: bytes, taken: list[bytes] | None = None) -> Source:
    async def source(put: Put) -> str:
        for piece in pieces:
            await put(piece)
            if taken is not None:
                taken.append(piece)
        return name

    return source


# --------------------------------------------------------------------------- the ask


@pytest.mark.parametrize(
    "accept", [[], "image/*", ["*/*"], ["png"], ["application/*"], [".PNG"], ["image/png; q=1"], [".png/../x"]]
)
def test_an_accept_that_says_nothing_fails_when_the_ask_is_made(accept: Any) -> None:
    """Not when a user stands before it; and the message says what to write."""
    with pytest.raises(errors.ProgrammingError, match="accept"):
        Upload(accept)


def test_a_picker_shows_the_images_that_are_taken() -> None:
    """A phone whose own format is none of them turns its pictures into one that is."""
    assert Upload(["image/*", ".pdf"]).payload()["accept"] == [
        "image/png", "image/jpeg", "image/gif", "image/webp", ".pdf",
    ]  # fmt: skip


def test_limits_are_not_the_question() -> None:
    """A larger limit, or a help text, leaves an open question what it is; another title or type does not."""
    ask = Upload(["image/png"], title="Photo")
    assert digest(ask, "a") == digest(Upload(["image/png"], title="Photo", max_bytes=1, help="Yours."), "a")
    assert digest(ask, "a") != digest(Upload(["image/png"], title="Passport"), "a")
    assert digest(ask, "a") != digest(Upload([".pdf"], title="Photo"), "a")


def test_what_is_recorded_is_read_back() -> None:
    """In any process, as the `File` that it was."""
    ask = Upload(["image/png"])
    assert ask.decode(ask.encode(PHOTO)) == PHOTO


@pytest.mark.parametrize(
    ("name", "accept", "type"),
    [
        ("a.PNG", ["image/*"], "image/png"),
        ("a.jpeg", [".jpg"], None),
        ("a.jpeg", ["image/jpeg"], "image/jpeg"),
        ("a.svg", ["image/*"], None),
        ("a.svg", [".svg"], "image/svg+xml"),
        ("a.html", ["text/*"], None),
        ("a.md", ["text/*"], "text/markdown"),
        ("a.own", [".own"], "application/octet-stream"),
        ("a.own", ["image/*"], None),
        ("png", ["image/*"], None),
        (".png", ["image/*"], None),
    ],
)
def test_a_name_says_which_type_a_file_must_have(name: str, accept: list[str], type: str | None) -> None:
    """What a browser runs must be named itself; a wildcard does not mean it."""
    assert Rules(accept).type_of(name) == type


@pytest.mark.parametrize("name", ["", ".", "..", "/", "a/..", " . "])
def test_a_name_of_nothing_is_a_file_all_the_same(name: str) -> None:
    """It cannot be empty, nor a step in a path."""
    assert clean_name(name) == "file"


async def test_a_context_by_hand_has_no_files() -> None:
    """Where nobody can be asked, nothing was sent; and a `def` tool is told what to be."""
    ctx = Context(user="ada")
    with pytest.raises(errors.Unavailable):
        await ctx.read(PHOTO)
    with ctx.at_home(sync=True), pytest.raises(errors.ProgrammingError, match="async def"):
        ctx.files()


# --------------------------------------------------------------------------- receiving


async def test_reading_stops_at_the_limit(store: SQLiteStore, tmp_path: Path) -> None:
    """The piece that goes beyond it is the last that is taken, and nothing of it stays."""
    taken: list[bytes] = []
    files = files_of(store, tmp_path / "files")
    with pytest.raises(errors.FileTooLarge, match="larger than 2 MiB"):
        await files.receive("ada", sent("a.png", *[bytes(1 << 20)] * 9, taken=taken), Rules(["image/*"], 2 << 20))
    assert len(taken) == 2
    assert [path for path in (tmp_path / "files").rglob("*") if path.is_file()] == []


async def test_a_user_has_so_much_room(store: SQLiteStore, tmp_path: Path) -> None:
    """For all files together, drafts too; a small file counts as much as a disk gives it. Others are not affected."""
    files, rules = files_of(store, tmp_path / "files", quota=3 * LEAST_FILE), Rules(["image/*"])
    for _ in range(3):
        await files.receive("ada", sent("a.png", hostile.image()), rules)
    with pytest.raises(errors.NoRoom, match="Delete a conversation"):
        await files.receive("ada", sent("a.png", hostile.image()), rules)
    await files.receive("bob", sent("a.png", hostile.image()), rules)


async def test_a_sender_who_leaves_leaves_nothing(store: SQLiteStore, tmp_path: Path) -> None:
    """Half a file, then silence: neither its bytes nor a row stay."""

    async def leaves(put: Put) -> str:
        await put(hostile.image()[:30])
        raise ConnectionResetError

    files = files_of(store, tmp_path / "files")
    with pytest.raises(ConnectionResetError):
        await files.receive("ada", leaves, Rules(["image/*"]))
    assert [path for path in (tmp_path / "files").rglob("*") if path.is_file()] == []
    assert await SQLiteFiles(store.file).doomed(-1, 9) == []


async def test_a_disk_that_fails_leaves_no_row_that_counts(store: SQLiteStore, tmp_path: Path) -> None:
    """The bytes could not be made durable: the draft is doomed, and the sweep takes it away."""

    class Full(FolderBlobs):
        async def put(self, id: str, path: Path) -> None:
            raise OSError(28, "No space left on device")

    files = Files(SQLiteFiles(store.file), Full(tmp_path / "files"), look)
    with pytest.raises(OSError, match="No space"):
        await files.receive("ada", sent("a.png", hostile.image()), Rules(["image/*"]))
    assert len(await files.rows.doomed(3600, 9)) == 1
    await files.sweep()
    assert await files.rows.doomed(-1, 9) == []


@pytest.mark.parametrize("crash", ["before the bytes", "after the bytes"])
async def test_a_sweep_that_was_cut_off_is_made_up_for(store: SQLiteStore, tmp_path: Path, crash: str) -> None:
    """Killed before or after the bytes are removed, the row is there still, and the next sweep finishes."""
    files = files_of(store, tmp_path / "files")
    file, _ = await files.receive("ada", sent("a.png", hostile.image()), Rules(["image/*"]))
    await files.rows.drop("ada", file.id)
    assert await files.rows.doomed(3600, 9) == [file.id]
    if crash == "after the bytes":
        await files.blobs.delete(file.id)
    await files.sweep()
    assert await files.rows.doomed(-1, 9) == []
    with pytest.raises(errors.FileGone):
        await files.blobs.read(file.id)


async def test_a_file_that_cannot_be_removed_keeps_nothing_up(
    store: SQLiteStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The others are removed, what asked for the sweep goes on, and the next sweep tries that one again."""

    class Stuck(FolderBlobs):
        async def delete(self, id: str) -> None:
            if id in stuck:
                raise PermissionError(1, "Operation not permitted")
            await super().delete(id)

    files = Files(SQLiteFiles(store.file), Stuck(tmp_path / "files"), look)
    sent_files = [(await files.receive("ada", sent("a.png", hostile.image()), Rules(["image/*"])))[0] for _ in "abc"]
    stuck = {sent_files[0].id}
    for file in sent_files:
        await files.rows.drop("ada", file.id)
    await files.sweep()
    assert await files.rows.doomed(3600, 9) == [sent_files[0].id]
    assert "could not be removed" in caplog.text
    stuck.clear()
    await files.sweep()
    assert await files.rows.doomed(3600, 9) == []


# --------------------------------------------------------------------------- looking


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "WEBP"])
def test_stripped_images_are_images_still(tmp_path: Path, format: str) -> None:
    """In every format that is taken, with what it looked like."""
    from PIL import Image

    exif = Image.Exif()
    exif[0x010F] = "Canary Phones"
    options: dict[str, Any] = {} if format == "GIF" else {"exif": exif}
    if format == "GIF":
        options["comment"] = b"Canary comment"
    path = tmp_path / "image"
    path.write_bytes(hostile.image(format, **options))
    assert b"Canary" in path.read_bytes()
    assert look(path, f"a.{format.lower()}", Rules(["image/*"], strip=True)) == f"image/{format.lower()}"
    assert b"Canary" not in path.read_bytes()
    with Image.open(path) as image:
        red, green, blue = image.convert("RGB").getpixel((3, 3))  # type: ignore[misc]  # three bands
        assert red < 20
        assert abs(green - 128) < 9
        assert abs(blue - 128) < 9


def test_what_moves_goes_on_moving(tmp_path: Path) -> None:
    """All frames of an animation stay, each for its time; all of them count as pixels."""
    from PIL import Image

    path = tmp_path / "image"
    frames = [Image.new("RGB", (20, 20), color) for color in ("red", "green", "blue")]
    frames[0].save(path, "GIF", save_all=True, append_images=frames[1:], duration=[100, 200, 300], loop=0)
    look(path, "a.gif", Rules(["image/*"], strip=True))
    with Image.open(path) as image:
        assert image.n_frames == 3  # type: ignore[attr-defined]  # as a GIF has it
        image.seek(1)
        assert image.info["duration"] == 200
    with pytest.raises(errors.Rejected, match="megapixels"):
        look(path, "a.gif", Rules(["image/*"], pixels=1000))


def test_stripping_takes_what_follows_an_image_away(tmp_path: Path) -> None:
    """A GIF that is a script as well is a GIF afterwards."""
    path = tmp_path / "image"
    path.write_bytes(hostile.gif_script())
    look(path, "a.gif", Rules(["image/*"], strip=True))
    assert b"alert" not in path.read_bytes()


@pytest.mark.parametrize("before", [b"<!---->" * 9_000, b" " * 60_000, b"<!-- " * 12_000 + b"-->", b"<!-- a --> \n"])
def test_whatever_stands_before_a_page_is_looked_through_once(tmp_path: Path, before: bytes) -> None:
    """Comments by the thousand hold nobody up, and hide no page: the time would double with each of them."""
    path = tmp_path / "text"
    path.write_bytes(before + b"x")
    assert look(path, "a.txt", Rules(["text/*"])) == "text/plain"
    path.write_bytes(before + b"<script>alert(1)</script>")
    with pytest.raises(errors.FileType):
        look(path, "a.txt", Rules(["text/*"]))
