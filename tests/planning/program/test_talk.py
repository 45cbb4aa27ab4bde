"""An agent compiled: its tools, and the calls of its turns as nodes."""

import pytest

from jeton.expression import Expression
from jeton.model.definition.workflow import AgentTarget, TaskTarget, WorkflowTarget
from jeton.model.json import Json
from jeton.planning.program.talk import MODEL_CALL_MS, TalkProgram, approval_of, compile_talk, talk_as_workflow
from jeton.planning.program.workflow import Program
from tests.planning.talking import BOB, agent


def talk_in(program: Program) -> TalkProgram:
    assert program.talk is not None
    return program.talk


TALK = talk_in(BOB)


def test_agents_that_may_join_have_nodes_of_their_own() -> None:
    assert set(TALK.agents) == {"bob", "amy"}
    assert {"model", "model:amy", "compaction", "compaction:amy"} <= set(BOB.nodes)


def test_an_agent_that_is_only_asked_does_not_join() -> None:
    tools = {"invite": "{task: work}"}
    assert set(talk_in(agent(tools=tools)).agents) == {"bob"}


@pytest.mark.parametrize(
    ("persona", "has"),
    [
        pytest.param("", {"model", "timeout", "compaction", "budget"}, id="always"),
        pytest.param("memory: {types: {fact: {}}}", {"recall", "extraction"}, id="with a memory"),
        pytest.param("context_assembly: child", {"assembly"}, id="with an assembly workflow"),
        pytest.param("memory_extraction: child", {"extraction"}, id="with an extraction workflow"),
    ],
)
def test_the_nodes_of_an_agent(persona: str, has: set[str]) -> None:
    program = agent(persona)
    assert has <= set(program.nodes)
    if not persona:
        assert not {"recall", "extraction", "assembly"} & set(program.nodes)


@pytest.mark.parametrize(("tool", "kind"), [("look", TaskTarget), ("count", WorkflowTarget), ("ask_amy", AgentTarget)])
def test_the_target_of_a_tool(tool: str, kind: type) -> None:
    assert isinstance(talk_as_workflow(TALK).nodes[f"tool:{tool}"].target, kind)


def test_the_tool_says_how_long_its_task_may_take_and_how_it_is_retried() -> None:
    program = agent(tools={"look": "{task: work, timeout_ms: 7, retry: {max_attempts: 2}}"})
    task = program.nodes["tool:look"].task
    assert task is not None
    assert (program.nodes["tool:look"].timeout, task.retry and task.retry.max_attempts) == (7, 2)
    assert task.max_result_bytes == 32_768


def with_server(tool: str, **server: Json) -> Program:
    return agent(tools={"far": tool}, settings={"mcp": {"s": {"command": ["x"], **server}}})


FAR = "{mcp: {server: s, tool: t}}"


def test_an_mcp_tool_is_one_step() -> None:
    task = with_server(FAR).nodes["tool:far"].task
    assert task is not None
    (step,) = task.steps
    assert not isinstance(step.action, str)
    assert (step.action.kind, step.action.implementation) == ("mcp", {"server": "s", "tool": "t"})


@pytest.mark.parametrize(
    ("program", "untrusted"),
    [
        pytest.param(with_server(FAR), True, id="an MCP tool"),
        pytest.param(with_server(FAR, trusted=True), False, id="not if the project trusts its server"),
        pytest.param(
            with_server("{mcp: {server: s, tool: t}, untrusted: false}"), False, id="nor if it says so itself"
        ),
    ],
)
def test_whether_a_tool_is_untrusted(program: Program, untrusted: bool) -> None:
    assert talk_in(program).tools["far"].untrusted is untrusted


@pytest.mark.parametrize(
    ("tool", "schema"),
    [
        pytest.param("{task: work}", {"type": "object"}, id="any object"),
        pytest.param(
            "{task: work, input_schema: {type: object, required: [a]}}",
            {"type": "object", "required": ["a"]},
            id="its own",
        ),
    ],
)
def test_the_schema_that_a_model_is_told(tool: str, schema: object) -> None:
    assert talk_in(agent(tools={"look": tool})).tools["look"].spec.input_schema == schema


def test_an_agent_is_asked_with_a_message() -> None:
    assert TALK.tools["ask_amy"].spec.input_schema["required"] == ["message"]


def test_an_approval_is_a_condition() -> None:
    assert TALK.tools["pay"].approval is True
    assert TALK.tools["look"].approval is False
    condition = talk_in(agent(tools={"pay": "{task: work, needs_approval: tainted}"})).tools["pay"]
    assert isinstance(condition.approval, Expression)
    assert approval_of(condition).when == "tainted"
    assert approval_of(TALK.tools["look"]).approvals == 1


def test_a_model_call_may_take_as_long_as_all_its_retries() -> None:
    timeout = BOB.nodes["model"].timeout
    assert isinstance(timeout, int)
    assert timeout >= 4 * MODEL_CALL_MS


def test_compiling_twice_gives_the_same() -> None:
    assert set(compile_talk(TALK.library, "bob").tools) == set(TALK.tools)
