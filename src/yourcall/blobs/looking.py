"""Whether a file is what its name says, by its content; and an image without what cameras write into it.

Images are opened by Pillow, which reads their header: their size is known before a pixel is decoded. Texts must be
texts. Everything else is told by the numbers that its format begins with.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any, Final

import puremagic
from PIL import Image, ImageOps, ImageSequence

from yourcall.errors import Fault, FileType, Rejected
from yourcall.upload import ACTIVE, IMAGES, Rules

_FORMATS: Final = tuple(type_.partition("/")[2].upper() for type_ in IMAGES)
_TEXTS: Final = frozenset({"application/json", "application/xml", "application/xhtml+xml", "image/svg+xml"})
_NO_TEXT: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
# Atomic: what comes before the first tag is read once, however it is made of comments.
_MARKUP: Final = re.compile(
    rb"(?>\s+|<!--.*?-->)*+<(?:[!?](?:doctype|xml)|html|head|title|body|script|style|svg|iframe|img|a|p|div|br|h1|table|math"
    rb"|font|b|object|embed|form|meta|link)\b",
    re.IGNORECASE | re.DOTALL,
)
_HEAD: Final = 64 << 10
_KEPT: Final = ("transparency", "icc_profile", "gamma", "duration", "loop", "disposal", "blend", "background")


def look(path: Path, name: str, rules: Rules) -> str:
    """The media type of the file at `path` that came under this name.

    Raises `FileType` where name, content and rules do not agree, and `Rejected` for an empty file or an image with
    too many pixels. With `rules.strip`, an image is written anew.
    """
    if path.stat().st_size == 0:
        raise _rejected("This file is empty.")
    type_ = rules.type_of(name)
    if type_ is None:
        raise FileType
    if type_ in IMAGES:
        _image(path, type_, rules)
    elif type_.startswith("image/") and type_ not in ACTIVE:
        raise FileType  # its size cannot be known, nor its metadata removed
    elif type_.startswith("text/") or type_ in _TEXTS:
        _text(path, type_)
    elif _is_markup(path) or not _begins_as(path, type_, PurePosixPath(name).suffix.lower()):
        raise _another(path)
    return type_


def _image(path: Path, type_: str, rules: Rules) -> None:
    try:
        with Image.open(path, formats=_FORMATS) as image:
            if (Image.MIME.get(image.format or "") or "") != type_ and (image.format, type_) != ("MPO", "image/jpeg"):
                raise _another(path)
            width, height = image.size
            if width * height > rules.pixels or width * height * getattr(image, "n_frames", 1) > rules.pixels:
                raise _too_many(rules.pixels)
            if rules.strip:
                _strip(image, path)
            else:
                image.verify()
    except (FileType, Rejected):
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_many(rules.pixels) from None
    except Exception:  # decoders raise whatever they like: what they choke on is no image
        raise _another(path) from None


def _strip(image: Image.Image, path: Path) -> None:
    """Write it anew: upright, as the metadata said, and then without them."""
    format_ = "JPEG" if image.format == "MPO" else image.format
    frames = [_bare(image)] if format_ == "JPEG" else [_bare(frame) for frame in ImageSequence.Iterator(image)]
    first, *others = frames
    options: dict[str, Any] = {"quality": 92} if format_ == "JPEG" else {"lossless": True} if format_ == "WEBP" else {}
    if others:
        durations = [frame.info.get("duration", 0) for frame in frames]
        options |= {"save_all": True, "append_images": others, "duration": durations}
    first.save(path, format=format_, **options)


def _bare(frame: Image.Image) -> Image.Image:
    upright = ImageOps.exif_transpose(frame)
    upright.info = {name: upright.info[name] for name in _KEPT if name in upright.info}
    return upright


def _text(path: Path, type_: str) -> None:
    """A text has no control characters; and one that a browser would take for a page must be named as one."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
        piece = head
        while piece:
            if _NO_TEXT.search(piece):
                raise _another(path)
            piece = file.read(_HEAD)
    if type_ not in ACTIVE and _MARKUP.match(head.removeprefix(b"\xef\xbb\xbf")):
        raise FileType


def _begins_as(path: Path, type_: str, suffix: str) -> bool:
    try:
        found = puremagic.magic_file(path)
    except (ValueError, LookupError):
        return False
    return any(
        one.offset >= 0 and len(one.byte_match) > 1 and (one.extension == suffix or one.mime_type == type_)
        for one in found
    )


def _is_markup(path: Path) -> bool:
    with path.open("rb") as file:
        return _MARKUP.match(file.read(_HEAD)) is not None


def _another(path: Path) -> FileType:
    """It is not what its name says: a page in disguise is not allowed at all, anything else may be broken."""
    return FileType() if _is_markup(path) else FileType("The content of this file is not what its name says.")


def _too_many(pixels: int) -> Rejected:
    return _rejected(f"This image is too large: more than {pixels / 1e6:g} megapixels.")


def _rejected(message: str) -> Rejected:
    return Rejected(faults=[Fault("", message)])
