"""The project's account, and what was used.

What a run asks of the account is answered in the transaction of the commit that asks, and the answer lies in the run's
inbox since then. So nothing is lost or counted twice, whoever dies when.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from jeton.hosts.sqlite.connect import Connection, Value
from jeton.hosts.sqlite.rows import Write
from jeton.hosts.sqlite.store import Store
from jeton.model.credits import ACCOUNT
from jeton.model.decision import ReserveCredits, SettleCredits
from jeton.model.ids import RunId

_SPEND = """
insert into usage(run, node, day, workflow, credits, shortfall) values(?, ?, ?, ?, ?, ?)
on conflict(run, node, day) do update set
    credits = credits + excluded.credits, shortfall = shortfall + excluded.shortfall
"""


class Account(msgspec.Struct, frozen=True):
    """What is there, and what runs under way have of it."""

    balance: int
    granted: int


class Usage(msgspec.Struct, frozen=True):
    """What a node of a run cost on a day, in UTC."""

    run: RunId
    node: str
    day: str
    workflow: str
    credits: int
    shortfall: int


def open_account(db: Connection, declared: int) -> None:
    """As the settings say. If they said something else before, the difference is added, or taken as far as it goes."""
    query = """
    insert into accounts(name, balance, declared) values(?1, ?2, ?2)
    on conflict(name) do update set balance = max(0, balance + ?2 - declared), declared = ?2
    """
    db.execute(query, (ACCOUNT, declared))


def top_up(db: Connection, amount: int) -> bool:
    """Whether there is an account."""
    return bool(
        list(db.execute("update accounts set balance = balance + ? where name = ? returning 1", (amount, ACCOUNT)))
    )


class UsageMirror:
    """Fulfils `jeton.hosts.sqlite.rows.Mirror`."""

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        rows: list[tuple[Value, ...]] = []
        for write in writes:
            head, entry = write.live.state.head, write.commit.entry
            if head.purse is None or entry is None:
                continue
            day = datetime.fromtimestamp(entry.at / 1000, UTC).date().isoformat()
            for decision in entry.decisions:
                match decision:
                    case ReserveCredits(_, node, amount):
                        rows.append((head.run, node, day, head.workflow, amount, 0))
                    case SettleCredits(_, node, _, refund, shortfall):
                        rows.append((head.run, node, day, head.workflow, -refund, shortfall))
                    case _:
                        pass
        if rows:
            db.executemany(_SPEND, rows)


def account_in(store: Store) -> Account | None:
    """The project's account; none: there is no limit."""
    with store.snapshot() as db:
        found = list(db.execute("select balance from accounts where name = ?", (ACCOUNT,)))
        granted: int = db.execute("select coalesce(sum(amount), 0) from grants").get
    return Account(found[0][0], granted) if found else None


def usage_in(store: Store, run: RunId | None, workflow: str | None, day: str | None) -> list[Usage]:
    """What was used, by run, node and day."""
    query = (
        "select run, node, day, workflow, credits, shortfall from usage where (?1 is null or run = ?1)"
        " and (?2 is null or workflow = ?2) and (?3 is null or day = ?3) order by day, run, node"
    )
    with store.snapshot() as db:
        return [Usage(*found) for found in db.execute(query, (run, workflow, day))]
