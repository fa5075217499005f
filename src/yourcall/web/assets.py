"""The front end's files, out of the package. They are read once; a name that is not among them is nothing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from yourcall.errors import NotFound

CARDS: Final = Path(__file__).parents[1] / "cards"

TYPES: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is served; its tag is of its content, so it changes with a release and with nothing else."""

    content: bytes
    media_type: str
    tag: str

    @classmethod
    def read(cls, path: Path) -> Asset:
        content = path.read_bytes()
        return cls(content, TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:16]}"')


class Assets:
    """The files of a folder, by their path in it. Only types that a page needs are among them."""

    def __init__(self, folder: Path = CARDS) -> None:
        paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix in TYPES)
        self._assets = {path.relative_to(folder).as_posix(): Asset.read(path) for path in paths}

    def response(self, name: str, request: Request) -> Response:
        """The file, or that the browser has it already. Raises `NotFound`."""
        asset = self._assets.get(name)
        if asset is None:
            raise NotFound("file")
        # no-cache: kept, and asked for each time, so that a page never mixes the modules of two releases
        headers = {"ETag": asset.tag, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
        if asset.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(asset.content, media_type=asset.media_type, headers=headers)
