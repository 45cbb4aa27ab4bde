"""Runs and agents that wait for each other in a circle: an error that the model can read, and never a wait for ever."""

import pytest

from jeton.model import decision as d
from tests.conformance.case import Data
from tests.conformance.talk import Ended, TalkCase, Talked, agent, says

BACK: Data = {
    "initial_node": "ask",
    "nodes": {
        "ask": {
            "agent": {"name": "bob", "conversation": "input.talk"},
            "input_mapping": {"message": "'and you?'"},
            "output_mapping": {"output.said": "result.text"},
        }
    },
    "transitions": [],
}
THROUGH: Data = {
    "initial_node": "below",
    "nodes": {"below": {"workflow": "back", "output_mapping": {"output.said": "result.said"}}},
    "transitions": [],
}
OWN: Data = {"talk": "run.id"}
CAUGHT = says("I cannot.", "has(tool_results[0].error) && tool_results[0].error.message.contains('waits_for_itself')")
ASKS: Data = {"when": "message == 'go'", "tool_calls": [{"name": "loop", "input": {"message": "hm"}}]}


GOES_ON: Data = {"when": "size(tool_results) == 0", "tool_calls": [{"name": "loop", "input": {}}], "text": "On."}


def told_as_a_failure(seen: Talked) -> None:
    error = seen.call().error
    assert error is not None
    assert error.code == "EXECUTION_FAILED"
    assert "waits for whoever asks here" in error.message
    assert list(seen.below.values()) == ["failed"]


def depth_is_the_end(seen: Talked) -> None:
    (error,) = [kept.result.result.error for kept in seen.decisions(d.KeepAsync) if kept.result.result.error]
    assert "max_depth" in error.message


def he_heard_her(seen: Talked) -> None:
    assert list(seen.below.values()) == ["completed"]


def eve(**tool: object) -> Data:
    """Eve, who has the tool `back`: a workflow that asks the conversation in which she was asked."""
    script: list[Data] = [
        {"when": "size(tool_results) == 0", "tool_calls": [{"name": "back", "input": {}}], "text": "Wait."},
        says("He cannot.", "has(tool_results[0].error)"),
        says("He cannot.", "size(tool_results) > 1 && has(tool_results[1].error)"),
        says("He can."),
    ]
    return {
        "profiles": {"eves": {"provider": "scripted", "script": script}},
        "personas": {"wise": {"instructions": "Help.", "model_profile": "eves", "tools": ["back"]}},
        "agents": {"eve": {"persona": "wise"}},
        "others": {"back": {"workflow": "back", "input_mapping": {"talk": "caller.run_id"}, **tool}},
        "tools": {"loop": {"agent": "eve"}},
        "workflows": {"back": BACK},
    }


CASES = [
    TalkCase(
        "a run that a turn waits for cannot ask the same conversation",
        agent(ASKS, CAUGHT, tools={"loop": {"workflow": "back", "input_mapping": OWN}}, workflows={"back": BACK}),
        ("go",),
        (Ended(["I cannot."], issues={"tool_failures": 1}),),
        told_as_a_failure,
    ),
    TalkCase(
        "nor can a run below that",
        agent(
            ASKS,
            CAUGHT,
            tools={"loop": {"workflow": "through", "input_mapping": OWN}},
            workflows={"back": BACK, "through": THROUGH},
        ),
        ("go",),
        (Ended(["I cannot."], issues={"tool_failures": 1}),),
        told_as_a_failure,
    ),
    TalkCase(
        "nor can a run of an agent that was asked",
        agent(ASKS, says("I heard.", "tool_results[0].result.text == 'He cannot.'"), **eve()),
        ("go",),
        (Ended(["I heard."]),),
        he_heard_her,
    ),
    TalkCase(
        "nor can an async run of an agent whose answer is waited for",
        agent(ASKS, says("I heard.", "tool_results[0].result.text == 'He cannot.'"), **eve(**{"async": True})),
        ("go",),
        (Ended(["I heard."]),),
        he_heard_her,
    ),
    TalkCase(
        "an async run may ask the same conversation, which is free meanwhile",
        agent(
            {**ASKS, "text": "I ask myself."},
            says("Me too.", "message == 'and you?'"),
            says("I said so.", "tool_results[1].result.said == 'Me too.'"),
            tools={"loop": {"workflow": "back", "input_mapping": OWN, "async": True}},
            workflows={"back": BACK},
        ),
        ("go",),
        (Ended(["I ask myself.", "I said so."]), Ended(["Me too."])),
    ),
    TalkCase(
        "async runs that ask the same conversation without end stop at max_depth",
        agent(
            *[GOES_ON] * 30,
            *[says("Done.", "size(tool_results) > 1")] * 30,
            tools={"loop": {"workflow": "back", "input_mapping": OWN, "async": True}},
            workflows={"back": BACK},
        ),
        ("go",),
        (
            *[Ended(["On.", "Done."])] * 5,
            Ended(["On.", "Done."], issues={"tool_failures": 1}),
        ),
        depth_is_the_end,
    ),
]
ROWS = [pytest.param(case, id=case.id) for case in CASES]
