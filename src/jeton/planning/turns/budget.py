"""Budgets: what the next model call may cost, and what follows when the credits for it are used up.

Before a call the most that it may cost is set against the budgets of its turn and of the conversation, and reserved of
what its agent has for the day: what the request has, by estimate, and the longest answer. What it did cost is counted
when the reply comes. The model calls that keep memories and make summaries are counted too.
"""

from collections.abc import Iterable
from functools import cache

from jeton.expression.schema import SchemaValidator, compile_schema
from jeton.model import decision as d
from jeton.model.chat import ModelReply
from jeton.model.definition.profile import TOKENS_PER_PRICE, whole_credits
from jeton.model.json import Json
from jeton.model.message import AnswerGate
from jeton.model.note import Note, TokensNote
from jeton.model.reference import name_of
from jeton.model.state.phase import GateAnswer
from jeton.model.state.ranges import to_ranges
from jeton.model.state.run import RunState, Token
from jeton.model.state.talk import Turn, TurnError, place_of
from jeton.model.transcript import json_text
from jeton.planning.program.talk import BUDGET_SCHEMA
from jeton.planning.program.workflow import Program
from jeton.planning.schema_problem import schema_problem
from jeton.planning.turns.context import recent_turn
from jeton.planning.turns.day import day_of, day_problem, plan_day
from jeton.planning.turns.places import agent_in, kind_of_node, new_call, program_of, talk_of, turn_of
from jeton.planning.turns.stop import end_turn
from jeton.planning.turns.window import BYTES_PER_TOKEN, answer_room, compaction_input, estimate

UPKEEP = ("extraction", "compaction")  # kinds of calls besides those of moves that call a model


@cache
def _validator() -> SchemaValidator | None:
    return compile_schema(BUDGET_SCHEMA)


def most_cost(program: Program, state: RunState, turn: Turn) -> int:
    """The most that the next model call of a turn may cost, in millionths of a credit."""
    agent = agent_in(program, turn)
    prices = agent.profile.prices
    return 0 if prices is None else prices.millionths(estimate(state.talk, turn, agent), answer_room(agent.profile))


def most_cost_of(program: Program, state: RunState, token: Token) -> int:
    """The most that a call of any kind may cost: nothing, if it is not a model that is called."""
    turn = turn_of(state, token)
    kind, agent = kind_of_node(token.node), agent_in(program, turn)
    if kind == "model":
        return most_cost(program, state, turn)
    prices = agent.profile.prices
    if kind not in UPKEEP or prices is None or program_of(program, turn).nodes[token.node].task is None:
        return 0
    given: Json = recent_turn(state, turn.number)
    if kind == "compaction":
        given = compaction_input(state, place_of(token.path)[1] or 0)
    tokens = (len(json_text(given)) + agent.overhead) // BYTES_PER_TOKEN
    return prices.millionths(tokens, answer_room(agent.profile))


def price_of(program: Program, state: RunState, token: Token) -> int:
    """The price of a call, in credits: of a model call by the prices of its tokens, of others that of their node."""
    if program.talk is not None and kind_of_node(token.node) == "model":
        turn = turn_of(state, token)
        if agent_in(program, turn).profile.prices is not None:
            return whole_credits(most_cost(program, state, turn))
    return program.price(token.node)


def spent(program: Program, turn: Turn, reply: ModelReply) -> list[d.Decision]:
    """What a model call cost, by the prices of the profile that answered."""
    profiles = talk_of(program_of(program, turn)).library.model_profiles
    profile = profiles.get(name_of(reply.profile or agent_in(program, turn).persona.model_profile))
    if profile is None or profile.prices is None:
        return []
    cost = profile.prices.millionths(reply.usage.input_tokens, reply.usage.output_tokens)
    return [d.SpendBudget(turn.number, cost)] if cost else []


def noted(program: Program, state: RunState, token: Token, note: Note) -> list[d.Decision]:
    """What a model call that keeps memories or makes summaries cost, as its task reports it."""
    if program.talk is None or not isinstance(note, TokensNote) or not note.millionths:
        return []
    if kind_of_node(token.node) not in UPKEEP:
        return []
    return [d.SpendBudget(turn_of(state, token).number, note.millionths, upkeep=True)]


def spent_by_run(program: Program, state: RunState, token: Token, millionths: int, now: int) -> list[d.Decision]:
    """What the model calls of a persona's own workflow cost: one that assembles, keeps memories, or makes summaries.

    Nothing was reserved for it, because nobody knows beforehand what a workflow costs."""
    if program.talk is None or not millionths or kind_of_node(token.node) not in ("assembly", *UPKEEP):
        return []
    turn = turn_of(state, token)
    budget = agent_in(program, turn).persona.budget
    spent: list[d.Decision] = [d.SpendBudget(turn.number, millionths, upkeep=True)]
    reserved = turn.day is not None and turn.day.phase == "granted"
    if budget is None or budget.agent_day is None or reserved:
        return spent
    return [*spent, d.ReturnBudget(now, turn.agent, day_of(now), -millionths)]


def settle_day(turn: Turn, now: int) -> list[d.Decision]:
    """Give back what a call that is over did not use of its agent's day."""
    return [] if turn.day is None else [d.SettleBudget(turn.number, now)]


def short_of(program: Program, state: RunState, token: Token, now: int) -> str | list[d.Decision] | None:
    """Which budget a call may exceed, or decisions that it waits for. None if it may be made."""
    turn = turn_of(state, token)
    budget = agent_in(program, turn).persona.budget
    if budget is None or kind_of_node(token.node) not in ("model", *UPKEEP):
        return None
    cost = most_cost_of(program, state, token)
    problem = _over(program, state, turn, cost)
    return problem if problem is not None else plan_day(turn, budget.agent_day, cost, now)


def plan_budget(program: Program, state: RunState, token: Token, now: int, problem: str) -> list[d.Decision]:
    """End a turn whose next model call may cost more than its budget has left, or ask people for more.

    The call is given up and made again when they answer, because a call that is under way would look like work."""
    turn = turn_of(state, token)
    agent = agent_in(program, turn)
    if agent.persona.budget is None or agent.persona.budget.on_empty == "end":
        return end_turn(state, turn, now, "exhausted", TurnError("budget_exhausted", problem))
    given_up = d.EndTokens(to_ranges((token.id,)), "cancelled", "it waits for credits")
    return [given_up, new_call(state, agent.node("budget"), turn.number)]


def _over(program: Program, state: RunState, turn: Turn, cost: int) -> str | None:
    """Which budget the next model call would exceed, if any."""
    budget, head = agent_in(program, turn).persona.budget, state.talk.head
    if budget is None:
        return None
    limits = (
        ("turn", budget.turn, turn.added, turn.spent),
        ("conversation", budget.conversation, head.added, head.spent),
    )
    for name, limit, added, used in limits:
        if limit is not None and used + cost > (limit + added) * TOKENS_PER_PRICE:
            left = f"{whole_credits(used)} of the {limit + added} credits for this {name} are used"
            return f"{left}, and the next model call may cost {whole_credits(cost)}"
    return None if budget.agent_day is None else day_problem(turn, cost)


def plan_budget_gate(program: Program, state: RunState, token: Token, now: int) -> list[d.Decision]:
    """Ask people for more credits."""
    turn = turn_of(state, token)
    lack = _over(program, state, turn, most_cost(program, state, turn))
    title = f"{turn.agent} needs more credits: {lack or 'there are enough now'}"
    return [d.OpenGate(token.id, token.node, now, title)]


def plan_budget_answer(program: Program, state: RunState, token: Token, message: AnswerGate) -> list[d.Decision]:
    """Add the credits that a person gives to the budget; with none, the turn ends."""
    problem = schema_problem(_validator(), message.value, "answer")
    if problem is not None:
        return [d.ReplyTo(message.id, accepted=False, why=problem)]
    turn, credits = turn_of(state, token), message.value.get("credits") if isinstance(message.value, dict) else 0
    taken: list[d.Decision] = [
        d.TakeAnswer(token.id, token.node, GateAnswer(message.value, message.by)),
        d.ReplyTo(message.id, accepted=True),
        d.RouteToken(token.id, token.node, "completed"),
    ]
    if isinstance(credits, int) and credits > 0:
        again = new_call(state, agent_in(program, turn).node("model"), turn.number)
        return [*taken, d.AddBudget(turn.number, credits), again]
    error = TurnError("budget_exhausted", "nobody gave it more credits")
    return [*taken, *end_turn(state, turn, message.at, "exhausted", error, token)]


def exhausted_turns(state: RunState, unpaid: Iterable[Token], missing: int, now: int) -> list[d.Decision]:
    """End the turns whose calls cannot be paid for. The conversation stays, and may be paid for again later."""
    lack = "1 credit is" if missing == 1 else f"{missing} credits are"
    error = TurnError("credits_exhausted", f"the next call could not be paid for: {lack} missing")
    turns = {token.path.split(".")[1]: turn_of(state, token) for token in unpaid}
    return [each for turn in turns.values() for each in end_turn(state, turn, now, "exhausted", error)]
