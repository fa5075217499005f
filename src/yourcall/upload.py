"""`Upload`: ask for one file, and get a `File`; `await ctx.read(file)` gives its bytes.

The file does not come as JSON but on a route of its own, read as it arrives and only so far as the ask allows. Its
name, its content and the ask's `accept` must say the same of it, so that a page named `.png` is no picture. What a
browser would run, HTML, SVG and other XML, is refused unless `accept` names exactly it.
"""

from __future__ import annotations

import mimetypes
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Final

from yourcall.asks import Ask, Check
from yourcall.entries import File, Json
from yourcall.errors import ProgrammingError
from yourcall.texts import seen

MAX_BYTES: Final = 10 << 20
PIXELS: Final = 40_000_000
"""A picture of so many pixels takes about 160 MB once it is decoded."""

IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The images whose content can be looked at, and whose metadata can be removed."""

ACTIVE: Final = frozenset(
    "text/html application/xhtml+xml image/svg+xml text/xml application/xml text/javascript application/javascript "
    "application/x-javascript text/css".split()
)
"""What a browser might run, or let run something else."""

_WILD: Final = ("image/*", "audio/*", "video/*", "text/*")
_ACCEPT: Final = re.compile(r"\.[a-z0-9]{1,10}|[a-z]+/[a-z0-9][a-z0-9.+-]*")
_SEPARATORS: Final = re.compile(r"[/\\]")
_MAX_NAME: Final = 120

_TYPES: Final = mimetypes.MimeTypes()  # those that Python knows, not what this machine has beside them
for _type, _suffixes in {
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/gzip": ".gz",
    "application/json": ".json",
    "application/xml": ".xml",
    "audio/flac": ".flac",
    "audio/mp4": ".m4a",
    "audio/ogg": ".ogg",
    "image/heic": ".heic",
    "image/webp": ".webp",
    "text/csv": ".csv",
    "text/javascript": ".js .mjs",
    "text/markdown": ".md",
    "text/plain": ".log",
}.items():
    for _suffix in _suffixes.split():
        _TYPES.add_type(_type, _suffix)


@dataclass(frozen=True, slots=True)
class Rules:
    """Which files are taken: `accept` as `Upload` has it, `max_bytes`, `pixels` of an image in all its frames.

    With `strip`, images are written anew without their metadata.
    """

    accept: Sequence[str]
    max_bytes: int = MAX_BYTES
    pixels: int = PIXELS
    strip: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.accept, str) or not self.accept:
            raise ProgrammingError('accept is a list of what is taken, for instance ["image/*", ".pdf"].')
        for one in self.accept:
            if one.endswith("*") and one not in _WILD:
                raise ProgrammingError(f"accept: write {', '.join(_WILD)} or name the types one by one, not {one!r}.")
            if one not in _WILD and not _ACCEPT.fullmatch(one):
                raise ProgrammingError(f'accept: {one!r} is neither a suffix like ".pdf" nor a type like "image/png".')
        if self.max_bytes < 1 or self.pixels < 1:
            raise ProgrammingError("max_bytes and pixels are numbers above 0.")

    @property
    def shown(self) -> list[str]:
        """`accept` for a file picker; phones turn their own format of pictures into one of those that are named."""
        return [one for part in self.accept for one in (IMAGES if part == "image/*" else (part,))]

    def type_of(self, name: str) -> str | None:
        """The media type that a file of this name must have to be taken; None if no such file is taken."""
        suffix = PurePosixPath(name).suffix.lower()
        type_ = _TYPES.guess_type(f"x{suffix}")[0]
        if type_ is None:
            return "application/octet-stream" if suffix and suffix in self.accept else None
        wild = f"{type_.partition('/')[0]}/*" in self.accept and type_ not in ACTIVE
        return type_ if wild or suffix in self.accept or type_ in self.accept else None


class Upload(Ask[File]):
    """Ask for one file.

    `accept` lists suffixes (".pdf"), types ("image/png") and "image/*", "audio/*", "video/*", "text/*". `max_bytes`
    is enforced while the file is read. An image of more than `pixels`, all frames together, is refused before it is
    decoded; `strip` removes what cameras write into it, such as the place. `check` gets the `File`, and may read it
    with `ctx.read`. Raises `ProgrammingError` for an `accept` that says nothing.
    """

    kind = "upload"
    channel = "upload"
    payload_says_all = True

    def __init__(
        self,
        accept: Sequence[str],
        *,
        title: str = "Send a file",
        help: str | None = None,
        max_bytes: int = MAX_BYTES,
        pixels: int = PIXELS,
        strip: bool = False,
        check: Check[File] | None = None,
    ) -> None:
        self.rules = Rules(accept, max_bytes, pixels, strip)
        self.title, self.help, self.check = title, help, check

    def payload(self) -> Json:
        shown = {"title": self.title, "accept": self.rules.shown, "maxBytes": self.rules.max_bytes}
        return shown | ({"help": self.help} if self.help else {})

    def schema(self) -> Json:
        """There is no JSON that would answer it."""
        return False

    def identity(self) -> Json:
        return [self.title, sorted(self.rules.accept)]

    def parse(self, answer: File) -> File:
        return answer

    def encode(self, value: File) -> Json:
        return asdict(value)

    def decode(self, stored: Json) -> File:
        return File(**stored)


def clean_name(name: str) -> str:
    """What people read as a file's name: its last part, with nothing that hides, and not too long. Never a path."""
    last = _SEPARATORS.split(unicodedata.normalize("NFC", name))[-1]
    shown = seen(last).strip(" .") or "file"
    suffix = PurePosixPath(shown).suffix[:16]
    return shown if len(shown) <= _MAX_NAME else shown[: _MAX_NAME - len(suffix)] + suffix
