"""Read the body of a response within limits, which apply both before and after decompression."""

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

PIECE: Final = 262_144  # bytes decompressed at a time, so that a small chunk cannot fill the memory

# Python also has codecs that are no charsets, some of which are slow or give text that cannot be stored
_CHARSETS: Final = ("ascii", "big5", "cp", "euc", "gb", "hz", "iso2022", "iso8859", "johab", "koi8", "mac", "ptcp")
_UNICODE: Final = frozenset(("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-16-le", "utf-32"))
_MORE: Final = frozenset(("shift_jis", "shift_jis_2004", "shift_jisx0213", "tis-620"))


class BodyRefused(Exception):
    """A response that is too large or malformed."""

    def __init__(self, type: FailureType, message: str) -> None:
        super().__init__(message)
        self.type: FailureType = type


class MediaType(msgspec.Struct, frozen=True):
    """The content type of a response."""

    name: str
    charset: str | None

    @property
    def is_json(self) -> bool:
        return self.name == "application/json" or self.name.endswith("+json")


def media_type_of(headers: dict[str, str]) -> MediaType:
    """The content type, with defaults for what is missing or invalid."""
    message = Message()
    message["content-type"] = headers.get("content-type") or "application/octet-stream"
    return MediaType(message.get_content_type(), message.get_content_charset())


async def decompressed(response: Response, headers: dict[str, str], most: int, limit: str) -> AsyncGenerator[bytes]:
    """The decompressed body in chunks, at most `most` bytes. `limit` is the name of that setting."""
    decoder = _decoder(headers.get("content-encoding", "").strip().lower())
    received = produced = 0
    async with aclosing(response.aiter_stream()) as chunks:
        async for chunk in chunks:
            received += len(chunk)
            _check_size(received, most, limit)
            for piece in decoder.pieces(chunk):
                produced += len(piece)
                _check_size(produced, most, limit)
                yield piece
    decoder.end()


def as_text(body: bytes, media_type: MediaType) -> str:
    """The body as text. Invalid bytes are a failure, because replacing them would hide the loss."""
    charset = media_type.charset or "utf-8"
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        name = ""
    if not (name in _UNICODE or name in _MORE or name.startswith(_CHARSETS)):
        raise BodyRefused("http_charset", f"the charset '{charset[:40]}' of the body is unknown")
    try:
        return body.decode(name)
    except UnicodeDecodeError as error:
        problem = f"the body is not valid {name} at byte {error.start}; 'artifact_above_bytes: 0' stores it unchanged"
        raise BodyRefused("http_charset", problem) from None


def as_json(body: bytes) -> Json:
    """The body as JSON, which is always UTF-8."""
    try:
        value: Json = msgspec.json.decode(body.removeprefix(codecs.BOM_UTF8))
        check_bounds(value, body, "body")
    except BadResult as bad:
        raise BodyRefused("bad_result", str(bad)) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BodyRefused("http_json", f"the body is not valid JSON: {error}") from None
    return value


def _check_size(size: int, most: int, limit: str) -> None:
    if size > most:
        raise BodyRefused("http_body_too_large", f"the body is larger than {most} bytes ({limit})")


class _Identity:
    """No compression."""

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        yield chunk

    def end(self) -> None:
        pass


class _Compressed(_Identity):
    """gzip or deflate. A gzip body may consist of several streams."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._inflate = zlib.decompressobj(bits)
        self._started = False

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        try:
            yield from self._pieces(chunk)
        except zlib.error as error:
            raise BodyRefused("http_encoding", f"the body cannot be decompressed: {error}") from None

    def end(self) -> None:
        if self._started and not self._inflate.eof:
            raise BodyRefused("http_encoding", "the compressed body is incomplete")

    def _pieces(self, chunk: bytes) -> Iterator[bytes]:
        if chunk and not self._started:
            self._started = True
            if self._bits == zlib.MAX_WBITS and chunk[0] & 0x0F != 8:  # raw deflate, which some servers send
                self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        while chunk:
            if self._inflate.eof:
                self._inflate = zlib.decompressobj(self._bits)
            piece = self._inflate.decompress(chunk, PIECE)
            while piece:
                yield piece
                piece = self._inflate.decompress(self._inflate.unconsumed_tail, PIECE)
            chunk = self._inflate.unused_data.lstrip(b"\0") if self._inflate.eof else b""


def _decoder(encoding: str) -> _Identity:
    match encoding:
        case "" | "identity":
            return _Identity()
        case "gzip" | "x-gzip":
            return _Compressed(zlib.MAX_WBITS | 16)
        case "deflate":
            return _Compressed(zlib.MAX_WBITS)
        case _:
            raise BodyRefused("http_encoding", f"the encoding '{encoding[:40]}' of the body is not supported")
