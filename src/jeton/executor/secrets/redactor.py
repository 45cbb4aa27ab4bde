"""Find secrets in the results of actions, in every encoding that a server or a program is likely to use."""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from html import escape
from typing import Final
from urllib.parse import quote, quote_plus

from jeton.model.json import Json

MIN_LINE_LENGTH: Final = 16  # lines of a longer secret are redacted too; shorter ones may be `}` or a heading


class Redactor:
    """Replaces secrets by `[secret NAME]`. A plain search per form comes first, because it is cheap."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """Takes the names of the secrets by value."""
        self._names = {form: name for value, name in secrets.items() for form in _forms(value)}
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(re.escape(form) for form in longest_first))
        self._has_number = any(value.lstrip("-").replace(".", "", 1).isdigit() for value in secrets)
        self._bytes = {form.encode(): name for form, name in self._names.items()}
        self._longest = max(map(len, self._bytes), default=0)
        self._longest_text = max(map(len, self._names), default=0)
        self._by_first: dict[str, list[str]] = {}
        for form in self._names:
            self._by_first.setdefault(form[0], []).append(form)

    def text(self, text: str) -> str:
        """Redact a text."""
        if not any(form in text for form in self._names):
            return text
        return self._pattern.sub(lambda found: f"[secret {self._names[found[0]]}]", text)

    def split(self, text: str) -> tuple[str, str]:
        """Split a text that continues into its redacted beginning and a rest in which a secret may have begun.

        The rest is not redacted: what looks like a secret may be the beginning of a longer one.
        """
        until, redacted, at = self._begun(text), list[str](), 0
        if any(form in text for form in self._names):
            for found in self._pattern.finditer(text):
                if found.start() >= until:
                    break
                redacted += text[at : found.start()], f"[secret {self._names[found[0]]}]"
                at = found.end()
        if at < until:
            redacted.append(text[at:until])
            at = until
        return "".join(redacted), text[at:]

    def _begun(self, text: str) -> int:
        """Where the first secret begins of which the text ends in a part; the length of the text if there is none."""
        for at in range(max(0, len(text) - self._longest_text + 1), len(text)):
            rest = len(text) - at
            if any(len(form) > rest and text.endswith(form[:rest]) for form in self._by_first.get(text[at], ())):
                return at
        return len(text)

    def value(self, value: Json) -> Json:
        """Redact all texts in a value, including keys, and numbers if a secret is one."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.value(item) for item in value]
            case dict():
                return {self.text(key): self.value(item) for key, item in value.items()}
            case int() | float() if self._has_number and not isinstance(value, bool):
                redacted = self.text(str(value))
                return value if redacted == str(value) else redacted
            case _:
                return value

    async def stream(self, chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
        """Redact a stream of bytes, holding back what may be the beginning of a secret."""
        pending = b""
        async for chunk in chunks:
            pending = self.data(pending + chunk)
            complete = len(pending) - self._longest + 1
            if complete > 0:
                yield pending[:complete]
                pending = pending[complete:]
        if pending:
            yield pending

    def data(self, data: bytes) -> bytes:
        """Redact bytes."""
        for form, name in self._bytes.items():
            data = data.replace(form, f"[secret {name}]".encode())
        return data


class RedactingStream:
    """Redacts a text that comes in pieces, including secrets that span two of them."""

    def __init__(self, redactor: Callable[[], Redactor | None]) -> None:
        self._redactor = redactor  # called each time, because a secret may be added meanwhile
        self._pending = ""

    def feed(self, piece: str) -> str:
        """Add a piece; gives the redacted text so far that is complete."""
        redactor = self._redactor()
        text, self._pending = self._pending + piece, ""
        if redactor is not None:
            text, self._pending = redactor.split(text)
        return text

    def end(self) -> str:
        """The redacted rest."""
        redactor = self._redactor()
        text, self._pending = self._pending, ""
        return text if redactor is None else redactor.text(text)


def _forms(value: str) -> Iterator[str]:
    """The secret itself, escaped, encoded, and as part of a longer base64 text."""
    lines = [line.strip() for line in value.splitlines()]
    for text in {value, *(line for line in lines if len(line) >= MIN_LINE_LENGTH)}:
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
    """The characters of a base64 text that depend on the secret alone, after a given number of bytes.

    Basic authentication is such a text: user name and password are encoded together.
    """
    first, last = -(-before * 8 // 6), (before + len(data)) * 8 // 6
    for encode in (b64encode, urlsafe_b64encode):
        yield encode(b"\0" * before + data).decode()[first:last]
