"""Files that are not what they say, and a few that are; made here, so that none lies about in the repository."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import Any, Final

from PIL import Image

HTML: Final = b"<!doctype html><script>fetch('/steal')</script>"
SVG: Final = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
TEXT: Final = "Größe 42, bitte.\n".encode()
PDF: Final = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"


def image(format: str = "PNG", size: tuple[int, int] = (8, 6), **options: Any) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, "teal").save(buffer, format, **options)
    return buffer.getvalue()


def photo(where: str = "N") -> bytes:
    """A JPEG as a phone writes it: it lies on its side, and says where it was taken and by what."""
    exif = Image.Exif()
    exif[0x010F] = "Canary Phones"
    exif[0x0112] = 6  # turned by a quarter
    exif.get_ifd(0x8825).update({1: where, 2: (48.0, 8.0, 12.0)})
    return image("JPEG", exif=exif, comment=b"canary comment")


def bomb_zip(megabytes: int = 200) -> bytes:
    """A small archive of much."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(megabytes << 20))
    return buffer.getvalue()


def bomb_png(side: int = 60_000) -> bytes:
    """A PNG of a few bytes whose header announces an image of 3,600 megapixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(99))) + chunk(b"IEND", b"")
    )


def gif_script() -> bytes:
    """A GIF that is a script as well: what follows the image is for whoever runs it."""
    return image("GIF") + b"/*;*/=1;alert('polyglot')"
