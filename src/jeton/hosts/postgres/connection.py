"""Connections to PostgreSQL that take the statements of `jeton.hosts.sql`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from decimal import Decimal
from functools import lru_cache
from re import compile
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8BinaryDumper, NumericBinaryLoader

from jeton.hosts.postgres.dialect import PostgresDialect
from jeton.hosts.sql.connection import Row, Value
from jeton.model.failure import Refused
from jeton.model.ids import RunId

LOST = (psycopg.OperationalError, psycopg.InterfaceError)
"""Errors after which a connection is of no use."""

CONNECT_S = 10
_DIALECT = PostgresDialect()
_MARK = compile(r"\?(\d*)")


class _FloatDumper(Dumper):
    """A float as the text that reads back to the same bits, with a point in it: so it differs from an integer."""

    def dump(self, obj: float) -> bytes:
        text = repr(obj)
        if "e" in text:
            text = format(Decimal(text), "f")
            text = text if "." in text else f"{text}.0"
        return text.encode()


class _BoolDumper(Dumper):
    """True and false as 1 and 0, as on every other host."""

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class _NumberLoader(NumericBinaryLoader):
    """A number with digits behind the point is a float, and any other an integer."""

    def load(self, data: Buffer) -> Any:
        found = super().load(data)
        exponent = found.as_tuple().exponent
        return float(found) if isinstance(exponent, int) and exponent < 0 else int(found)


@lru_cache(maxsize=2000)
def _translated(statement: str) -> str:
    """The statement with the marks of PostgreSQL: `?` is `$1`, `$2` and so on, and `?2` is `$2`."""
    count = 0

    def mark(found: Any) -> str:
        nonlocal count
        count += 1
        return f"${found[1] or count}"

    return _MARK.sub(mark, statement)


class PgCursor:
    """Fulfils `jeton.hosts.sql.connection.Cursor`."""

    def __init__(self, cursor: psycopg.RawCursor[Row]) -> None:
        self._cursor = cursor

    def _rows(self) -> list[Row]:
        try:
            return self._cursor.fetchall()
        except psycopg.ProgrammingError as problem:
            if problem.sqlstate is not None:
                raise
            return []  # the statement gives no rows

    @property
    def get(self) -> Any:
        rows = self._rows()
        if not rows:
            return None
        if len(rows) > 1:
            return rows
        return rows[0][0] if len(rows[0]) == 1 else rows[0]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows())


class PgConnection:
    """Fulfils `jeton.hosts.sql.connection.Connection`."""

    def __init__(self, raw: "psycopg.Connection[Row]", is_mine: Callable[[RunId], bool] = lambda _: False) -> None:
        self.raw = raw
        self.dialect = _DIALECT
        self.is_mine = is_mine
        self.given = 0  # how many positions this transaction has given
        self._blocks: list[AbstractContextManager[Any]] = []

    @property
    def in_transaction(self) -> bool:
        return self.raw.info.transaction_status != TransactionStatus.IDLE

    def execute(self, statements: str, bindings: Sequence[Value] = (), /) -> PgCursor:
        cursor = psycopg.RawCursor(self.raw)
        if bindings:
            cursor.execute(_translated(statements).encode(), _storable(bindings), binary=True)
        else:
            cursor.execute(statements.encode(), binary=True)
        return PgCursor(cursor)

    def executemany(self, statements: str, bindings: Iterable[Sequence[Value]], /) -> PgCursor:
        cursor = psycopg.RawCursor(self.raw)
        cursor.executemany(_translated(statements).encode(), [_storable(row) for row in bindings])
        return PgCursor(cursor)

    def begin(self) -> None:
        """Begin a transaction that writes."""
        self.given = 0
        self.execute("begin")

    def close(self) -> None:
        self.raw.close()

    def __enter__(self) -> "PgConnection":
        block = self.raw.transaction()
        block.__enter__()
        self._blocks.append(block)
        return self

    def __exit__(self, *problem: Any) -> bool | None:
        return self._blocks.pop().__exit__(*problem)


def _storable(values: Sequence[Value]) -> list[Value]:
    """PostgreSQL has no NUL in texts."""
    return [value.replace("\0", "\u2400") if type(value) is str and "\0" in value else value for value in values]


def connect(url: str, *, name: str = "jeton", is_mine: Callable[[RunId], bool] = lambda _: False) -> PgConnection:
    """A connection. Raises Refused if there is none to be had."""
    try:
        raw = psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=CONNECT_S,
            application_name=name,
            keepalives_idle=10,
            keepalives_interval=5,
            keepalives_count=3,
        )
    except psycopg.Error as problem:
        raise unreachable(url, problem) from None
    raw.adapters.register_dumper(int, Int8BinaryDumper)
    raw.adapters.register_dumper(float, _FloatDumper)
    raw.adapters.register_dumper(bool, _BoolDumper)
    raw.adapters.register_loader("numeric", _NumberLoader)
    return PgConnection(raw, is_mine)


def safe_url(url: str) -> str:
    """The address without its user, password and options, for people to read."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"


def unreachable(url: str, problem: Exception) -> Refused:
    """What callers are told when the database does not answer."""
    why = str(problem).strip().replace("\n", " ")
    password = urlsplit(url).password
    if password:
        why = why.replace(password, "***")
    remedy = "check that PostgreSQL runs there, and who may connect"
    return Refused("store_failed", f"{safe_url(url)} cannot be used: {why}", remedy)
