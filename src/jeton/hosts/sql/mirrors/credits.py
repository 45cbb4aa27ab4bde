"""The tables of the project's account, and of what was used."""

from collections.abc import Mapping, Sequence

from jeton.actor.accounts import AccountState, declare
from jeton.actor.queries.listing import UsageTotal, UsedBy
from jeton.actor.rows import Account, TokensUsed, Usage
from jeton.actor.whole.digests import row_digest
from jeton.hosts.sql.connection import Connection, upsert
from jeton.hosts.sql.rows import Write, put_account, stored_account
from jeton.hosts.sql.store import Store
from jeton.model.ids import RunId, names_below
from jeton.model.state.credits import ACCOUNT

_SPENT = "select workflow, credits, shortfall from usage where run = ? and node = ? and day = ?"
_SPEND = upsert("usage", ("run", "node", "day"), ("workflow", "credits", "shortfall", "digest"))
_COUNTED = "select workflow, input, output from tokens_used where run = ? and node = ? and day = ? and profile = ?"
_COUNT = upsert("tokens_used", ("run", "node", "day", "profile"), ("workflow", "input", "output", "digest"))


def open_account(db: Connection, declared: int) -> None:
    """Open the account, or change what the settings declare."""
    found = stored_account(db, ACCOUNT)
    account = declare(None if found is None else AccountState(*found), declared)
    put_account(db, account.balance, account.declared)


def top_up(db: Connection, amount: int) -> bool:
    """Add credits to the account. Returns False if there is none."""
    found = stored_account(db, ACCOUNT)
    if found is not None:
        put_account(db, found[0] + amount, found[1])
    return found is not None


class UsageMirror:
    """Fulfils `jeton.hosts.sql.rows.Mirror`."""

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        for write in writes:
            run, workflow = write.actor.run, write.turn.head.workflow
            for spent in write.turn.queries.credits:
                place = run, spent.node, spent.day
                _add(db, "usage", (_SPENT, _SPEND), place, workflow, (spent.credits, spent.shortfall))
            for used in write.turn.queries.tokens:
                of = run, used.node, used.day, used.profile
                _add(db, "tokens_used", (_COUNTED, _COUNT), of, workflow, (used.input, used.output))


def _add(
    db: Connection, table: str, sql: tuple[str, str], place: tuple[str, ...], workflow: str, more: tuple[int, int]
) -> None:
    """Add to the two numbers of a row, which is there if anything was used before."""
    known = list(db.execute(sql[0], place))
    name, first, second = known[0] if known else (workflow, 0, 0)
    row = *place, name, first + more[0], second + more[1]
    db.execute(sql[1], (*row, row_digest(table, *row)))


def account_in(store: Store) -> Account | None:
    """The project's account; None if it has none, and so no limit."""
    with store.snapshot() as db:
        found = list(db.execute("select balance from accounts where name = ?", (ACCOUNT,)))
        granted: int = db.execute("select coalesce(sum(amount), 0) from grants").get
    return Account(found[0][0], granted) if found else None


def usage_in(store: Store, run: RunId | None, workflow: str | None, day: str | None, *, below: bool) -> list[Usage]:
    """What was used, by run, node and day; with `below`, also by the runs that a run called."""
    wanted: dict[str, tuple[str | None, ...]] = {"workflow = ?": (workflow,), "day = ?": (day,)}
    if run is not None and below:
        wanted["(run = ? or (run > ? and run < ?))"] = run, *names_below(run)
    else:
        wanted["run = ?"] = (run,)
    where, values = _conditions(wanted)
    found: dict[tuple[str, str, str], Usage] = {}
    with store.snapshot() as db:
        query = f"select run, node, day, workflow, credits, shortfall from usage{where}"
        for name, node, on, of, credits, shortfall in db.execute(query, values):
            found[on, name, node] = Usage(name, node, on, of, credits, shortfall, {})
        query = f"select run, node, day, workflow, profile, input, output from tokens_used{where}"
        for name, node, on, of, profile, tokens_in, tokens_out in db.execute(query, values):
            usage = found.setdefault((on, name, node), Usage(name, node, on, of, 0, 0, {}))
            usage.tokens[profile] = TokensUsed(tokens_in, tokens_out)
    return [found[place] for place in sorted(found)]


_GROUPS: dict[UsedBy, str] = {"day": "day", "workflow": "workflow", "node": "workflow, node", "profile": "profile"}


def totals_in(db: Connection, by: UsedBy, first: str | None, last: str | None) -> list[UsageTotal]:
    """What was used from one day to another. Credits have no profile: what nodes paid is under none of them."""
    columns = _GROUPS[by]
    where, values = _conditions({"day >= ?": (first,), "day <= ?": (last,)})
    names = columns.split(", ")
    spent = f"select {columns}, credits, shortfall, 0 as input, 0 as output from usage{where} union all"
    counted = f"select {columns}, 0 as credits, 0 as shortfall, input, output from tokens_used{where}"
    query = (
        f"select {columns}, sum(credits), sum(shortfall), sum(input), sum(output)"
        f" from ({'' if by == 'profile' else spent} {counted}) group by {columns} order by {columns}"
    )
    found: list[UsageTotal] = []
    for row in db.execute(query, values if by == "profile" else (*values, *values)):
        group, (credits, shortfall, read, written) = dict(zip(names, row, strict=False)), row[len(names) :]
        found.append(UsageTotal(**group, credits=credits, shortfall=shortfall, input=read, output=written))
    return found


def _conditions(wanted: Mapping[str, tuple[str | None, ...]]) -> tuple[str, tuple[str, ...]]:
    """A `where` of the conditions that have values, and the values. A condition that allows for null uses no index."""
    given = {condition: values for condition, values in wanted.items() if None not in values}
    where = f" where {' and '.join(given)}" if given else ""
    return where, tuple(value for values in given.values() for value in values if value is not None)
