"""The project's credit account, and what runs used."""

import msgspec

from jeton.actor.rows import Usage
from jeton.engine.arguments import check_credits, check_maybe_texts
from jeton.engine.lookup import Lookup
from jeton.model.failure import Refused
from jeton.model.ids import RunId


class CreditsView(msgspec.Struct, frozen=True):
    """The project's account: what is left, and what unfinished runs were granted. Without one there is no limit."""

    balance: int | None
    granted: int


class TokensView(msgspec.Struct, frozen=True):
    """Tokens that model calls read and wrote."""

    input: int
    output: int


class UsageView(msgspec.Struct, frozen=True):
    """What a node of a run cost on a day, in UTC. `shortfall` is what it used beyond its price, unpaid.

    `tokens` is what its model calls used, by profile, including failed attempts."""

    run_id: RunId
    workflow: str
    node: str
    day: str
    credits: int
    shortfall: int
    tokens: dict[str, TokensView] = {}


class Credits:
    """The project's account, and what runs used."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def account(self) -> CreditsView:
        """The state of the project's account."""
        found = await self._lookup.host.reads.account()
        return CreditsView(None, 0) if found is None else CreditsView(found.balance, found.granted)

    async def top_up(self, amount: int) -> CreditsView:
        """Add credits to the project's account. Exhausted runs go on in a `retry`."""
        check_credits("amount", amount, least=1)
        if not await self._lookup.host.top_up(amount):
            problem = "the project has no account, and so no limit"
            raise Refused("no_account", problem, "set project.settings.credits.balance, and deploy")
        return await self.account()

    async def usage(
        self, run: str | None = None, *, workflow: str | None = None, day: str | None = None, tree: bool = False
    ) -> tuple[UsageView, ...]:
        """What was used, by day, run and node."""
        check_maybe_texts(workflow=workflow, day=day)
        known = None if run is None else (await self._lookup.row(run)).run
        found = await self._lookup.host.reads.usage(run=known, workflow=workflow, day=day, below=tree)
        return tuple(map(_view, found))


def _view(usage: Usage) -> UsageView:
    tokens = {profile: TokensView(used.input, used.output) for profile, used in usage.tokens.items()}
    return UsageView(usage.run, usage.workflow, usage.node, usage.day, usage.credits, usage.shortfall, tokens)
