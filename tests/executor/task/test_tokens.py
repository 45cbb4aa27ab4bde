"""What model calls used, as functions say it: at the prices of a profile, in whole numbers, wherever they run."""

import msgspec
import pytest

import jeton
from jeton.model.definition.profile import ModelProfile, Prices, whole_credits
from jeton.model.definition.task import Action
from jeton.model.json import Json, JsonObject
from jeton.model.note import CostNote, Note, TokensNote
from tests.executor.actions.given_action import Bench, failed, succeeded
from tests.executor.workers import isolated

PROFILES = {
    "fast": ModelProfile("openai", "small", prices=Prices(input=200, output=600)),
    "free": ModelProfile("openai", "local", prices=Prices()),
    "unpriced": ModelProfile("openai", "other"),
}


async def ask_on_the_loop(calls: list[tuple[str, int, int]], cost: int = 0) -> None:
    isolated.ask_models(calls, cost)


EVERYWHERE = [
    pytest.param(isolated.ask_models.action, id="in a thread"),
    pytest.param(jeton.action(ask_on_the_loop).action, id="on the loop"),
    pytest.param(msgspec.structs.replace(isolated.ask_models.action, isolation="process"), id="in a process"),
]


def costs(notes: list[Note]) -> list[int]:
    return [note.credits for note in notes if isinstance(note, CostNote)]


@pytest.mark.parametrize("given", EVERYWHERE)
async def test_tokens_are_told_of_and_become_a_cost(bench: Bench, given: Action) -> None:
    bench.profiles = PROFILES
    asked: JsonObject = {"calls": [["fast", 10_000, 3_000], ["fast", 1, 0], ["unpriced", 7, 8]]}
    succeeded(await bench.call(given, asked))
    assert bench.heard == [
        TokensNote("s0", "fast", 10_000, 3_000, 3_800_000),
        CostNote("s0", 4),
        TokensNote("s0", "fast", 1, 0, 200),
        CostNote("s0", 4),
        TokensNote("s0", "unpriced", 7, 8),
    ]


@pytest.mark.parametrize("given", EVERYWHERE)
async def test_what_is_said_several_times_is_added_up_once(bench: Bench, given: Action) -> None:
    bench.profiles = PROFILES
    succeeded(await bench.call(given, {"calls": [["fast", 5_000, 0]], "cost": 2}))
    assert costs(bench.heard) == [1, 3, 5]


@pytest.mark.parametrize("given", EVERYWHERE)
async def test_a_profile_that_nobody_wrote_is_an_error_at_once(bench: Bench, given: Action) -> None:
    bench.profiles = PROFILES
    failure = failed(await bench.call(given, {"calls": [["fast", 1, 1], ["fats", 1, 1], ["fast", 1, 1]]}))
    assert (failure.type, "there is no model profile 'fats'" in failure.message) == ("Refused", True)
    assert "fast, free, unpriced" in failure.message
    assert len([note for note in bench.heard if isinstance(note, TokensNote)]) == 1


async def test_many_small_calls_are_rounded_once(bench: Bench) -> None:
    """A thousand calls for a thousandth of a credit each are one credit, and the first of them is one already."""
    bench.profiles = PROFILES
    calls: list[Json] = [["fast", 5, 0] for _ in range(1000)]
    succeeded(await bench.call(isolated.ask_models.action, {"calls": calls}))
    assert (costs(bench.heard)[0], costs(bench.heard)[-1]) == (1, 1)


@pytest.mark.parametrize(
    ("profile", "then"),
    [
        pytest.param("unpriced", [], id="no prices: it says nothing of a cost"),
        pytest.param("free", [0], id="prices of nothing: it cost nothing"),
    ],
)
async def test_without_prices_tokens_are_counted_only(bench: Bench, profile: str, then: list[int]) -> None:
    bench.profiles = PROFILES
    succeeded(await bench.call(isolated.ask_models.action, {"calls": [[profile, 9, 9]]}))
    assert costs(bench.heard) == then
    assert bench.heard[0] == TokensNote("s0", profile, 9, 9, 0 if then else None)


@pytest.mark.parametrize("count", [-1, True, 1.5, 10**9 + 1])
async def test_tokens_come_in_whole_numbers(bench: Bench, count: float) -> None:
    bench.profiles = PROFILES

    async def ask() -> None:
        jeton.current_call().tokens("fast", input=count)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    failure = failed(await bench.call(jeton.action(ask).action))
    assert (failure.type, "whole number" in failure.message) == ("ValueError", True)
    assert bench.heard == []


async def test_the_largest_call_at_the_highest_price_can_be_told(bench: Bench) -> None:
    bench.profiles = {"gold": ModelProfile("p", prices=Prices(10**9, 10**9))}
    succeeded(await bench.call(isolated.ask_models.action, {"calls": [["gold", 10**9, 10**9]]}))
    assert costs(bench.heard) == [2 * 10**12]
    assert [msgspec.json.decode(msgspec.json.encode(note), type=Note) for note in bench.heard] == bench.heard


@pytest.mark.parametrize(
    ("millionths", "credits"),
    [
        pytest.param(0, 0, id="nothing"),
        pytest.param(1, 1, id="the smallest part is one"),
        pytest.param(1_000_000, 1, id="exactly one"),
        pytest.param(1_000_001, 2, id="a little more is two"),
        pytest.param(9_007_199_254_740_993 * 1_000_000 + 1, 9_007_199_254_740_994, id="no float comes near it"),
    ],
)
def test_parts_of_a_credit_are_rounded_up(millionths: int, credits: int) -> None:
    assert whole_credits(millionths) == credits
