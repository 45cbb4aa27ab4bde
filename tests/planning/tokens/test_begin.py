"""What a node does with a token that comes to it."""

import pytest

from jeton.model import decision as d
from jeton.model.definition.flow import Flow, FlowNode
from jeton.model.definition.workflow import AgentTarget, Library, Node, Workflow
from jeton.model.failure import RunError
from jeton.model.ids import RunId, TokenId
from jeton.model.state.flow_run import Executed, WaitingNode
from jeton.planning.program.compile import compile_definition
from jeton.planning.tokens.begin import plan_begin
from jeton.planning.tokens.node import NodeFinished, Plan
from tests.planning.given import RUN, Given, at, done, flow, started, token_at, workflow

NOW = 50
ZERO, ONE = TokenId(0), TokenId(1)

TASK = workflow("nodes: {a: {task: work}}")
MAPPED = workflow("nodes: {a: {task: work, input_mapping: {to.name: input.name, to.gone: input.gone}}}")
UNMAPPABLE = workflow("nodes: {a: {task: work, input_mapping: {n: 'input.name + 1'}}}")
PASSING = workflow("nodes: {a: {}}")
PASSING_MAPPED = workflow("nodes: {a: {input_mapping: {n: input.name, gone: input.gone}}}")
TIMER = workflow("nodes: {a: {input_mapping: {gone: input.gone}, wait: {seconds: 2}}}")
SIGNAL = workflow("nodes: {a: {wait: {signal: go}}}")
GATE = workflow("nodes: {a: {gate: {title: 'Hello {{ input.name }}'}}}")
CALL = workflow("nodes: {a: {workflow: child, input_mapping: {n: input.name}}}")
LIMITED = workflow("""
nodes: {a: {task: work}, b: {task: work}}
transitions: [{from: a, to: b}]
limits: {max_node_executions: 1}
""")
TWO = workflow("{nodes: {a: {task: work}, b: {task: work}}, transitions: [{from: a, to: b}]}")
FREE = workflow("nodes: {a: {task: work}}", {"credits": {"costs": {"work": 0}}})


def begun(run: Given, node: str) -> Plan:
    state = run.state()
    return plan_begin(run.program, state, token_at(state, node), NOW)


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            at("a", TASK, started({"name": "Ada"})),
            Plan([d.DispatchToken(ZERO, "a", NOW, NOW + 1000)]),
            id="a task is handed out with the run's own input, which is not kept twice",
        ),
        pytest.param(
            at("a", MAPPED, started({"name": "Ada"})),
            Plan(
                [d.DispatchToken(ZERO, "a", NOW, NOW + 1000, 1, {"to": {"name": "Ada", "gone": None}}, ("input.gone",))]
            ),
            id="its input is mapped to a tree, a missing path is null and recorded",
        ),
        pytest.param(
            at("a", PASSING, started({"name": "Ada"})),
            Plan([d.FinishNode(ZERO, "a")], NodeFinished(ZERO, {"name": "Ada"})),
            id="without a target the token passes through with the run's input",
        ),
        pytest.param(
            at("a", PASSING_MAPPED, started({"name": "Ada"})),
            Plan([d.FinishNode(ZERO, "a", missing=("input.gone",))], NodeFinished(ZERO, {"n": "Ada", "gone": None})),
            id="or with what its mapping makes of it",
        ),
        pytest.param(
            at("a", TIMER, started()),
            Plan([d.WaitForTimer(ZERO, "a", NOW, NOW + 2000, missing=("input.gone",))]),
            id="a timed wait holds the token until then",
        ),
        pytest.param(
            at("a", SIGNAL, started()),
            Plan([d.WaitForSignal(ZERO, "a", NOW, "go")]),
            id="a wait for a signal holds it until that comes",
        ),
        pytest.param(
            at("a", GATE, started({"name": "Ada"})),
            Plan([d.OpenGate(ZERO, "a", NOW, "Hello Ada")]),
            id="a gate opens",
        ),
        pytest.param(
            at("a", CALL, started({"name": "Ada"})),
            Plan([d.CallWorkflow(ZERO, "a", NOW, RunId("r.0"), "child", {"n": "Ada"})]),
            id="another workflow is called with the mapped input",
        ),
    ],
)
def test_a_token_begins_its_node(run: Given, then: Plan) -> None:
    assert begun(run, "a") == then


@pytest.mark.parametrize(
    ("run", "node", "error"),
    [
        pytest.param(
            at("b", LIMITED, started(), done(0)),
            "b",
            RunError("limit_exceeded", "max_node_executions: node 'b' would be execution 2 of this run", "b", 1),
            id="one execution too many fails the run, and names the limit",
        ),
        pytest.param(
            at("a", LIMITED, started()), "a", None, id="the last execution that the limit allows is not one too many"
        ),
    ],
)
def test_how_many_nodes_a_run_may_begin(run: Given, node: str, error: RunError | None) -> None:
    decisions = begun(run, node).decisions
    if error is None:
        assert decisions == [d.DispatchToken(ZERO, node, NOW, NOW + 1000)]
    else:
        assert decisions == [d.RouteToken(ONE, node, "failed"), d.EndRun(NOW, "failed", error=error)]


def test_an_input_mapping_that_cannot_be_evaluated_fails_the_node() -> None:
    failed, routed, end = begun(at("a", UNMAPPABLE, started({"name": "Ada"})), "a").decisions
    assert isinstance(failed, d.FailNode)
    assert isinstance(end, d.EndRun)
    assert end.error is not None
    assert (failed.error["type"], end.error.type, end.error.node) == ("expression_error", "expression_error", "a")
    assert end.error.message.startswith("input_mapping at ")
    assert routed == d.RouteToken(ZERO, "a", "failed")


@pytest.mark.parametrize(
    ("run", "node", "then"),
    [
        pytest.param(
            at("a", TWO, started(credits=1)),
            "a",
            [d.ReserveCredits(ZERO, "a", 1), d.DispatchToken(ZERO, "a", NOW, NOW + 1000)],
            id="a node is paid for before it begins",
        ),
        pytest.param(
            at("b", TWO, started(credits=1), done(0)),
            "b",
            [d.AwaitCredits()],
            id="one that cannot be paid for does not begin",
        ),
        pytest.param(
            at("a", FREE, started(credits=0)),
            "a",
            [d.DispatchToken(ZERO, "a", NOW, NOW + 1000)],
            id="for one that costs nothing nothing is reserved",
        ),
    ],
)
def test_a_node_that_costs(run: Given, node: str, then: list[d.Decision]) -> None:
    assert begun(run, node).decisions == then


FLOW_TASK = flow("nodes: {a: {type: work, inputs: {x: 1}}}")
FLOW_GATE = flow("""
nodes:
  a: {type: gate, inputs: {x: 1}, data: {approvals: 2, title: "{{ inputs.x }}/{{ data.approvals }} {{ context.name }}"}}
""")
FLOW_CALL = flow("nodes: {a: {type: workflow, inputs: {x: 1}, data: {workflow: child}}}")
FLOW_SUM = flow("nodes: {a: {type: sum, inputs: {values: [1, 2]}}}")
FLOW_WAIT = flow("nodes: {a: {type: wait, data: {seconds: 2}}}")
BEGIN = d.BeginNode(ZERO, "a")


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            at("a", FLOW_TASK, started()),
            [BEGIN, d.DispatchToken(ZERO, "a", NOW, NOW + 1000, 1, {"x": 1})],
            id="a task is handed out with the inputs by handle",
        ),
        pytest.param(
            at("a", FLOW_GATE, started({"name": "Ada"})),
            [BEGIN, d.OpenGate(ZERO, "a", NOW, "1/2 Ada")],
            id="a gate's title may use inputs, data and context",
        ),
        pytest.param(
            at("a", FLOW_CALL, started()),
            [BEGIN, d.CallWorkflow(ZERO, "a", NOW, RunId(f"{RUN}.0"), "child", {"x": 1})],
            id="another workflow is called with the inputs",
        ),
        pytest.param(
            at("a", FLOW_SUM, started()),
            [BEGIN, d.ExecuteNode(ZERO, "a", Executed({"result": 3})), d.RouteToken(ZERO, "a", "completed")],
            id="a built-in is worked out at once",
        ),
        pytest.param(
            at("a", FLOW_WAIT, started()),
            [BEGIN, d.HoldNode(ZERO, "a", NOW, WaitingNode(Executed({}), NOW + 2000))],
            id="a wait is held",
        ),
    ],
)
def test_a_node_of_a_flow_begins(run: Given, then: list[d.Decision]) -> None:
    assert begun(run, "a") == Plan(then)


def agents() -> Library:
    """A workflow and a flow that ask an agent."""
    return Library(
        workflows={"w": Workflow("w", "a", {"a": Node(AgentTarget("x"))})},
        flows={"f": Flow("f", {"a": FlowNode("agent", data={"agent": "x"})})},
    )


@pytest.mark.parametrize("name", [pytest.param("w", id="in a workflow"), pytest.param("f", id="in a flow")])
def test_a_node_asks_an_agent(name: str) -> None:
    *_, asked = begun(at("a", compile_definition(agents(), name), started()), "a").decisions
    assert isinstance(asked, d.CallAgent)
    assert (asked.agent, asked.new) == ("x", True)
