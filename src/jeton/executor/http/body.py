"""The body of an answer, read within its limits: what is counted is what it unpacks to, and what it took to send it."""

import codecs
import zlib
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from email.message import Message
from typing import Final

import msgspec
from httpcore2 import Response

from jeton.executor.python.results import BadResult, check_bounds
from jeton.model.codes import FailureType
from jeton.model.json import Json

PIECE: Final = 262_144  # unpacked at a time, so that a few bytes never become more than this at once

# Python knows codecs that are no charsets, and some of them are slow or make text that nobody can store
_CHARSETS: Final = ("ascii", "big5", "cp", "euc", "gb", "hz", "iso2022", "iso8859", "johab", "koi8", "mac", "ptcp")
_UNICODE: Final = frozenset(("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-16-le", "utf-32"))
_MORE: Final = frozenset(("shift_jis", "shift_jis_2004", "shift_jisx0213", "tis-620"))


class BodyRefused(Exception):
    """A body that is too large, or not what it says it is."""

    def __init__(self, type: FailureType, message: str) -> None:
        super().__init__(message)
        self.type: FailureType = type


class MediaType(msgspec.Struct, frozen=True):
    """What a server says the body is."""

    name: str
    charset: str | None

    @property
    def is_json(self) -> bool:
        return self.name == "application/json" or self.name.endswith("+json")


def media_type_of(headers: dict[str, str]) -> MediaType:
    """As far as it can be understood."""
    message = Message()
    message["content-type"] = headers.get("content-type") or "application/octet-stream"
    return MediaType(message.get_content_type(), message.get_content_charset())


async def unpacked(response: Response, headers: dict[str, str], most: int, limit: str) -> AsyncGenerator[bytes]:
    """The body in pieces, at most so many bytes; `limit` is the name of that number."""
    unpack = _unpacker(headers.get("content-encoding", "").strip().lower())
    taken = given = 0
    async with aclosing(response.aiter_stream()) as chunks:
        async for chunk in chunks:
            taken += len(chunk)
            _count(taken, most, limit)
            for piece in unpack.pieces(chunk):
                given += len(piece)
                _count(given, most, limit)
                yield piece
    unpack.end()


def as_text(body: bytes, media_type: MediaType) -> str:
    """The body as text. Nothing is replaced: half a text that looks whole is worse than a failure."""
    charset = media_type.charset or "utf-8"
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        name = ""
    if not (name in _UNICODE or name in _MORE or name.startswith(_CHARSETS)):
        raise BodyRefused("http_charset", f"the body is said to be in '{charset[:40]}', which is no charset we know")
    try:
        return body.decode(name)
    except UnicodeDecodeError as error:
        problem = f"the body is no text in {name}, at byte {error.start}; 'artifact_above_bytes: 0' keeps it as it is"
        raise BodyRefused("http_charset", problem) from None


def as_json(body: bytes) -> Json:
    """The body as JSON, which is always in utf-8."""
    try:
        value: Json = msgspec.json.decode(body.removeprefix(codecs.BOM_UTF8))
        check_bounds(value, body, "body")
    except BadResult as bad:
        raise BodyRefused("bad_result", str(bad)) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BodyRefused("http_json", f"the body is said to be JSON, and is not: {error}") from None
    return value


def _count(size: int, most: int, limit: str) -> None:
    if size > most:
        raise BodyRefused("http_body_too_large", f"the body is larger than {most} bytes ({limit})")


class _Identity:
    """Sent as it is."""

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        yield chunk

    def end(self) -> None:
        pass


class _Packed(_Identity):
    """Sent compressed. One stream after another is one body, as gzip has it."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._unpack = zlib.decompressobj(bits)
        self._begun = False

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        try:
            yield from self._pieces(chunk)
        except zlib.error as error:
            raise BodyRefused("http_encoding", f"the body cannot be unpacked: {error}") from None

    def end(self) -> None:
        if self._begun and not self._unpack.eof:
            raise BodyRefused("http_encoding", "the body ends before what is packed in it does")

    def _pieces(self, chunk: bytes) -> Iterator[bytes]:
        if chunk and not self._begun:
            self._begun = True
            if self._bits == zlib.MAX_WBITS and chunk[0] & 0x0F != 8:  # "deflate" without the header it should have
                self._unpack = zlib.decompressobj(-zlib.MAX_WBITS)
        while chunk:
            if self._unpack.eof:
                self._unpack = zlib.decompressobj(self._bits)
            piece = self._unpack.decompress(chunk, PIECE)
            while piece:
                yield piece
                piece = self._unpack.decompress(self._unpack.unconsumed_tail, PIECE)
            chunk = self._unpack.unused_data.lstrip(b"\0") if self._unpack.eof else b""


def _unpacker(encoding: str) -> _Identity:
    match encoding:
        case "" | "identity":
            return _Identity()
        case "gzip" | "x-gzip":
            return _Packed(zlib.MAX_WBITS | 16)
        case "deflate":
            return _Packed(zlib.MAX_WBITS)
        case _:
            raise BodyRefused(
                "http_encoding", f"the body is packed as '{encoding[:40]}', and gzip or deflate was asked"
            )
