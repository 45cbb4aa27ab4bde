"""Secrets in logs. A library we call may write what a server told it, and at level DEBUG some do."""

import logging
import traceback
from collections.abc import Generator
from contextlib import contextmanager

from jeton.executor.secrets.secrets import SecretStore

OURS = "jeton"


class RedactingFilter(logging.Filter):
    """Rewrites records, tracebacks included. For a logger, or better for the handlers that write somewhere."""

    def __init__(self, store: SecretStore) -> None:
        super().__init__()
        self._store = store

    def filter(self, record: logging.LogRecord) -> bool:
        redactor = self._store.redactor
        if redactor is not None:
            record.msg, record.args = redactor.text(record.getMessage()), None
            if record.exc_info is not None and record.exc_info[1] is not None:
                record.exc_text = redactor.text("".join(traceback.format_exception(record.exc_info[1])).rstrip())
                record.exc_info = None
        return True


@contextmanager
def redacted_logs(store: SecretStore) -> Generator[None]:
    """Keep the secrets out of our own records wherever they go, and out of all that goes to the handlers of today."""
    filter = RedactingFilter(store)
    places: list[logging.Filterer] = [*logging.getLogger().handlers]
    if logging.lastResort is not None:
        places.append(logging.lastResort)
    for name in (OURS, *(name for name in logging.Logger.manager.loggerDict if name.startswith(f"{OURS}."))):
        logger = logging.getLogger(name)
        places += [logger, *logger.handlers]
    for place in places:
        place.addFilter(filter)
    try:
        yield
    finally:
        for place in places:
            place.removeFilter(filter)
