"""Flows: what is read, what is found wrong with it, and what only comes close."""

import textwrap

import pytest

from jeton.definitions import definition_hash, library_from
from jeton.model.definition.flow import Connection, Flow, FlowLimits, FlowNode
from tests.definitions.given import Rule, loaded, problems

DISCOUNT = """
    flows:
      discount:
        nodes:
          start:  {type: trigger}
          total:  {type: sum,     inputs: {values: [10, 20]}}
          big:    {type: if_else, data: {condition: "inputs.main > 25"}}
          rebate: {type: multiply, inputs: {b: 0.9}}
          thanks: {type: set,     data: {note: "'no rebate'"}}
        connections:
          - {from: start, to: total}
          - {from: total, from_output: result, to: big}
          - {from: big, from_output: "true",  to: rebate, to_input: a}
          - {from: big, from_output: "false", to: thanks}
        on_error: continue
        limits: {max_nodes: 50}
"""


def flow(body: str) -> str:
    """A library with one flow, `f`, given by its keys."""
    return "flows:\n  f:\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"


def node(body: str) -> str:
    return flow(f"nodes: {{a: {body}}}")


def connected(*connections: str, more: str = "") -> str:
    nodes = "nodes: {a: {type: merge}, b: {type: merge}, c: {type: merge}}"
    return flow(f"{nodes}\nconnections: [{', '.join(connections)}]\n{more}")


def from_node(body: str, handle: str) -> str:
    """A node with something connected to one of its outputs."""
    connection = f"{{from: a, from_output: '{handle}', to: b}}"
    return flow(f"nodes: {{a: {body}, b: {{type: merge}}}}\nconnections: [{connection}]")


def to_node(body: str, handle: str, more: str = "") -> str:
    """A node with something connected to one of its inputs."""
    connection = f"{{from: b, to: a, to_input: {handle}}}"
    return flow(f"nodes: {{a: {body}, b: {{type: merge}}}}\nconnections: [{connection}]") + more


CLOSED_TASK = """
tasks:
  t:
    input_schema: {type: object, properties: {order: {}}, additionalProperties: false}
    output_schema: {type: object, properties: {price: {}}, additionalProperties: false}
    steps: [{ref: s, action: {kind: mock}}]
"""
CLOSED_WORKFLOW = """
workflows:
  w:
    initial_node: a
    nodes: {a: {}}
    input_schema: {type: object, properties: {order: {}}, additionalProperties: false}
"""


def test_a_flow_is_read_whole() -> None:
    found = loaded(DISCOUNT)
    assert found.problems == ()
    assert found.library.flows["discount"] == Flow(
        name="discount",
        nodes={
            "start": FlowNode("trigger"),
            "total": FlowNode("sum", inputs={"values": [10, 20]}),
            "big": FlowNode("if_else", data={"condition": "inputs.main > 25"}),
            "rebate": FlowNode("multiply", inputs={"b": 0.9}),
            "thanks": FlowNode("set", data={"note": "'no rebate'"}),
        },
        declared=("start", "total", "big", "rebate", "thanks"),
        connections=(
            Connection("start", "total"),
            Connection("total", "big", from_output="result"),
            Connection("big", "rebate", from_output="true", to_input="a"),
            Connection("big", "thanks", from_output="false"),
        ),
        on_error="continue",
        limits=FlowLimits(50),
    )


def test_json_is_read_alike() -> None:
    text = '{"flows": {"f": {"nodes": {"a": {"type": "constant", "data": {"value": 5}}}}}}'
    assert loaded(text, "library.json").require().flows["f"].nodes["a"] == FlowNode("constant", data={"value": 5})


@pytest.mark.parametrize(
    ("written", "handle"),
    [
        pytest.param("{from: a, to: b}", "main", id="left out it is main"),
        pytest.param("{from: a, to: b, from_output: done}", "done", id="a name"),
        pytest.param("{from: a, to: b, from_output: true}", "true", id="true without quotes is the handle"),
        pytest.param("{from: a, to: b, from_output: false}", "false", id="and so is false"),
    ],
)
def test_a_handle(written: str, handle: str) -> None:
    assert loaded(connected(written)).library.flows["f"].connections[0].from_output == handle


FETCH = "actions: {fetch: {kind: mock, input_schema: {properties: {id: {type: integer}}, required: [id]}}}\n"
CALLED = "  g: {nodes: {}, input_schema: {properties: {id: {type: integer}}, required: [id]}}\n"
RULES = {
    "a flow without nodes": Rule("missing_key", "flows.f", flow("on_error: fail"), flow("nodes: {}")),
    "a flow key misspelt": Rule(
        "unknown_key", "flows.f.conections", flow("nodes: {}\nconections: []"), flow("nodes: {}\nconnections: []")
    ),
    "a node without a type": Rule("missing_key", "flows.f.nodes.a", node("{data: {}}"), node("{type: merge}")),
    "a node key misspelt": Rule(
        "unknown_key", "flows.f.nodes.a.input", node("{type: merge, input: {}}"), node("{type: merge, inputs: {}}")
    ),
    "a node that is a text": Rule("wrong_type", "flows.f.nodes.a", node("merge"), node("{type: merge}")),
    "a name with a space": Rule(
        "bad_name", 'flows.f.nodes["a b"]', flow("nodes: {a b: {type: merge}}"), node("{type: merge}")
    ),
    "on_error of a node that is a flow's": Rule(
        "unknown_value",
        "flows.f.nodes.a.on_error",
        node("{type: merge, on_error: fail}"),
        node("{type: merge, on_error: route}"),
    ),
    "on_error without its outputs": Rule(
        "missing_key",
        "flows.f.nodes.a.on_error",
        node("{type: merge, on_error: {}}"),
        node("{type: merge, on_error: {default: {}}}"),
    ),
    "on_error with outputs that are a text": Rule(
        "wrong_type",
        "flows.f.nodes.a.on_error.default",
        node("{type: merge, on_error: {default: none}}"),
        node("{type: merge, on_error: {default: {x: none, _branch: x}}}"),
    ),
    "on_error that waits": Rule(
        "reserved_handle",
        "flows.f.nodes.a.on_error.default._wait",
        node("{type: merge, on_error: {default: {_wait: {seconds: 1}}}}"),
        node("{type: merge, on_error: {default: {wait: {seconds: 1}}}}"),
    ),
    "on_error that chooses a branch without a name": Rule(
        "wrong_type",
        "flows.f.nodes.a.on_error.default._branch",
        node("{type: merge, on_error: {default: {_branch: 1}}}"),
        node("{type: merge, on_error: {default: {_branch: '1'}}}"),
    ),
    "run_when misspelt": Rule(
        "unknown_value",
        "flows.f.nodes.a.run_when",
        node("{type: merge, run_when: setled}"),
        node("{type: merge, run_when: settled}"),
    ),
    "an error that is not routed": Rule(
        "handle_without_output",
        "flows.f.connections[0].from_output",
        from_node("{type: constant, data: {value: 1}}", "error"),
        from_node("{type: constant, data: {value: 1}, on_error: route}", "error"),
    ),
    "an output that no default has": Rule(
        "handle_without_output",
        "flows.f.connections[0].from_output",
        from_node("{type: constant, data: {value: 1}, on_error: {default: {x: 1}}}", "y"),
        from_node("{type: constant, data: {value: 1}, on_error: {default: {x: 1}}}", "x"),
    ),
    "the same connection twice": Rule(
        "duplicate_connection",
        "flows.f.connections[1]",
        connected("{from: a, to: b, to_input: x}", "{to: b, from: a, to_input: x, from_output: main}"),
        connected("{from: a, to: b, to_input: x}", "{to: b, from: a, to_input: y}", "{from: c, to: b, to_input: x}"),
    ),
    "a number that is a text": Rule(
        "wrong_type",
        "flows.f.nodes.a.inputs.a",
        node("{type: add, inputs: {a: '1', b: 2}}"),
        node("{type: add, inputs: {a: 1, b: 2.5}}"),
    ),
    "a text among numbers": Rule(
        "wrong_type",
        "flows.f.nodes.a.inputs.values[1]",
        node("{type: sum, inputs: {values: [1, x]}}"),
        node("{type: sum, inputs: {values: []}}"),
    ),
    "seconds that are a text": Rule(
        "wrong_type",
        "flows.f.nodes.a.inputs.seconds",
        node("{type: wait, inputs: {seconds: soon}}"),
        node("{type: wait, inputs: {seconds: 0.5, other: soon}}"),
    ),
    "a time without a zone": Rule(
        "wrong_type",
        "flows.f.nodes.a.inputs.timestamp",
        node("{type: wait_until, inputs: {timestamp: '2030-01-01T00:00:00'}}"),
        node("{type: wait_until, inputs: {timestamp: '2030-01-01T00:00:00Z'}}"),
    ),
    "a template that is a number": Rule(
        "wrong_type",
        "flows.f.nodes.a.inputs.template",
        node("{type: template, inputs: {template: 5}}"),
        node("{type: template, inputs: {template: five, number: 5}}"),
    ),
    "a literal that an action's schema does not allow": Rule(
        "wrong_type",
        "flows.f.nodes.a.inputs.id",
        FETCH + node("{type: fetch, inputs: {id: one}}"),
        FETCH + node("{type: fetch, inputs: {id: 1, main: one, more: one}}"),
    ),
    "a number that nobody gives": Rule(
        "input_not_given",
        "flows.f.nodes.a",
        node("{type: add, inputs: {a: 1, b: null}}"),
        flow(
            "nodes: {c: {type: constant, data: {value: 1}}, a: {type: add, inputs: {a: 1}}}\n"
            "connections: [{from: c, from_output: value, to: a, to_input: b}]"
        ),
    ),
    "a constant without a value": Rule(
        "input_not_given",
        "flows.f.nodes.a",
        node("{type: constant}"),
        node("{type: constant, inputs: {value: 1}}"),
    ),
    "an input that an action requires": Rule(
        "input_not_given",
        "flows.f.nodes.b",
        FETCH + flow("nodes: {a: {type: trigger}, b: {type: fetch, inputs: {x: 1}}}\nconnections: [{from: a, to: b}]"),
        FETCH + flow("nodes: {a: {type: trigger}, b: {type: fetch}}\nconnections: [{from: a, to: b}]"),
    ),
    "an input that a called flow requires": Rule(
        "input_not_given",
        "flows.f.nodes.a",
        node("{type: workflow, data: {workflow: g}}") + CALLED,
        node("{type: workflow, data: {workflow: g}, inputs: {id: 1}}") + CALLED,
    ),
    "a connection to nowhere": Rule(
        "unknown_node", "flows.f.connections[0].to", connected("{from: a, to: d}"), connected("{from: a, to: b}")
    ),
    "a connection from nowhere": Rule(
        "unknown_node", "flows.f.connections[0].from", connected("{from: d, to: a}"), connected("{from: a, to: b}")
    ),
    "a connection with a condition": Rule(
        "unknown_key",
        "flows.f.connections[0].condition",
        connected("{from: a, to: b, condition: 'true'}"),
        connected("{from: a, to: b}"),
    ),
    "a handle that steers": Rule(
        "reserved_handle",
        "flows.f.connections[0].to_input",
        connected("{from: a, to: b, to_input: _branch}"),
        connected("{from: a, to: b, to_input: branch}"),
    ),
    "a cycle": Rule(
        "flow_cycle",
        "flows.f.connections[2]",
        connected("{from: a, to: b}", "{from: b, to: c}", "{from: c, to: a}"),
        connected("{from: a, to: b}", "{from: b, to: c}", "{from: c, to: a}", more="cycles: ignore_back_edges"),
    ),
    "a node that leads to itself": Rule(
        "flow_cycle", "flows.f.connections[0]", connected("{from: a, to: a}"), connected("{from: a, to: b}")
    ),
    "an unknown way with cycles": Rule(
        "unknown_value", "flows.f.cycles", flow("nodes: {}\ncycles: allow"), flow("nodes: {}\ncycles: refuse")
    ),
    "an unknown way with errors": Rule(
        "unknown_value", "flows.f.on_error", flow("nodes: {}\non_error: stop"), flow("nodes: {}\non_error: fail")
    ),
    "a limit of nothing": Rule(
        "out_of_range",
        "flows.f.limits.max_nodes",
        flow("nodes: {}\nlimits: {max_nodes: 0}"),
        flow("nodes: {}\nlimits: {max_nodes: 1}"),
    ),
    "more nodes than may run": Rule(
        "too_many_nodes",
        "flows.f",
        connected(more="limits: {max_nodes: 2}"),
        connected(more="limits: {max_nodes: 3}"),
    ),
    "a type nobody registered": Rule(
        "unknown_node_type",
        "flows.f.nodes.a.type",
        node("{type: fetch}"),
        node("{type: fetch@2}") + "actions: {fetch: {kind: mock}}",
    ),
    "a handle an if_else never takes": Rule(
        "handle_without_output",
        "flows.f.connections[0].from_output",
        from_node("{type: if_else, data: {condition: 'true'}}", "main"),
        from_node("{type: if_else, data: {condition: 'true'}}", "true"),
    ),
    "a handle a switch never takes": Rule(
        "handle_without_output",
        "flows.f.connections[0].from_output",
        from_node("{type: switch, data: {value: inputs.main, cases: [x]}}", "y"),
        from_node("{type: switch, data: {value: inputs.main, cases: [x]}}", "default"),
    ),
    "an output a set never makes": Rule(
        "handle_without_output",
        "flows.f.connections[0].from_output",
        from_node("{type: set, data: {x: 1}}", "y"),
        from_node("{type: set, data: {x: 1}}", "x"),
    ),
    "a literal for a handle that a built-in does not have": Rule(
        "unknown_handle",
        "flows.f.nodes.a.inputs.c",
        node("{type: add, inputs: {a: 1, c: 2}}"),
        node("{type: add, inputs: {a: 1, b: 2, main: 3}}"),
    ),
    "a connection to a handle that a built-in does not have": Rule(
        "unknown_handle",
        "flows.f.connections[0].to_input",
        to_node("{type: sum}", "value"),
        to_node("{type: sum}", "values"),
    ),
    "a repeated handle that a built-in does not have": Rule(
        "unknown_handle",
        "flows.f.nodes.a.repeated[0]",
        node("{type: sum, repeated: [value]}"),
        node("{type: sum, repeated: [values]}"),
    ),
    "an input that a closed task does not have": Rule(
        "unknown_handle",
        "flows.f.connections[0].to_input",
        to_node("{type: t}", "ordr", CLOSED_TASK),
        to_node("{type: t}", "order", CLOSED_TASK),
    ),
    "an input that a called workflow does not have": Rule(
        "unknown_handle",
        "flows.f.connections[0].to_input",
        to_node("{type: workflow, data: {workflow: w}}", "ordr", CLOSED_WORKFLOW),
        to_node("{type: workflow, data: {workflow: w}}", "order", CLOSED_WORKFLOW),
    ),
    "an output that a closed task never gives": Rule(
        "handle_without_output",
        "flows.f.connections[0].from_output",
        from_node("{type: t}", "prize") + CLOSED_TASK,
        from_node("{type: t}", "price") + CLOSED_TASK,
    ),
    "an if_else without a condition": Rule(
        "missing_key",
        "flows.f.nodes.a.data",
        node("{type: if_else, data: {conditon: 'true'}}"),
        node("{type: if_else, data: {condition: 'true'}}"),
    ),
    "a condition that is a number": Rule(
        "wrong_type",
        "flows.f.nodes.a.data.condition",
        node("{type: if_else, data: {condition: 1}}"),
        node("{type: if_else, data: {condition: true}}"),
    ),
    "a condition that gives a text": Rule(
        "expression_type",
        "flows.f.nodes.a.data.condition",
        node("""{type: if_else, data: {condition: "'yes'"}}"""),
        node("{type: if_else, data: {condition: inputs.main}}"),
    ),
    "an expression over what is not there": Rule(
        "expression_invalid",
        "flows.f.nodes.a.data.x",
        node("{type: set, data: {x: state.y}}"),
        node("{type: set, data: {x: context.y, z: inputs.main}}"),
    ),
    "cases that are no list": Rule(
        "wrong_type",
        "flows.f.nodes.a.data.cases",
        node("{type: switch, data: {value: inputs.main, cases: x}}"),
        node("{type: switch, data: {value: inputs.main, cases: [x]}}"),
    ),
    "a case that is no text": Rule(
        "wrong_type",
        "flows.f.nodes.a.data.cases[0]",
        node("{type: switch, data: {value: inputs.main, cases: [1]}}"),
        node("{type: switch, data: {value: inputs.main, cases: ['1']}}"),
    ),
    "a failure on purpose without a type": Rule(
        "missing_key", "flows.f.nodes.a", node("{type: fail}"), node("{type: fail, inputs: {type: dear}}")
    ),
    "a failure on purpose whose message is no template": Rule(
        "template_invalid",
        "flows.f.nodes.a.data.message",
        node("{type: fail, data: {type: dear, message: '{{ inputs'}}"),
        node("{type: fail, data: {type: dear, message: '{{ inputs }}'}}"),
    ),
    "a template that is none": Rule(
        "template_invalid",
        "flows.f.nodes.a.data.template",
        node("{type: template, data: {template: 'Dear {{ inputs.name'}}"),
        node("{type: template, data: {template: 'Dear {{ inputs.name }}'}}"),
    ),
    "a wait for nothing": Rule(
        "out_of_range",
        "flows.f.nodes.a.data.seconds",
        node("{type: wait, data: {seconds: 0}}"),
        node("{type: wait, data: {seconds: 0.5}}"),
    ),
    "a wait for a word": Rule(
        "wrong_type",
        "flows.f.nodes.a.data.seconds",
        node("{type: wait, data: {seconds: [1]}}"),
        node("{type: wait, data: {seconds: inputs.main}}"),
    ),
    "a wait until a time without a zone": Rule(
        "wrong_type",
        "flows.f.nodes.a.data.timestamp",
        node("{type: wait_until, data: {timestamp: '2026-01-31T12:00:00'}}"),
        node("{type: wait_until, data: {timestamp: '2026-01-31T12:00:00Z'}}"),
    ),
    "a wait that nothing says the length of": Rule(
        "wait_without_time",
        "flows.f.nodes.a",
        node("{type: wait, data: {label: nap}}"),
        node("{type: wait, inputs: {seconds: 1}}"),
    ),
    "a wait until nobody knows when": Rule(
        "wait_without_time",
        "flows.f.nodes.b",
        "flows: {f: {nodes: {a: {type: trigger}, b: {type: wait_until}}, connections: [{from: a, to: b}]}}",
        "flows:\n  f:\n    nodes: {a: {type: trigger}, b: {type: wait_until}}\n"
        "    connections: [{from: a, from_output: at, to: b, to_input: timestamp}]",
    ),
    "a wait until a time in small letters without a zone": Rule(
        "wrong_type",
        "flows.f.nodes.a.data.timestamp",
        node("{type: wait_until, data: {timestamp: '2026-01-31t12:00:00'}}"),
        node("{type: wait_until, data: {timestamp: '2026-01-31t12:00:00z'}}"),
    ),
    "a gate whose default answer it would refuse": Rule(
        "default_answer_invalid",
        "flows.f.nodes.a.data.on_timeout",
        node("{type: gate, data: {title: Go?, schema: {type: boolean}, on_timeout: 3}}"),
        node("{type: gate, data: {title: Go?, schema: {type: boolean}, on_timeout: true}}"),
    ),
    "no such workflow": Rule(
        "unknown_workflow",
        "flows.f.nodes.a.data.workflow",
        node("{type: workflow, data: {workflow: w}}"),
        node("{type: workflow, data: {workflow: g}}") + "  g: {nodes: {}}\n",
    ),
    "no such agent": Rule(
        "unknown_agent",
        "flows.f.nodes.a.data.agent",
        node("{type: agent, data: {agent: bob}}"),
        node("{type: merge, data: {agent: bob}}"),
    ),
    "an output mapped from what is not there": Rule(
        "expression_invalid",
        "flows.f.output_mapping.x",
        flow("nodes: {}\noutput_mapping: {x: output.y}"),
        flow("nodes: {}\noutput_mapping: {x: context.y}"),
    ),
    "an output mapped to no path": Rule(
        "mapping_target",
        'flows.f.output_mapping["x..y"]',
        flow("nodes: {}\noutput_mapping: {x..y: 1}"),
        flow("nodes: {}\noutput_mapping: {x.y: 1}"),
    ),
    "a flow and a workflow of one name": Rule(
        "duplicate_definition",
        "flows.f",
        "workflows: {f: {initial_node: a, nodes: {a: }}}\n" + flow("nodes: {}"),
        "workflows: {w: {initial_node: a, nodes: {a: }}}\n" + flow("nodes: {}"),
    ),
}
WARNINGS = {"input_not_given", "too_many_nodes", "unknown_node_type", "handle_without_output", "wait_without_time"}


@pytest.mark.parametrize("rule", [pytest.param(rule, id=sentence) for sentence, rule in RULES.items()])
def test_a_rule_of_flows(rule: Rule) -> None:
    severity = "warning" if rule.code in WARNINGS else "error"
    found = problems(rule.broken)
    assert (rule.code, rule.path, severity) in {(p.code, p.path, p.severity) for p in found}
    assert all(p.remedy and p.line for p in found)
    assert [p for p in problems(rule.sound) if p.code == rule.code or p.severity == "error"] == []


def test_a_cycle_is_spelled_out() -> None:
    (problem,) = problems(connected("{from: b, to: c}", "{from: c, to: b}", "{from: a, to: b}"))
    assert "b → c → b" in problem.problem


def test_everything_is_said_at_once() -> None:
    text = flow("""
        nodes: {a: {typ: merge}, b: {type: nobody}}
        connections: [{from: a, to: x}, {from: b}]
        on_error: perhaps
    """)
    assert sorted({p.code for p in problems(text)}) == [
        "missing_key",
        "unknown_key",
        "unknown_node",
        "unknown_node_type",
        "unknown_value",
    ]


@pytest.mark.parametrize(
    ("more", "same"),
    [
        pytest.param({"description": "Other words.", "tags": ["x"]}, True, id="a description"),
        pytest.param({"on_error": "continue", "cycles": "refuse"}, True, id="a default written out"),
        pytest.param({"on_error": "fail"}, False, id="what an error does"),
        pytest.param({"nodes": {"a": {"type": "sum"}, "b": {"type": "merge"}}}, False, id="another type"),
        pytest.param({"nodes": {"b": {"type": "merge"}, "a": {"type": "merge"}}}, False, id="the order of nodes"),
        pytest.param({"connections": [{"from": "a", "to": "b"}]}, False, id="a connection"),
    ],
)
def test_what_makes_a_new_version(more: dict[str, object], same: bool) -> None:
    body = {"nodes": {"a": {"type": "merge"}, "b": {"type": "merge"}}}
    plain = library_from({"flows": {"f": body}}).require().flows["f"]
    other = library_from({"flows": {"f": {**body, **more}}}).require().flows["f"]
    assert (definition_hash(plain) == definition_hash(other)) == same
