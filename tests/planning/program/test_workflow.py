"""A workflow made ready for planning: expressions compile_value, transitions in tiers."""

import pytest

from jeton.definitions import library_from
from jeton.expression.mapping import compile_value
from jeton.expression.schema import compile_schema
from jeton.expression.templates.template import TemplateProblem
from jeton.model.definition.task import Step, Task
from jeton.model.definition.workflow import Synchronization, WaitTarget
from jeton.model.json import Json, JsonObject
from jeton.planning.program.workflow import compile_program
from jeton.planning.schema_problem import schema_problem
from tests.planning.given import workflow


def tiers(*transitions: str) -> list[list[int]]:
    """By tier, the ways out of `a`, as they are numbered."""
    listed = "\n".join(f"- {{from: a, to: b, {each}}}" for each in transitions)
    program = workflow(f"nodes: {{a: {{}}, b: {{}}}}\ntransitions:\n{listed}")
    return [[each.index for each in tier] for tier in program.nodes["a"].tiers]


@pytest.mark.parametrize(
    ("transitions", "then"),
    [
        pytest.param(["", ""], [[0, 1]], id="without a priority all are rivals, as declared"),
        pytest.param(["priority: 2", "priority: 1", "priority: 2"], [[1], [0, 2]], id="a lower number comes first"),
        pytest.param(["priority: 2", ""], [[1], [0]], id="the default is 1"),
        pytest.param(
            ["priority: 10", "priority: 9", "priority: 8", "priority: 1"], [[3], [2], [1], [0]], id="as numbers"
        ),
    ],
)
def test_the_ways_out_of_a_node_are_in_tiers(transitions: list[str], then: list[list[int]]) -> None:
    assert tiers(*transitions) == then


HANDLERS = workflow("""
nodes: {a: {}, b: {}}
transitions:
- {from: a, to: b, priority: 3}
- {from: a, to: b, condition: has(state._last_error), priority: 2}
- {from: a, to: b, condition: "state._last_error.type == 'x'"}
- {from: a, to: b, condition: state.x}
- {from: a, to: b, condition: "input._last_error"}
""")


def test_only_what_speaks_of_the_last_error_handles_a_failure() -> None:
    assert [[each.index for each in tier] for tier in HANDLERS.nodes["a"].handlers] == [[2], [1]]
    assert [each.index for each in HANDLERS.transitions if each.handles_failure] == [1, 2]


@pytest.mark.parametrize(
    ("transitions", "then"),
    [
        pytest.param("[{from: a, to: b}]", True, id="the only one"),
        pytest.param("[{from: a, to: b, condition: true}]", True, id="with a condition that is always true"),
        pytest.param("[{from: a, to: b, condition: 'true'}]", True, id="or says so"),
        pytest.param("[{from: a, to: b, synchronization: {}}, {from: c, to: a, spawn_count: 1}]", True, id="to a join"),
        pytest.param("[{from: a, to: b}, {from: a, to: b}]", False, id="one of two is not"),
        pytest.param("[{from: a, to: b, condition: input.x}]", False, id="one that may not match is not"),
        pytest.param("[{from: a, to: b, spawn_count: 1}]", False, id="one that fans out is not"),
        pytest.param("[{from: a, to: b, sibling_group: g}]", False, id="one that names a group is not"),
        pytest.param("[{from: a, to: b, loop_config: {max_iterations: 1}}]", False, id="one that is counted is not"),
        pytest.param("[]", False, id="none is not"),
    ],
)
def test_the_way_on_that_needs_no_thought(transitions: str, then: bool) -> None:
    names = [name for name in "cab" if f": {name}" in transitions] or ["a"]
    nodes = ", ".join(f"{name}: {{}}" for name in names)
    direct = workflow(f"{{nodes: {{{nodes}}}, transitions: {transitions}}}").nodes["a"].direct
    assert (direct is not None) is then
    assert direct is None or [(each.transition, each.verdict) for each in direct.considered] == [(0, "matched")]


TASKS: JsonObject = {"work": {"steps": [{"ref": "s", "action": "ask"}], "timeout_ms": 7}}


@pytest.mark.parametrize(
    ("node", "then"),
    [
        pytest.param({"task": "work"}, Task((Step("ask", ref="s"),), timeout_ms=7), id="by name"),
        pytest.param({"task": "work@1"}, Task((Step("ask", ref="s"),), timeout_ms=7), id="by name and version"),
        pytest.param({"task": {"steps": [{"ref": "t", "action": "ask"}]}}, Task((Step("ask", ref="t"),)), id="itself"),
        pytest.param({"gate": {"title": "t"}}, None, id="a gate has none"),
        pytest.param({}, None, id="nor has a node without a target"),
    ],
)
def test_the_task_of_a_node(node: JsonObject, then: Task | None) -> None:
    source: dict[str, object] = {
        "workflows": {"w": {"initial_node": "a", "nodes": {"a": node}}},
        "tasks": TASKS,
        "actions": {"ask": {"kind": "mock"}},
    }
    library = library_from(source).require()
    assert compile_program(library.workflows["w"], library).nodes["a"].task == then


@pytest.mark.parametrize(
    ("source", "then"),
    [
        pytest.param("input.x", 1, id="a text is an expression"),
        pytest.param("'input.x'", "input.x", id="in which a text has quotes"),
        pytest.param(3, 3, id="a number is itself"),
        pytest.param({"a": ["input.x"]}, {"a": ["input.x"]}, id="so is an object, and all in it"),
        pytest.param(None, None, id="and nothing"),
    ],
)
def test_what_a_mapping_says(source: Json, then: Json) -> None:
    assert compile_value(source, ("input",)).evaluate({"input": {"x": 1}}) == then


def test_mappings_keep_their_order_and_may_name_items() -> None:
    program = workflow("""
nodes: {s: {}, a: {task: work, input_mapping: {z: item.x, a: input.y}, output_mapping: {state.q: result}}}
transitions: [{from: s, to: a, foreach: {collection: input.items, item_var: item}}]
output_mapping: {out: state.q}
""")
    node = program.nodes["a"]
    assert node.input_mapping is not None
    assert [target for target, _ in node.input_mapping] == ["z", "a"]
    assert node.output_mapping is not None
    assert node.output_mapping[0][1].evaluate({"result": 5}) == 5
    assert program.output_mapping is not None
    assert program.output_mapping[0][1].evaluate({"state": {"q": 6}}) == 6
    assert workflow("nodes: {a: {}}").output_mapping is None


def test_a_gates_title_is_a_template_in_which_nothing_is_missing_and_that_ends() -> None:
    title = workflow("nodes: {a: {gate: {title: 'Hi {{ input.x }}'}}}").nodes["a"].text
    assert title.render({"input": {"x": "Ada"}}) == "Hi Ada"
    with pytest.raises(TemplateProblem):
        title.render({"input": {}})
    endless = "{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}"
    with pytest.raises(TemplateProblem):
        workflow(f'nodes: {{a: {{gate: {{title: "{endless}"}}}}}}').nodes["a"].text.render({})


SCHEMA = workflow("""
nodes:
  a: {gate: {title: t, schema: {type: integer}}}
  b: {wait: {signal: go, schema: {type: integer}}}
  c: {wait: {signal: go}}
transitions: [{from: a, to: b}, {from: b, to: c}]
state_schema:
  $defs: {whole: {type: integer}}
  additionalProperties: false
  properties: {n: {$ref: "#/$defs/whole"}, any: true, none: false}
input_schema: {type: object}
output_schema: {type: object}
""")


def test_what_people_and_signals_say_is_checked_if_there_is_a_schema() -> None:
    signals = next(node.signals for node in SCHEMA.nodes.values() if node.signals)
    for validator in (next(node.validator for node in SCHEMA.nodes.values() if node.validator), *signals.values()):
        assert schema_problem(validator, 1, "value") is None
        assert schema_problem(validator, "x", "value") is not None
    assert SCHEMA.nodes["c"].validator is None
    assert compile_schema(None) is None
    assert schema_problem(SCHEMA.input_validator, 1, "value") is not None
    assert schema_problem(SCHEMA.output_validator, 1, "value") is not None


@pytest.mark.parametrize(
    ("key", "value", "then"),
    [
        pytest.param("n", 1, True, id="each key has its own schema"),
        pytest.param("n", "x", False, id="which may use what the whole schema defines"),
        pytest.param("any", "x", True, id="true takes everything"),
        pytest.param("none", 1, False, id="false takes nothing"),
    ],
)
def test_the_state_is_checked_key_by_key(key: str, value: Json, then: bool) -> None:
    assert (SCHEMA.state_validators[key].problem(value, "value") is None) is then


def test_a_state_is_open_unless_its_schema_closes_it() -> None:
    assert not SCHEMA.state_open
    assert workflow("{nodes: {a: {}}, state_schema: {properties: {n: {}}}}").state_open
    assert workflow("nodes: {a: {}}").state_open


def test_a_node_costs_one_credit_unless_a_price_is_written() -> None:
    program = workflow(
        "nodes: {a: {task: work}, b: {}}\ntransitions: [{from: a, to: b}]", {"credits": {"costs": {"work": 4}}}
    )
    assert (program.price("a"), program.price("b")) == (4, 1)


EVERYTHING = workflow("""
nodes:
  s: {}
  a: {wait: {seconds: input.n, label: nap}}
  b: {wait: {until: input.t}, input_mapping: {x: _branch.index, y: output.z, q: state.q}}
  c: {wait: {signal: go}}
  end: {}
transitions:
- {from: s, to: a, foreach: {collection: input.items, item_var: item, max_parallel: 3}, sibling_group: g}
- {from: a, to: b, spawn_count: input.n, loop_config: {max_iterations: 4}}
- {from: b, to: c, condition: result == 5}
- {from: c, to: end, synchronization: {strategy: any, sibling_group: g}}
""")


def test_a_transition_keeps_all_that_is_written_for_it() -> None:
    each, spawn, plain, join = EVERYTHING.transitions
    assert each.collection is not None
    assert each.collection.evaluate({"input": {"items": [1]}}) == [1]
    assert (each.item_var, each.max_parallel, each.group, each.makes_slots) == ("item", 3, "g", True)
    assert spawn.spawn_count is not None
    assert spawn.spawn_count.evaluate({"input": {"n": 2}}) == 2
    assert (spawn.collection, spawn.max_iterations, spawn.makes_slots) == (None, 4, True)
    assert plain.condition is not None
    assert plain.condition.holds({"result": 5}) is True
    assert (plain.source, plain.makes_slots, plain.spawn_count, plain.synchronization) == (
        "result == 5",
        False,
        None,
        None,
    )
    assert join.synchronization == Synchronization("any", "g")
    assert [(one.index, one.target) for one in EVERYTHING.transitions] == [(0, "a"), (1, "b"), (2, "c"), (3, "end")]


def test_a_wait_keeps_how_long_it_is() -> None:
    seconds, until, signal = (EVERYTHING.nodes[name] for name in "abc")
    assert seconds.seconds is not None
    assert (seconds.seconds.evaluate({"input": {"n": 2}}), seconds.until) == (2, None)
    assert until.until is not None
    assert (until.until.evaluate({"input": {"t": "x"}}), until.seconds) == ("x", None)
    assert signal.wait == WaitTarget(signal="go")
    assert (signal.seconds, signal.until, EVERYTHING.nodes["s"].wait) == (None, None, None)


def test_a_mapping_may_read_the_branch_the_state_and_the_output() -> None:
    mapping = EVERYTHING.nodes["b"].input_mapping
    assert mapping is not None
    names: JsonObject = {"_branch": {"index": 7}, "output": {"z": 8}, "state": {"q": 9}}
    assert [source.evaluate(names) for _, source in mapping] == [7, 8, 9]
