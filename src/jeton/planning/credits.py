"""Credits: what nodes cost, who pays, and what happens when there are too few.

A node is paid for before it begins. With too few credits nothing new begins, running tasks are waited for, and the
run ends exhausted; nodes that were not paid for begin in a retry. The same holds in child runs, whose nodes are paid
by the account of the root run: the project, or the root run itself.
"""

from collections.abc import Iterator, Mapping

from jeton.model import decision as d
from jeton.model.definition.task import Action, Task
from jeton.model.definition.workflow import (
    AgentTarget,
    EndTarget,
    GateTarget,
    Library,
    TaskTarget,
    WaitTarget,
    Workflow,
    WorkflowTarget,
)
from jeton.model.failure import RunError
from jeton.model.json import Json
from jeton.model.message import CreditsAsked, CreditsClosed, CreditsGranted, StartRun
from jeton.model.reference import name_of
from jeton.model.state.credits import ACCOUNT, Purse
from jeton.model.state.phase import Dispatched, Executing, Pending, WaitingForAgent, WaitingForSubworkflow
from jeton.model.state.run import RunState, Token
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.cancel import end_run
from jeton.planning.turns.budget import exhausted_turns, price_of

DEFAULT_PRICE = 1


# prices


def prices_of(workflow: Workflow, library: Library, types: Mapping[str, str]) -> dict[str, int]:
    """The price of each node that does not cost one credit. `types`: the types of a flow's nodes."""
    costs = _costs(library.settings)
    if not costs:
        return {}
    default = costs.get("default", DEFAULT_PRICE)
    found: dict[str, int] = {}
    for name, node in workflow.nodes.items():
        known = next((costs[each] for each in _names(node.target, types.get(name)) if each in costs), None)
        steps = _priced_steps(node.target, library, costs) if known is None else None
        price = known if known is not None else default if steps is None else steps
        if price != DEFAULT_PRICE:
            found[name] = price
    return found


def balance_of(settings: Mapping[str, Json]) -> int | None:
    """The initial balance of the project's account; None if there is no limit."""
    credits = settings.get("credits")
    balance = credits.get("balance") if isinstance(credits, dict) else None
    return balance if isinstance(balance, int) and not isinstance(balance, bool) and balance >= 0 else None


def _costs(settings: Mapping[str, Json]) -> dict[str, int]:
    credits = settings.get("credits")
    found = credits.get("costs") if isinstance(credits, dict) else None
    if not isinstance(found, dict):
        return {}
    return {name: cost for name, cost in found.items() if isinstance(cost, int) and cost >= 0}


def _names(target: object, type: str | None) -> Iterator[str]:
    """The names that a node's price may be given under, in order of precedence."""
    if isinstance(target, TaskTarget) and isinstance(target.task, str):
        yield name_of(target.task)
    if type is not None:
        yield type
    match target:
        case GateTarget():
            yield "gate"
        case WaitTarget():
            yield "wait"
        case WorkflowTarget():
            yield "workflow"
        case AgentTarget():
            yield "agent"
        case EndTarget():
            yield "end"
        case None:
            yield "pass"
        case _:
            pass


def _priced_steps(target: object, library: Library, costs: Mapping[str, int]) -> int | None:
    """The sum of the prices of a task's actions, by name or by kind, if any has a price."""
    task = target.task if isinstance(target, TaskTarget) else None
    if isinstance(task, str):
        task = library.tasks.get(name_of(task))
    if not isinstance(task, Task):
        return None
    prices = [_action_price(step.action, library, costs) for step in task.steps]
    priced = [price for price in prices if price is not None]
    return sum(priced) if priced else costs.get("task")


def _action_price(action: str | Action, library: Library, costs: Mapping[str, int]) -> int | None:
    if isinstance(action, str):
        if action in costs:
            return costs[action]
        found = library.actions.get(action)
        if found is None:
            return None
        action = found
    return costs.get(action.kind)


# the run


def purse_for(program: Program, message: StartRun) -> Purse | None:
    """The purse of a new run: its own credits, its caller's account, or the project's account."""
    if message.credits is not None:
        return Purse(free=message.credits)
    account = message.account or (ACCOUNT if program.metered else None)
    return None if account is None else Purse(account)


def pay(program: Program, state: RunState, token: Token) -> list[d.Decision] | None:
    """Take the price of the token's node. None if there are too few credits."""
    purse = state.head.purse
    if purse is None or token.reserved:
        return []
    price = price_of(program, state, token)
    if not purse.short and price <= purse.free:
        return [d.ReserveCredits(token.id, token.node, price)] if price else []
    return None


def await_credits(state: RunState) -> list[d.Decision]:
    purse = state.head.purse
    return [] if purse is None or purse.awaiting or purse.short else [d.AwaitCredits()]


def settle(program: Program, token: Token, decisions: list[d.Decision]) -> list[d.Decision]:
    """Settle the price with the cost that an action reported: less is refunded, more is a shortfall.

    In a fork, a node with a price that paid nothing was paid for by the other run, and is not settled."""
    if token.cost is None or (token.reserved == 0 and program.price(token.node)):
        return decisions
    refund, beyond = max(0, token.reserved - token.cost), max(0, token.cost - token.reserved)
    return [d.SettleCredits(token.id, token.node, token.cost, refund, beyond), *decisions]


def plan_credits(program: Program, state: RunState, now: int) -> list[d.Decision]:
    """Ask for credits, or end the run as exhausted, if nodes wait to be paid for."""
    head = state.head
    purse = head.purse
    if purse is None or not (purse.awaiting or purse.short) or purse.asked or head.paused:
        return []
    under_way = [token for token in state.tokens.values() if not token.abandoned]
    unpaid = [token for token in under_way if _is_unpaid(token)]
    prices = [price_of(program, state, token) for token in unpaid]
    missing = max(0, sum(prices) - purse.free)
    if not purse.short:
        if not prices:
            return []
        if missing and purse.account is not None and purse.dry != head.entries:
            return [d.AskForCredits(now, missing)]
        if program.talk is not None:
            return exhausted_turns(state, unpaid, missing, now)
        return [d.DeclareShort(missing)]
    if any(_is_at_work(state, token) for token in under_way):
        return []
    why = "the run that called it ran out of credits"
    if prices:
        nodes = "1 node" if len(prices) == 1 else f"{len(prices)} nodes"
        lack = "1 credit is" if missing == 1 else f"{missing} credits are"
        why = f"{nodes} could not be paid for: {lack} missing"
    used = purse.used + purse.below
    message = f"{why}, and {used} {'was' if used == 1 else 'were'} used"
    return end_run(state, now, "exhausted", RunError("credits_exhausted", message))


def _is_at_work(state: RunState, token: Token) -> bool:
    """Whether a worker, a run or another conversation works for a token."""
    if isinstance(token.phase, WaitingForAgent):
        return token.phase.conversation != state.head.run
    return isinstance(token.phase, Dispatched | Executing | WaitingForSubworkflow)


def _is_unpaid(token: Token) -> bool:
    """Whether a token waits to begin, and its price was not paid. A call of an agent may wait after that."""
    return type(token.phase) is Pending and not token.reserved


def plan_short(state: RunState) -> list[d.Decision]:
    """The parent has too few credits, or a child run is exhausted. Of a conversation only turns are exhausted."""
    purse = state.head.purse
    return [] if purse is None or purse.short or state.has_talk else [d.DeclareShort(0)]


def plan_account(state: RunState, message: CreditsAsked | CreditsClosed) -> list[d.Decision]:
    """Serve a run below, which asks for credits or is over, as the account of the tree."""
    purse = state.head.purse
    if purse is None:
        return []
    match message:
        case CreditsAsked(run=run, amount=amount):
            return [d.LendCredits(run, 0 if purse.short else min(purse.free, amount))]
        case CreditsClosed(run=run, used=used):
            # a run that was lent nothing by this run returns nothing
            return [d.ReclaimCredits(run, used)] if run in state.lent else []


# the account


def serve(balance: int, granted: int, message: CreditsAsked | CreditsClosed) -> tuple[int, int, CreditsGranted | None]:
    """The account's new balance, the run's new grant, and the reply to a message of a run.

    At its end a run returns what it did not use, also of a grant that did not reach it. A run from another store
    returns nothing, because it was granted nothing here."""
    match message:
        case CreditsAsked(at, amount=amount):
            given = min(balance, amount)
            return balance - given, granted + given, CreditsGranted(at, given)
        case CreditsClosed(used=used):
            return balance + max(0, granted - used), 0, None
