"""The log of a server: lines of JSON for machines, and plain ones on a terminal. No key is ever in it."""

import json
import logging
import re
from datetime import UTC, datetime
from typing import TextIO

KEY = re.compile(r"jtn_([0-9a-z]{8})_[0-9A-Za-z]+")
FIELDS = ("request", "route", "method", "status", "key", "run")
# What strangers can make the HTTP server say, with a line for each request: nothing that one could act on.
OF_STRANGERS = (
    "Invalid HTTP request received",
    "Unsupported upgrade request",
    "No supported WebSocket library",
    "ASGI callable returned without completing handshake",
    "Invalid UTF-8 sequence received from client",
)


class FromStrangers(logging.Filter):
    """Leaves out what anybody could pour into the log."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith(OF_STRANGERS)


class Redacting(logging.Formatter):
    """Plain lines, without keys."""

    def format(self, record: logging.LogRecord) -> str:
        return without_keys(super().format(record))


class JsonLines(logging.Formatter):
    """One JSON object a line: `at`, `level`, `logger`, `message`, what is known of the request, and `error`."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line: dict[str, object] = {
            "at": at,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return without_keys(json.dumps(line, default=str))


def without_keys(text: str) -> str:
    """The text, with keys cut down to their ids."""
    return KEY.sub(r"jtn_\1_…", text)


def log_to(stream: TextIO) -> None:
    """Send the log of this process there."""
    handler = logging.StreamHandler(stream)
    if stream.isatty():
        handler.setFormatter(Redacting("%(asctime)s %(levelname)s %(name)s %(message)s"))
    else:
        handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    quieten_strangers()


def quieten_strangers() -> None:
    """Let nobody without a key fill the log."""
    logger = logging.getLogger("uvicorn.error")
    logger.setLevel(logging.WARNING)  # below, it has a line for each refused socket
    if not any(isinstance(each, FromStrangers) for each in logger.filters):
        logger.addFilter(FromStrangers())
