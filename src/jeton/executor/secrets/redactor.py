"""Finds secrets in what an action gives back, in every form a server or a program is likely to repeat them in."""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from html import escape
from typing import Final
from urllib.parse import quote, quote_plus

from jeton.model.json import Json

LINE: Final = 16  # a line of a longer secret counts as one from here on: shorter ones may be `}` or a heading


class Redactor:
    """Puts `[secret NAME]` where a secret stands. Searching is a plain search per form, which costs almost nothing."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """The secrets by value."""
        self._names = {form: name for value, name in secrets.items() for form in _forms(value)}
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(re.escape(form) for form in longest_first))
        self._has_number = any(value.lstrip("-").replace(".", "", 1).isdigit() for value in secrets)
        self._bytes = {form.encode(): name for form, name in self._names.items()}
        self._longest = max(map(len, self._bytes), default=0)
        self._longest_text = max(map(len, self._names), default=0)

    def text(self, text: str) -> str:
        """The text without the secrets."""
        if not any(form in text for form in self._names):
            return text
        return self._pattern.sub(lambda found: f"[secret {self._names[found[0]]}]", text)

    def sure(self, text: str) -> tuple[str, str]:
        """Of a text that goes on: what can be shown, without the secrets, and the rest, where one may have begun.

        Nothing of the rest is replaced yet: what is a secret now may turn out to be the beginning of a longer one.
        """
        until, shown, at = len(text) - self._longest_text + 1, list[str](), 0
        if any(form in text for form in self._names):
            for found in self._pattern.finditer(text):
                if found.start() >= until:
                    break
                shown += text[at : found.start()], f"[secret {self._names[found[0]]}]"
                at = found.end()
        if at < until:
            shown.append(text[at:until])
            at = until
        return "".join(shown), text[at:]

    def value(self, value: Json) -> Json:
        """The same of everything in a value, names of keys too."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.value(item) for item in value]
            case dict():
                return {self.text(key): self.value(item) for key, item in value.items()}
            case int() | float() if self._has_number and not isinstance(value, bool):
                shown = self.text(str(value))
                return value if shown == str(value) else shown
            case _:
                return value

    async def stream(self, chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
        """The same of bytes that come in pieces: what could be the beginning of a secret waits for the next piece."""
        held = b""
        async for chunk in chunks:
            held = self.data(held + chunk)
            sure = len(held) - self._longest + 1
            if sure > 0:
                yield held[:sure]
                held = held[sure:]
        if held:
            yield held

    def data(self, data: bytes) -> bytes:
        """The same of bytes."""
        for form, name in self._bytes.items():
            data = data.replace(form, f"[secret {name}]".encode())
        return data


class RedactingStream:
    """A text that comes in pieces, without the secrets, even where one lies across two of them."""

    def __init__(self, redactor: Callable[[], Redactor | None]) -> None:
        self._redactor = redactor  # asked each time: a secret may come to be known in between
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be shown by now."""
        redactor = self._redactor()
        text, self._held = self._held + piece, ""
        if redactor is not None:
            text, self._held = redactor.sure(text)
        return text

    def end(self) -> str:
        """What was held back."""
        redactor = self._redactor()
        text, self._held = self._held, ""
        return text if redactor is None else redactor.text(text)


def _forms(value: str) -> Iterator[str]:
    """The secret as it is, escaped, encoded, and inside something that was encoded with it."""
    lines = [line.strip() for line in value.splitlines()]
    for text in {value, *(line for line in lines if len(line) >= LINE)}:
        data = text.encode("utf-8", "surrogateescape")
        yield text
        for escaped in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
            yield escaped
            yield escaped.replace("/", "\\/")
            yield escaped.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
        yield escape(text)
        yield repr(text)[1:-1]
        for encoded in (quote(data), quote(data, safe=""), quote_plus(data)):
            yield encoded
            yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), encoded)
        yield data.hex()
        yield data.hex().upper()
        for before in range(3):
            yield from _inside_base64(data, before)


def _inside_base64(data: bytes, before: int) -> Iterator[str]:
    """The characters of a base64 text that depend on the secret alone, when so many bytes stand before it.

    Basic authentication is such a text: the user's name is encoded together with the password.
    """
    first, last = -(-before * 8 // 6), (before + len(data)) * 8 // 6
    for encode in (b64encode, urlsafe_b64encode):
        yield encode(b"\0" * before + data).decode()[first:last]
