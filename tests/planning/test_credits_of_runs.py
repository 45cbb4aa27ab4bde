"""What a run may spend, what its nodes take of it, and what happens when there is too little."""

import pytest

from jeton.model import decision as d
from jeton.model.failure import RunError
from jeton.model.ids import RunId, TokenId
from jeton.model.json import JsonObject
from jeton.model.message import (
    ChildEnded,
    CreditsEnded,
    CreditsGranted,
    ForkRun,
    PauseRun,
    StartRun,
    TaskNoted,
)
from jeton.model.note import CostNote
from jeton.model.state.credits import ACCOUNT, Purse
from jeton.planning.credits import await_credits, pay, plan_credits, plan_short, purse_for, settle
from jeton.planning.program.workflow import Program
from tests.planning.given import Given, at, before, done, given, started, token_at, workflow

NOW = 9
ZERO = TokenId(0)
COSTS: JsonObject = {"pass": 0, "work": 3}
TEXT = "nodes: {s: {}, a: {task: work}}\ntransitions: [{from: s, to: a, spawn_count: 2}]"
ONE = workflow("nodes: {a: {task: work}}")
TWO = workflow(TEXT, {"credits": {"costs": COSTS}})
METERED = workflow(TEXT, {"credits": {"balance": 9, "costs": COSTS}})
CALL = workflow("nodes: {a: {workflow: child}}")
GATE = workflow("""
nodes: {s: {}, g: {gate: {title: t}}, a: {task: work}}
transitions: [{from: s, to: g}, {from: s, to: a}]
""")
OVERTAKEN = workflow(
    """
nodes: {s: {}, a: {task: work}, p: {}, end: {gate: {title: t}}}
transitions:
- {from: s, to: a}
- {from: s, to: p}
- {from: a, to: end, synchronization: {strategy: any}}
- {from: p, to: end, synchronization: {strategy: any}}
""",
    {"credits": {"costs": {"gate": 0, **COSTS}}},
)


@pytest.mark.parametrize(
    ("program", "message", "then"),
    [
        pytest.param(ONE, StartRun(0, {}), None, id="without credits and account there is no limit"),
        pytest.param(ONE, StartRun(0, {}, credits=3), Purse(free=3), id="what it is given is all it has"),
        pytest.param(METERED, StartRun(0, {}), Purse(ACCOUNT), id="else it has it from the project's account"),
        pytest.param(METERED, StartRun(0, {}, credits=0), Purse(), id="nothing given is given too"),
        pytest.param(
            METERED,
            StartRun(0, {}, account=RunId("p")),
            Purse(RunId("p")),
            id="a called run has it from whoever pays above it",
        ),
    ],
)
def test_what_a_new_run_may_spend(program: Program, message: StartRun, then: Purse | None) -> None:
    assert purse_for(program, message) == then


@pytest.mark.parametrize(
    ("run", "node", "then"),
    [
        pytest.param(at("a", ONE, started()), "a", [], id="without a purse everything is free"),
        pytest.param(
            at("a", ONE, started(credits=1)), "a", [d.ReserveCredits(ZERO, "a", 1)], id="a node's price is taken"
        ),
        pytest.param(
            at("a", TWO, started(credits=3)), "a", [d.ReserveCredits(TokenId(1), "a", 3)], id="all that it costs"
        ),
        pytest.param(at("a", TWO, started(credits=2)), "a", None, id="with too little it cannot begin"),
        pytest.param(at("s", TWO, started(credits=0)), "s", [], id="what costs nothing begins without any"),
        pytest.param(
            given(ONE, PauseRun(0), started(credits=9), CreditsEnded(1)),
            "a",
            None,
            id="where the run is short nothing begins, however much there is",
        ),
    ],
)
def test_a_node_is_paid_for_before_it_begins(run: Given, node: str, then: list[d.Decision] | None) -> None:
    state = run.state()
    assert pay(run.program, state, token_at(state, node)) == then


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            before(d.AwaitCredits, TWO, started(credits=4)), [d.AwaitCredits()], id="a node waits to be paid for"
        ),
        pytest.param(given(METERED, started()), [], id="that is said once"),
        pytest.param(given(TWO, started(credits=4)), [], id="and no more when there will not be enough"),
        pytest.param(given(ONE, started()), [], id="without a purse nobody waits"),
    ],
)
def test_a_node_that_waits_to_be_paid_for(run: Given, then: list[d.Decision]) -> None:
    assert await_credits(run.state()) == then


def used(credits: int, *first: ForkRun) -> Given:
    """The task of a node that cost three credits said what it used."""
    return given(TWO, started(credits=9), *first, TaskNoted(1, TokenId(1), 1, CostNote("s", credits)))


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(given(TWO, started(credits=9)), [], id="who does not say what it used has used its price"),
        pytest.param(used(3), [d.SettleCredits(TokenId(1), "a", 3)], id="its price"),
        pytest.param(used(1), [d.SettleCredits(TokenId(1), "a", 1, refund=2)], id="what it did not use is put back"),
        pytest.param(
            used(5),
            [d.SettleCredits(TokenId(1), "a", 5, shortfall=2)],
            id="what it used beyond its price is a shortfall",
        ),
        pytest.param(
            used(1, ForkRun(1, RunId("old"), 0, 0)), [], id="what another run paid for is that run's, not put back here"
        ),
    ],
)
def test_what_a_task_said_it_used(run: Given, then: list[d.Decision]) -> None:
    state = run.state()
    rest: list[d.Decision] = [d.AwaitCredits()]
    assert settle(run.program, state.tokens[TokenId(1)], rest) == [*then, *rest]


def exhausted(message: str, tokens: tuple[tuple[int, int], ...]) -> list[d.Decision]:
    return [
        d.EndTokens(tokens, "cancelled", "run exhausted: credits_exhausted"),
        d.EndRun(NOW, "exhausted", error=RunError("credits_exhausted", message)),
    ]


SPENT = RunError("credits_exhausted", "no more")


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(given(ONE, started()), [], id="without a purse nothing is asked"),
        pytest.param(given(TWO, started(credits=9)), [], id="where everything is paid for, neither"),
        pytest.param(
            before(d.AskForCredits, METERED, started()),
            [d.AskForCredits(NOW, 6)],
            id="the account is asked for all that is missing",
        ),
        pytest.param(given(METERED, started()), [], id="and not again before it has answered"),
        pytest.param(
            given(OVERTAKEN, started(credits=2)),
            [],
            id="a node that ended while it waited to be paid for lacks nothing",
        ),
        pytest.param(
            before(d.DeclareShort, METERED, started(), CreditsGranted(1, 4)),
            [d.DeclareShort(2)],
            id="if it gave too little the run is short of the rest",
        ),
        pytest.param(
            before(d.DeclareShort, TWO, started(credits=4)),
            [d.DeclareShort(2)],
            id="without an account it is so at once",
        ),
        pytest.param(given(TWO, started(credits=4)), [], id="what is running is waited for"),
        pytest.param(
            before(d.EndTokens, TWO, started(credits=4), done(1)),
            exhausted("1 node could not be paid for: 2 credits are missing, and 3 were used", ((2, 2),)),
            id="then the run ends exhausted, and says what is missing",
        ),
        pytest.param(
            before(d.EndTokens, TWO, started(credits=0)),
            exhausted("2 nodes could not be paid for: 6 credits are missing, and 0 were used", ((1, 2),)),
            id="a run that has nothing ends so before anything ran",
        ),
        pytest.param(
            before(d.EndTokens, GATE, started(credits=2)),
            exhausted("1 node could not be paid for: 1 credit is missing, and 2 were used", ((1, 2),)),
            id="people are not waited for",
        ),
        pytest.param(given(ONE, PauseRun(0), started(credits=0)), [], id="a run that is paused does nothing of this"),
        pytest.param(
            before(d.EndTokens, CALL, started(credits=1), ChildEnded(3, ZERO, RunId("r.0"), "exhausted", error=SPENT)),
            exhausted("1 node could not be paid for: 1 credit is missing, and 1 was used", ((0, 0),)),
            id="a call that was exhausted is to be paid for again",
        ),
        pytest.param(
            before(d.EndTokens, GATE, started(credits=9), CreditsEnded(1), done(2)),
            exhausted("the run that called it ran out of credits, and 3 were used", ((1, 1),)),
            id="one whose caller is short ends so behind what was running",
        ),
    ],
)
def test_a_run_in_which_nothing_moves(run: Given, then: list[d.Decision]) -> None:
    assert plan_credits(run.program, run.state(), NOW) == then


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(given(ONE, started(credits=9)), [d.DeclareShort(0)], id="nothing new begins here either"),
        pytest.param(given(ONE, started(credits=9), CreditsEnded(1)), [], id="which is said once"),
        pytest.param(given(ONE, started()), [], id="unless this run has no purse"),
    ],
)
def test_a_run_whose_caller_is_short(run: Given, then: list[d.Decision]) -> None:
    assert plan_short(run.state()) == then
