"""The page: built files from the package, read once, each with its type and ETag, and compressed if asked for."""

import gzip
import hashlib
import secrets
from collections.abc import Mapping
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from jeton.api.app import Public, Request, page_headers
from jeton.api.route import Answer
from jeton.model.failure import Refused

TYPES: Final[Mapping[str, str]] = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "html": "text/html; charset=utf-8",
}
NONCE: Final = b"__CSP_NONCE__"  # where the page has the nonce of its answer
DOOR: Final = b"__DOOR__"  # and where it is told whether it must sign in


class Asset:
    """A built file. It is compressed when it is first asked for."""

    def __init__(self, media_type: str, content: bytes) -> None:
        self.media_type = media_type
        self.plain = content

    @cached_property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.plain).hexdigest()[:32]}"'

    @cached_property
    def packed(self) -> bytes | None:
        """Compressed, if that makes it smaller."""
        packed = gzip.compress(self.plain, 6, mtime=0)
        return packed if len(packed) < len(self.plain) else None


def page_routes(no_auth: bool) -> tuple[Public, ...]:
    """The routes of the page: `/`, and the files it loads. The page is told whether a key is needed here."""
    folder = files("jeton.api").joinpath("page")
    index = folder.joinpath("index.html")
    html = index.read_bytes().replace(DOOR, b"open" if no_auth else b"key") if index.is_file() else None
    assets = _assets(folder.joinpath("assets"))

    async def page(request: Request, body: bytes) -> Answer:
        if html is None:
            raise Refused("unknown_path", "this installation has no page", "build it with `make page`")
        nonce = secrets.token_urlsafe(16)
        headers = {"content-type": TYPES["html"], **page_headers(nonce)}
        return Answer(content=html.replace(NONCE, nonce.encode()), headers=headers)

    async def asset(request: Request, body: bytes) -> Answer:
        found = assets.get(request.path.decode("latin-1").removeprefix("/assets/"))
        if found is None:
            raise Refused("unknown_path", "nothing is served at this path", "load the page at / again")
        return _answer(found, request)

    return (Public("GET", "/", page), Public("GET", "/assets/", asset))


def _assets(folder: Traversable) -> dict[str, Asset]:
    if not folder.is_dir():
        return {}
    return {file.name: _asset(file.name, file.read_bytes()) for file in folder.iterdir() if file.is_file()}


def _asset(name: str, content: bytes) -> Asset:
    return Asset(TYPES.get(name.rpartition(".")[2], "application/octet-stream"), content)


def _answer(asset: Asset, request: Request) -> Answer:
    """The file, or 304 if the browser has it. Names stay the same over builds, so it asks each time."""
    headers = {**page_headers(), "etag": asset.etag, "cache-control": "no-cache", "vary": "Accept-Encoding"}
    known = {each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")}
    if asset.etag in known:
        return Answer(status=304, headers=headers)
    headers["content-type"] = asset.media_type
    encodings = {each.partition(";")[0].strip() for each in request.headers.get("accept-encoding", "").split(",")}
    if asset.packed is not None and "gzip" in encodings:
        return Answer(content=asset.packed, headers={**headers, "content-encoding": "gzip"})
    return Answer(content=asset.plain, headers=headers)
