"""What the shorter ways of writing stand for in the model."""

import pytest

from jeton.definitions import library_from, load_library
from jeton.model.definition.task import Action, Execution, Idempotency, RetryPolicy, Step, StepCondition, Task
from jeton.model.definition.workflow import (
    AgentTarget,
    EndTarget,
    FailedEnd,
    Foreach,
    GateTarget,
    Library,
    LoopConfig,
    Merge,
    MOfN,
    Node,
    SignalSpec,
    Synchronization,
    Target,
    TaskTarget,
    Transition,
    WaitTarget,
    Workflow,
    WorkflowLimits,
    WorkflowTarget,
)
from jeton.model.json import Schema
from tests.definitions.agents.given_agents import node
from tests.definitions.given import loaded, the_workflow

MOCK = Action("mock")
GATE_SCHEMA: Schema = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}


@pytest.mark.parametrize(
    ("node", "target"),
    [
        pytest.param("", None, id="nothing written passes straight through"),
        pytest.param("{}", None, id="and so does an empty object"),
        pytest.param("{task: t}", TaskTarget("t"), id="a task by name"),
        pytest.param("{task: t@3}", TaskTarget("t@3"), id="a task by name and version"),
        pytest.param(
            "{task: {steps: [{ref: one, action: {kind: mock}}]}}",
            TaskTarget(Task((Step(MOCK, ref="one"),))),
            id="a task where it is used",
        ),
        pytest.param(
            "{task: {steps: [{action: x}]}}",
            TaskTarget(Task((Step("x", ref="step0"),))),
            id="a step without a name is numbered",
        ),
        pytest.param(
            "{action: {kind: mock}}",
            TaskTarget(Task((Step(MOCK, ref="a"),), of_action=True)),
            id="an action is a task of one step, named after the node",
        ),
        pytest.param(
            "{action: x}", TaskTarget(Task((Step("x", ref="a"),), of_action=True)), id="an action by name stays a name"
        ),
        pytest.param("{workflow: v}", WorkflowTarget("v"), id="a workflow by name"),
        pytest.param(
            "{workflow: v@2, on_failure: catch, timeout_ms: 5, inherit_artifacts: true}",
            WorkflowTarget("v@2", "catch", 5, True),
            id="a workflow with all that belongs to the call",
        ),
        pytest.param("{wait: {seconds: 1.5}}", WaitTarget(seconds=1.5), id="a wait for seconds"),
        pytest.param("{wait: {seconds: '0.5'}}", WaitTarget(seconds="0.5"), id="a wait for an expression"),
        pytest.param("{wait: {until: input.at}}", WaitTarget(until="input.at"), id="a wait until a time"),
        pytest.param(
            "{wait: {signal: go, schema: {type: object}, timeout_ms: 5, label: soon}}",
            WaitTarget(signal="go", schema={"type": "object"}, timeout_ms=5, label="soon"),
            id="a wait for a signal",
        ),
        pytest.param(
            "{wait: {signals: {go: {schema: {type: object}}, stop: }, timeout_ms: 5, on_timeout: {signal: none}}}",
            WaitTarget(
                signals={"go": SignalSpec({"type": "object"}), "stop": SignalSpec()},
                timeout_ms=5,
                on_timeout={"signal": "none"},
            ),
            id="a wait for the first of several signals",
        ),
        pytest.param("{end: completed}", EndTarget(), id="an end"),
        pytest.param(
            "{end: {failed: {type: dear, message: no}}}", EndTarget(FailedEnd("dear", "no")), id="an end that fails"
        ),
        pytest.param("{gate: {}}", GateTarget("a"), id="a gate without a title bears the node's name"),
        pytest.param(
            "{gate: {title: Ok?, schema: {type: object, required: [ok], properties: {ok: {type: boolean}}}, "
            "assignees: [ann], approvals: 1, timeout_ms: 5, on_timeout: {ok: true}}}",
            GateTarget("Ok?", GATE_SCHEMA, ("ann",), 1, 5, {"ok": True}),
            id="a gate with a default answer",
        ),
    ],
)
def test_a_target(node: str, target: Target | None) -> None:
    text = f"""
        workflows:
          v: {{initial_node: x, nodes: {{x: }}}}
          w: {{initial_node: a, nodes: {{a: {node}}}}}
        tasks: {{t: {{steps: [{{action: {{kind: mock}}}}]}}}}
        actions: {{x: {{kind: mock}}}}
    """
    assert loaded(text).require().workflows["w"].nodes["a"] == Node(target)


@pytest.mark.parametrize(
    ("agent", "target"),
    [
        pytest.param("bob", AgentTarget("bob"), id="by name"),
        pytest.param("{name: bob, output_schema: {}}", AgentTarget("bob", {}), id="with a schema for its data"),
    ],
)
def test_an_agent(agent: str, target: AgentTarget) -> None:
    assert loaded(node(f"agent: {agent}")).require().workflows["w"].nodes["a"] == Node(target)


@pytest.mark.parametrize(
    ("fan_in", "synchronization"),
    [
        pytest.param("all", Synchronization(), id="all"),
        pytest.param("any", Synchronization("any"), id="any"),
        pytest.param("{m_of_n: 2}", Synchronization(MOfN(2)), id="a quorum"),
        pytest.param(
            "{strategy: {m_of_n: 1}, merge: {target: state.x}, on_branch_failure: continue}",
            Synchronization(MOfN(1), merge=Merge("state.x"), on_branch_failure="continue"),
            id="everything a synchronization can say",
        ),
        pytest.param("{}", Synchronization(), id="an empty one waits for all"),
    ],
)
def test_fan_in_stands_on_every_transition_into_its_node(fan_in: str, synchronization: Synchronization) -> None:
    found = the_workflow(f"""
        initial_node: s
        nodes: {{s: , a: , b: , m: {{fan_in: {fan_in}}}}}
        transitions:
          - {{from: s, to: a}}
          - {{from: s, to: b}}
          - {{from: a, to: m}}
          - {{from: b, to: m}}
    """)
    assert found.transitions == (
        Transition("s", "a"),
        Transition("s", "b"),
        Transition("a", "m", synchronization=synchronization),
        Transition("b", "m", synchronization=synchronization),
    )


def test_everything_a_workflow_can_say() -> None:
    found = the_workflow("""
        description: A panel.
        tags: [demo]
        input_schema: {type: object, required: [judges], properties: {judges: {type: array, items: {type: string}}}}
        state_schema: {type: object, properties: {votes: {type: array}}}
        output_schema: {type: object, required: [votes]}
        initial_node: prepare
        nodes:
          prepare: {fan_out: first_match}
          judge: {input_mapping: {who: judge, n: 5}, output_mapping: {state.vote: result.who}}
          tally:
        transitions:
          - from: prepare
            to: judge
            foreach: {collection: input.judges, item_var: judge, max_parallel: 2}
            sibling_group: g
          - from: judge
            to: tally
            synchronization:
              strategy: {m_of_n: 2}
              sibling_group: g
              merge: {source: _branch.output.vote, target: state.votes, strategy: collect}
              timeout_ms: 30000
              on_timeout: proceed_with_available
              on_early_complete: abandon
              on_branch_failure: continue
          - {from: tally, to: prepare, condition: size(state.votes) < 3, loop_config: {max_iterations: 1}}
        output_mapping: {votes: state.votes}
        timeout_ms: 60000
        on_no_match: complete
        limits: {max_tokens: 10}
    """)
    assert found == Workflow(
        name="w",
        description="A panel.",
        tags=("demo",),
        input_schema={
            "type": "object",
            "required": ["judges"],
            "properties": {"judges": {"type": "array", "items": {"type": "string"}}},
        },
        state_schema={"type": "object", "properties": {"votes": {"type": "array"}}},
        output_schema={"type": "object", "required": ["votes"]},
        initial_node="prepare",
        nodes={
            "prepare": Node(fan_out="first_match"),
            "judge": Node(input_mapping={"who": "judge", "n": 5}, output_mapping={"state.vote": "result.who"}),
            "tally": Node(),
        },
        transitions=(
            Transition("prepare", "judge", foreach=Foreach("input.judges", "judge", 2), sibling_group="g"),
            Transition(
                "judge",
                "tally",
                synchronization=Synchronization(
                    MOfN(2),
                    "g",
                    Merge("state.votes", "_branch.output.vote", "collect"),
                    30_000,
                    "proceed_with_available",
                    "abandon",
                    "continue",
                ),
            ),
            Transition("tally", "prepare", "size(state.votes) < 3", loop_config=LoopConfig(1)),
        ),
        output_mapping={"votes": "state.votes"},
        timeout_ms=60_000,
        on_no_match="complete",
        limits=WorkflowLimits(max_tokens=10),
    )


def test_a_step_s_condition() -> None:
    text = "tasks: {t: {steps: [{action: {kind: mock}, condition: {if: input.x == 1, then: succeed, else: fail}}]}}"
    (step,) = loaded(text).require().tasks["t"].steps
    assert step.condition == StepCondition("input.x == 1", "succeed", "fail")


def test_retries_of_both_kinds() -> None:
    text = """
        tasks:
          t:
            retry: {max_attempts: 3, backoff: linear, initial_delay_ms: 200, max_delay_ms: 5000}
            timeout_ms: 60000
            steps:
              - action:
                  kind: python
                  execution: {timeout_ms: 10, retry_policy: {max_attempts: 4}, concurrency: 2, rate_per_s: 5}
                  idempotency: {key: input.order, ttl_ms: 1000}
                  isolation: process
    """
    execution = Execution(10, RetryPolicy(4), 2, 5.0)
    action = Action("python", execution=execution, idempotency=Idempotency("input.order", 1000), isolation="process")
    assert loaded(text).require().tasks["t"] == Task(
        (Step(action, ref="step0"),), timeout_ms=60_000, retry=RetryPolicy(3, "linear", 200, 5000)
    )


def test_settings() -> None:
    assert loaded("project: {settings: {limits: {http: 5}}}").require().settings == {"limits": {"http": 5}}


def test_python_values_make_the_same_library_as_a_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("library") / "a.json"
    file.write_text('{"workflows": {"w": {"initial_node": "a", "nodes": {"a": {"action": {"kind": "mock"}}}}}}')
    data = {"workflows": {"w": {"initial_node": "a", "nodes": {"a": {"action": {"kind": "mock"}}}}}}
    assert library_from(data).require() == load_library(file).require()


def test_what_is_known_besides_can_be_referred_to() -> None:
    nodes = {"a": {"action": "greet"}, "b": {"workflow": "v@1"}}
    data = {"workflows": {"w": {"initial_node": "a", "nodes": nodes, "transitions": [{"from": "a", "to": "b"}]}}}
    known = Library(workflows={"v": Workflow("v", "x", {"x": Node()})}, actions={"greet": Action("python")})
    assert library_from(data, known).problems == ()
    assert {p.code for p in library_from(data).problems} == {"unknown_action", "unknown_workflow"}
