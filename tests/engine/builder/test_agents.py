"""An agent written in Python is the very same value as one written in a file."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import msgspec
import pytest

import jeton
from jeton.definitions import library_from
from jeton.engine.build.source import Built, load_files, load_source
from jeton.model.definition.agent import AgentTool, McpTool, WorkflowTool
from jeton.model.definition.workflow import AgentTarget, Library
from jeton.model.failure import DefinitionError
from jeton.model.json import Json, JsonObject
from tests.definitions.given import loaded


class Address(TypedDict):
    street: str


@dataclasses.dataclass
class Verdict:
    ok: bool


@jeton.tool(needs_approval="input.amount > 10.0", once=True, timeout_ms=500)
def give_back(order: str, amount: float = 5.0, to: Address | None = None) -> dict[str, str]:
    """Refund an order, in full or in part."""
    return {"receipt": f"{order}: {amount} to {to}"}


@jeton.action
async def look_up(order: str) -> str:
    """Look an order up."""
    return f"{order} was paid"


FAKE = jeton.ModelProfile("fake", provider="scripted", script=[{"text": "Hello."}])
FILE = """
    model_profiles: {fake: {provider: scripted, script: [{text: Hello.}]}}
    tasks: {give_back: {steps: [{ref: give_back, action: give_back}]}}
    tools:
      give_back:
        description: Refund an order, in full or in part.
        input_schema:
          type: object
          required: [order]
          properties:
            order: {type: string}
            amount: {type: number}
            to:
              anyOf:
                - {type: object, properties: {street: {type: string}}, required: [street], additionalProperties: false}
                - {type: 'null'}
          additionalProperties: false
        task: give_back
        needs_approval: input.amount > 10.0
        once: true
        timeout_ms: 500
    personas: {bob: {instructions: Help., model_profile: fake, tools: [give_back]}}
    agents: {bob: {persona: bob}}
    actions:
      give_back: {kind: python, implementation: {function: 'tests.engine.builder.test_agents:give_back'}}
"""


def bob(*tools: Any, name: str = "bob", **more: Any) -> jeton.Agent:
    return jeton.Agent(name, persona=jeton.Persona(instructions="Help.", model_profile=FAKE, tools=tools, **more))


def library_of(built: Built) -> Library:
    found = library_from(built.definition())
    assert found.problems == ()
    return found.require()


def test_an_agent_is_the_same_as_one_in_a_file() -> None:
    built, written = library_of(bob(give_back)), loaded(FILE).require()
    assert (built.agents, built.personas, built.tasks) == (written.agents, written.personas, written.tasks)
    assert built.model_profiles == written.model_profiles
    assert built.tools == written.tools
    assert built.actions["give_back"].implementation == written.actions["give_back"].implementation


def test_a_tool_is_still_a_function() -> None:
    assert give_back("A-1", amount=2.0) == {"receipt": "A-1: 2.0 to None"}
    assert (give_back.name, give_back.__doc__) == ("give_back", "Refund an order, in full or in part.")
    assert repr(give_back) == "<tool give_back>"


async def test_a_tool_may_be_async_and_have_another_name() -> None:
    @jeton.tool(name="say_after_me", description="Say it.")
    async def echo(text: str) -> str:
        """Not what a model is told."""
        return text

    assert await echo("x") == "x"
    library = library_of(bob(echo))
    assert library.tools["say_after_me"].description == "Say it."
    assert library.actions["say_after_me"].kind == "python"


def test_an_action_can_be_a_tool() -> None:
    tool = library_of(bob(look_up)).tools["look_up"]
    assert (tool.description, tool.once) == ("Look an order up.", False)
    assert tool.input_schema is not None
    assert tool.input_schema["additionalProperties"] is False


def test_tools_call_workflows_and_agents_that_come_along() -> None:
    report = jeton.Workflow("report")
    report.node("a", action=look_up, input={"order": "'A'"})
    eve = bob(name="eve")
    library = library_of(
        bob(
            jeton.Tool("write", "Write a report.", workflow=report, runs_async=True, input={"type": "object"}),
            jeton.Tool("ask", agent=eve, mode="loop_in", output=Verdict, retry={"max_attempts": 2}),
            context_assembly=jeton.Flow("assemble"),
        )
    )
    assert sorted(library.agents) == sorted(library.personas) == ["bob", "eve"]
    assert (sorted(library.workflows), sorted(library.flows), list(library.actions)) == (
        ["report"],
        ["assemble"],
        ["look_up"],
    )
    assert library.tools["write"].target == WorkflowTool("report")
    assert library.tools["write"].runs_async
    assert library.tools["ask"].target == AgentTool("eve", "loop_in")
    assert library.tools["ask"].output_schema == {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    assert library.personas["bob"].context_assembly == "assemble"


def test_every_option_has_its_key_in_a_file() -> None:
    slow = jeton.ModelProfile("slow", provider="openai_responses", model="l", background=True, api_key="KEY")
    fast = jeton.ModelProfile(
        "fast",
        provider="openai",
        model="s",
        base_url="http://127.0.0.1:1/v1",
        parameters={"temperature": 0},
        prices={"input": 1, "output": 2},
        context_window=100,
        accepts=["image/*"],
        timeout_ms=5,
        retry_policy=jeton.RetryPolicy(2),
        fallbacks=[slow, "fake"],
        description="Quick.",
    )
    tool = jeton.Tool(
        "search",
        "Search.",
        mcp={"server": "web", "tool": "search"},
        input_mapping={"query": "input.q"},
        needs_approval={"when": "tainted", "assignees": ["ann"]},
        once=True,
        exclusive=True,
        untrusted=False,
        timeout_ms=5,
        max_result_bytes=6,
    )
    persona = jeton.Persona(
        "helper",
        model_profile=fast,
        tools=[tool, "search_more"],
        memory={"types": ["fact"], "scope": "user"},
        recent_turns=1,
        max_moves_per_turn=2,
        max_parallel_tools=3,
        turn_timeout_ms=4,
        budget={"turn": 5},
        description="Helps.",
    )
    agent = jeton.Agent("bob", persona=persona, description="Bob.")
    settings: JsonObject = {"secrets": {"KEY": {"env": "KEY"}}, "mcp": {"web": {"command": ["web"]}}}
    others = {"tools": {"search_more": {"agent": "bob"}}, **bob(name="zoe").definition()}
    found = library_from({**merged(agent.definition(), others), "project": {"settings": settings}})
    assert found.problems == ()
    library = found.library
    assert library.model_profiles["fast"].fallbacks == ("slow", "fake")
    assert library.model_profiles["slow"].api_key == "KEY"
    assert library.tools["search"].target == McpTool("web", "search")
    left_out = {"target", "output_schema", "runs_async", "retry", "tags", "input_schema", "instructions"}
    left_out |= {"context_assembly", "memory_extraction", "compaction", "background", "api_key", "script"}
    for value in (library.tools["search"], library.personas["helper"], library.model_profiles["fast"]):
        for field in msgspec.structs.fields(value):
            assert field.name in left_out or getattr(value, field.name) != field.default, field.name


def merged(*contents: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for content in contents:
        for section, definitions in content.items():
            found[section] = {**found.get(section, {}), **definitions}
    return found


def test_a_workflow_can_ask_an_agent_that_comes_along() -> None:
    triage = jeton.Workflow("triage")
    triage.node("ask", agent=bob(give_back), input={"message": "input.mail"})
    triage.node("again", agent={"name": bob(give_back), "output_schema": {"type": "object"}})
    triage.transition("ask", "again")
    library = library_of(triage)
    assert library.workflows["triage"].nodes["ask"].target == AgentTarget("bob")
    assert library.workflows["triage"].nodes["again"].target == AgentTarget("bob", {"type": "object"})
    assert list(library.tools) == ["give_back"]


def test_one_persona_may_be_that_of_many() -> None:
    persona = jeton.Persona("helper", model_profile=FAKE)
    first, second = jeton.Agent("a", persona=persona), jeton.Agent("b", persona=persona)
    library = load_source([first, second]).require()
    assert {agent.persona for agent in library.agents.values()} == {"helper"}
    nameless = jeton.Persona(model_profile=FAKE)
    library = load_source([jeton.Agent("a", persona=nameless), jeton.Agent("b", persona=nameless)]).require()
    assert sorted(library.personas) == ["a", "b"]


def test_agents_may_refer_to_each_other() -> None:
    eve = bob(jeton.Tool("ask_bob", agent="bob"), name="eve")
    library = library_of(bob(jeton.Tool("ask_eve", agent=eve)))
    assert sorted(library.tools) == ["ask_bob", "ask_eve"]


def plain(order: str) -> str:
    return order


MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "a plain function as a tool": (lambda: bob(plain), "is a plain function, not a tool (write @jeton.tool"),
    "something else as a tool": (lambda: bob(3), "is of the type 'int', not a tool"),
    "two tools of one name": (
        lambda: bob(jeton.Tool("x", task="a"), jeton.Tool("x", task="b")).definition(),
        "tools.x: there are two that differ, both called 'x'",
    ),
    "two profiles of one name": (
        lambda: bob(
            jeton.Tool("ask", agent=jeton.Agent("eve", persona=jeton.Persona(model_profile=other_fake())))
        ).definition(),
        "model_profiles.fake: there are two that differ",
    ),
    "a type without a schema": (lambda: jeton.Tool("x", task="a", input=complex), "tools.x.input: has no JSON Schema"),
    "a parameter that is no data": (
        lambda: jeton.ModelProfile("x", provider="openai", parameters={"a": object()}),
        "parameters: contains an object of the type 'object'",
    ),
}


def other_fake() -> jeton.ModelProfile:
    return jeton.ModelProfile("fake", provider="scripted", script=[])


@pytest.mark.parametrize(("build", "says"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told_when_they_are_made(build: Callable[[], object], says: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        build()
    assert says in str(refused.value)
    assert [problem.code for problem in refused.value.problems] == ["bad_builder"]


def test_a_lambda_is_no_tool() -> None:
    with pytest.raises(DefinitionError, match="is a lambda"):
        jeton.tool(lambda: 3)


def test_other_mistakes_are_told_when_it_is_loaded() -> None:
    found = library_from(bob(jeton.Tool("x", task="nowhere"), recent_turns=0).definition())
    assert [(p.code, p.path) for p in found.problems] == [
        ("out_of_range", "personas.bob.recent_turns"),
        ("unknown_task", "tools.x.task"),
    ]


async def test_an_agent_is_deployed_as_it_is(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db", grace_s=0) as engine:
        assert (await engine.deploy(bob(give_back))).versions == {"agent:bob": 1}
        assert (await engine.deploy(bob(give_back))).versions == {"agent:bob": 1}
        assert (await engine.deploy(bob(give_back, look_up))).versions == {"agent:bob": 2}


def test_a_python_file_may_have_agents(tmp_path: Path) -> None:
    file = tmp_path / "my_agents_here.py"
    file.write_text(
        "import jeton\n"
        "fake = jeton.ModelProfile('fake', provider='scripted', script=[])\n"
        "persona = jeton.Persona('helper', model_profile=fake)\n"
        "bob, eve = jeton.Agent('bob', persona=persona), jeton.Agent('eve', persona=persona)\n"
    )
    assert sorted(load_files([str(file)]).require().agents) == ["bob", "eve"]


async def test_the_function_of_a_tool_is_called_when_a_model_calls_it(tmp_path: Path) -> None:
    asked: Json = {"name": "give_back", "input": {"order": "A-17", "amount": 2}}
    wrong: Json = {"name": "give_back", "input": {"order": "A-17", "mount": 2}}
    failed = "tool_results.all(r, has(r.error))"
    script: list[JsonObject] = [{"tool_calls": [asked, wrong]}, {"when": failed, "text": "No."}, {"text": "Yes."}]
    fake = jeton.ModelProfile("fake", provider="scripted", script=script)
    agent = jeton.Agent("bob", persona=jeton.Persona(model_profile=fake, tools=[give_back]))
    triage = jeton.Workflow("triage")
    triage.node("ask", agent=agent, input={"message": "'Refund A-17'"}, output={"output.reply": "result.text"})
    async with jeton.open(tmp_path / "runs.db", grace_s=0) as engine:
        record = await (await engine.start(triage)).result()
        assert record.output == {"reply": "Yes."}
        (talk,) = await engine.conversations()
        (turn,) = (await engine.conversation(talk.id)).turns
        given, refused = turn.moves[0].tool_calls
        assert given.result == {"receipt": "A-17: 2.0 to None"}
        assert refused.error is not None
        assert refused.error.code == "INVALID_INPUT"
