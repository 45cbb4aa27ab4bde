"""Every scenario of conversations, on every host there is."""

import asyncio

import pytest

from jeton.engine.talk.conversation import Conversation
from tests.conformance.case import Data
from tests.conformance.hosts import Open, simulated, sqlite
from tests.conformance.rows.talk import depth, people, tools, turns
from tests.conformance.talk import LONGEST_S, TalkCase, Talked, agent, all_ended, calls, library_of, play_talk, says

HOSTS = [pytest.param(simulated, id="simulated"), pytest.param(sqlite, id="sqlite")]
ROWS = [*turns.ROWS, *people.ROWS, *tools.ROWS, *depth.ROWS]
TOLD = ("memory_extraction_failed", "compaction_failed")  # issues whose value is a text


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("case", ROWS)
async def test_talk(case: TalkCase, host: Open) -> None:
    async with host() as opened:
        seen = await play_talk(case, opened)
    check_talk(case, seen)


def check_talk(case: TalkCase, seen: Talked) -> None:
    """Fail if a conversation came to something else than the case says."""
    assert len(seen.turns) == len(case.ends)
    for turn, end in zip(seen.turns, case.ends, strict=True):
        error = None if turn.error is None else turn.error.type
        assert (turn.status, error, turn.replies) == (end.status, end.error, end.replies), turn
        assert {issue: True if issue in TOLD else value for issue, value in turn.issues.items()} == end.issues
    case.also(seen)


MEET: Data = {
    "initial_node": "held",
    "nodes": {
        "held": {"wait": {"signal": "go"}, "output_mapping": {"state.talk": "result.talk"}},
        "ask": {
            "agent": {"name": "bob", "conversation": "state.talk"},
            "input_mapping": {"message": "'and you?'"},
            "output_mapping": {"output.said": "result.text"},
        },
    },
    "transitions": [{"from": "held", "to": "ask"}],
}
MADE = agent(
    calls("meet", when="message == 'meet' && moves == 0"),
    says("Nobody answers.", "moves > 0 && tool_results[0].error.message.contains('waits_for_itself')"),
    says("They say yes.", "moves > 0"),
    says("Yes.", "message == 'and you?'"),
    tools={"meet": {"workflow": "meet"}},
    workflows={"meet": MEET},
)


@pytest.mark.parametrize("host", HOSTS)
async def test_two_conversations_that_ask_each_other_do_not_wait_for_ever(host: Open) -> None:
    async with host() as opened:
        engine = opened.engine
        await engine.deploy_library(library_of(MADE), None)
        talks: list[Conversation] = [await engine.converse("bob") for _ in range(2)]
        for talk in talks:
            await talk.send("meet")
        await engine.idle()  # both wait for a run, and the run for a signal
        for talk, other in zip(talks, reversed(talks), strict=True):
            (run,) = await engine.children(talk.id)
            await engine.signal(run.run_id, "go", {"talk": other.id})
        async with asyncio.timeout(LONGEST_S):
            for talk in talks:
                await all_ended(opened, talk)
        replies = [(await talk.turns())[0].replies for talk in talks]
        assert ["Nobody answers."] in replies
        assert all(each in (["Nobody answers."], ["They say yes."]) for each in replies)
