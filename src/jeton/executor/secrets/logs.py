"""Redaction of log records: at level DEBUG, libraries may log what a server sent."""

import logging
import traceback
from collections.abc import Generator
from contextlib import contextmanager

from jeton.executor.secrets.secrets import SecretStore

OUR_LOGGER = "jeton"


class RedactingFilter(logging.Filter):
    """Redacts records, including tracebacks. Best added to handlers; a logger's filter does not see its children."""

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
    """Redact the records of our own loggers, and all records that go to the handlers that exist now."""
    filter = RedactingFilter(store)
    targets: list[logging.Filterer] = [*logging.getLogger().handlers]
    if logging.lastResort is not None:
        targets.append(logging.lastResort)
    for name in (
        OUR_LOGGER,
        *(name for name in logging.Logger.manager.loggerDict if name.startswith(f"{OUR_LOGGER}.")),
    ):
        logger = logging.getLogger(name)
        targets += [logger, *logger.handlers]
    for target in targets:
        target.addFilter(filter)
    try:
        yield
    finally:
        for target in targets:
            target.removeFilter(filter)
