"""Shapes: unknown keys, wrong types, numbers out of range, names that are none."""

import pytest

from jeton.definitions import library_from
from tests.definitions.given import Rule, problems, workflow

ONE_NODE = "initial_node: a\nnodes: {a: %s}"


def node(body: str) -> str:
    return workflow(ONE_NODE % body)


def transition(more: str) -> str:
    return workflow("initial_node: a\nnodes: {a: {}, b: {}}\ntransitions: [{from: a, to: b, " + more + "}]")


def action(body: str) -> str:
    return node(f"{{action: {body}}}")


def step(body: str) -> str:
    return f"tasks: {{t: {{steps: [{body}]}}}}"


def state_default(value: int) -> str:
    schema = f"{{$defs: {{n: {{minimum: 3}}}}, properties: {{x: {{$ref: '#/$defs/n', default: {value}}}}}}}"
    return workflow(ONE_NODE % "{}" + f"\nstate_schema: {schema}")


SHAPES = {
    "a section misspelt": Rule("unknown_section", "workflos", "workflos: {}", "workflows: {}"),
    "a file that is a list": Rule("wrong_type", "", "[]", "{}"),
    "a section that is a list": Rule("wrong_type", "workflows", "workflows: []", "workflows:"),
    "a model profile without a provider": Rule(
        "missing_key",
        "model_profiles.fast",
        "model_profiles: {fast: {model: m}}",
        "model_profiles: {fast: {provider: openai}}",
    ),
    "a price misspelt": Rule(
        "unknown_key",
        "model_profiles.fast.prices.inputs",
        "model_profiles: {fast: {provider: openai, prices: {inputs: 3}}}",
        "model_profiles: {fast: {provider: openai, model: m, parameters: {top_p: 1}, prices: {input: 3, output: 0}}}",
    ),
    "a price that is no whole number": Rule(
        "wrong_type",
        "model_profiles.fast.prices.output",
        "model_profiles: {fast: {provider: openai, prices: {output: 0.5}}}",
        "model_profiles: {fast: {provider: openai, prices: {output: 5}}}",
    ),
    "a price beyond all": Rule(
        "out_of_range",
        "model_profiles.fast.prices.input",
        "model_profiles: {fast: {provider: openai, prices: {input: 1000000001}}}",
        "model_profiles: {fast: {provider: openai, prices: {input: 1000000000}}}",
    ),
    "a price below nothing": Rule(
        "out_of_range",
        "model_profiles.fast.prices.input",
        "model_profiles: {fast: {provider: openai, prices: {input: -1}}}",
        "model_profiles: {fast: {provider: openai, prices: {input: 0}}}",
    ),
    "project with another key": Rule(
        "unknown_key", "project.setings", "project: {setings: {}}", "project: {settings: {credits: {balance: 3}}}"
    ),
    "a name with a space": Rule(
        "bad_name", 'tasks["a b"]', "tasks: {a b: {steps: [{action: {kind: mock}}]}}", step("{action: {kind: mock}}")
    ),
    "a name that is too long": Rule(
        "bad_name",
        f'workflows.w.nodes["{"x" * 64}"]',
        workflow(f"initial_node: {'x' * 65}\nnodes: {{{'x' * 65}: {{}}}}"),
        workflow(f"initial_node: {'x' * 64}\nnodes: {{{'x' * 64}: {{}}}}"),
    ),
    "a workflow key misspelt": Rule(
        "unknown_key", "workflows.w.timeout", workflow(ONE_NODE % "{}" + "\ntimeout: 5"), node("{}")
    ),
    "a node key misspelt": Rule(
        "unknown_key", "workflows.w.nodes.a.inputs", node("{inputs: {}}"), node("{input_mapping: {}}")
    ),
    "a transition key misspelt": Rule(
        "unknown_key", "workflows.w.transitions[0].prio", transition("prio: 1"), transition("priority: 1")
    ),
    "a step key misspelt": Rule(
        "unknown_key",
        "tasks.t.steps[0].retry",
        step("{action: {kind: mock}, retry: {}}"),
        step("{action: {kind: mock}, on_failure: retry}"),
    ),
    "no initial node": Rule("missing_key", "workflows.w", workflow("nodes: {a: {}}"), node("{}")),
    "no nodes at all": Rule("missing_key", "workflows.w.nodes", workflow("initial_node: a\nnodes: {}"), node("{}")),
    "a task without steps": Rule(
        "missing_key", "tasks.t.steps", "tasks: {t: {steps: []}}", step("{action: {kind: mock}}")
    ),
    "two steps of one name": Rule(
        "duplicate_name",
        "tasks.t.steps[1].ref",
        step("{ref: x, action: {kind: mock}}, {ref: x, action: {kind: mock}}"),
        step("{ref: x, action: {kind: mock}}, {ref: y, action: {kind: mock}}"),
    ),
    "a timeout that is text": Rule(
        "expression_invalid", "workflows.w.timeout_ms", workflow(ONE_NODE % "{}" + "\ntimeout_ms: 1h"), node("{}")
    ),
    "a timeout of nothing": Rule(
        "out_of_range",
        "workflows.w.timeout_ms",
        workflow(ONE_NODE % "{}" + "\ntimeout_ms: 0"),
        workflow(ONE_NODE % "{}" + "\ntimeout_ms: 1"),
    ),
    "a limit of nothing": Rule(
        "out_of_range",
        "workflows.w.limits.max_tokens",
        workflow(ONE_NODE % "{}" + "\nlimits: {max_tokens: 0}"),
        workflow(ONE_NODE % "{}" + "\nlimits: {max_tokens: 1}"),
    ),
    "a negative priority": Rule(
        "out_of_range", "workflows.w.transitions[0].priority", transition("priority: -1"), transition("priority: 0")
    ),
    "a boolean as priority": Rule(
        "wrong_type", "workflows.w.transitions[0].priority", transition("priority: true"), transition("priority: 7")
    ),
    "a loop of no rounds": Rule(
        "out_of_range",
        "workflows.w.transitions[0].loop_config.max_iterations",
        transition("loop_config: {max_iterations: 0}"),
        transition("loop_config: {max_iterations: 1}, priority: 1}, {from: a, to: b, priority: 2"),
    ),
    "nothing in parallel": Rule(
        "out_of_range",
        "workflows.w.transitions[0].foreach.max_parallel",
        transition("foreach: {collection: [1], max_parallel: 0}"),
        transition("foreach: {collection: [1], max_parallel: 1}"),
    ),
    "a negative number of branches": Rule(
        "out_of_range",
        "workflows.w.transitions[0].spawn_count",
        transition("spawn_count: -1"),
        transition("spawn_count: 0"),
    ),
    "a number as collection": Rule(
        "wrong_type",
        "workflows.w.transitions[0].foreach.collection",
        transition("foreach: {collection: 5}"),
        transition("foreach: {collection: input.x}"),
    ),
    "a number as condition": Rule(
        "wrong_type",
        "workflows.w.transitions[0].condition",
        transition("condition: 5"),
        transition("condition: true"),
    ),
    "an item variable that is taken": Rule(
        "bad_name",
        "workflows.w.transitions[0].foreach.item_var",
        transition("foreach: {collection: [1], item_var: state}"),
        transition("foreach: {collection: [1], item_var: item}"),
    ),
    "an item variable that is no identifier": Rule(
        "bad_name",
        "workflows.w.transitions[0].foreach.item_var",
        transition("foreach: {collection: [1], item_var: a-b}"),
        transition("foreach: {collection: [1], item_var: a_b}"),
    ),
    "an item variable that CEL keeps for itself": Rule(
        "bad_name",
        "workflows.w.transitions[0].foreach.item_var",
        transition("foreach: {collection: [1], item_var: for}"),
        transition("foreach: {collection: [1], item_var: four}"),
    ),
    "two ways to fan out": Rule(
        "two_fan_outs",
        "workflows.w.transitions[0]",
        transition("foreach: {collection: [1]}, spawn_count: 2"),
        transition("spawn_count: 2"),
    ),
    "a strategy nobody knows": Rule(
        "wrong_type",
        "workflows.w.transitions[0].synchronization.strategy",
        transition("spawn_count: 2, synchronization: {strategy: most}"),
        transition("spawn_count: 2, synchronization: {strategy: any}"),
    ),
    "a quorum of none": Rule(
        "out_of_range",
        "workflows.w.transitions[0].synchronization.strategy.m_of_n",
        transition("spawn_count: 2, synchronization: {strategy: {m_of_n: 0}}"),
        transition("spawn_count: 2, synchronization: {strategy: {m_of_n: 1}}"),
    ),
    "a merge strategy nobody knows": Rule(
        "unknown_value",
        "workflows.w.transitions[0].synchronization.merge.strategy",
        transition("spawn_count: 2, synchronization: {merge: {target: state.x, strategy: apend}}"),
        transition("spawn_count: 2, synchronization: {merge: {target: state.x, strategy: append}}"),
    ),
    "a merge of something else": Rule(
        "merge_path",
        "workflows.w.transitions[0].synchronization.merge.source",
        transition("spawn_count: 2, synchronization: {merge: {source: state.y, target: state.x}}"),
        transition("spawn_count: 2, synchronization: {merge: {source: _branch.output.y, target: state.x}}"),
    ),
    "a merge into the input": Rule(
        "merge_path",
        "workflows.w.transitions[0].synchronization.merge.target",
        transition("spawn_count: 2, synchronization: {merge: {target: input.x}}"),
        transition("spawn_count: 2, synchronization: {merge: {target: output.x}}"),
    ),
    "two targets": Rule(
        "two_targets",
        "workflows.w.nodes.a",
        node("{wait: {seconds: 1}, gate: {title: x}}"),
        node("{gate: {title: x}}"),
    ),
    "a call's key without a call": Rule(
        "key_without_target",
        "workflows.w.nodes.a.timeout_ms",
        node("{action: {kind: mock}, timeout_ms: 5}"),
        "workflows: {v: {initial_node: a, nodes: {a: {}}}, "
        "w: {initial_node: a, nodes: {a: {workflow: v, timeout_ms: 5}}}}",
    ),
    "a wait for nothing": Rule(
        "wrong_type", "workflows.w.nodes.a.wait", node("{wait: {label: x}}"), node("{wait: {seconds: 1, label: x}}")
    ),
    "a wait for two things": Rule(
        "wrong_type",
        "workflows.w.nodes.a.wait",
        node("{wait: {seconds: 1, signal: go}}"),
        node("{wait: {signal: go, timeout_ms: 5}}"),
    ),
    "a timed wait with a schema": Rule(
        "key_without_target",
        "workflows.w.nodes.a.wait.schema",
        node("{wait: {seconds: 1, schema: {}}}"),
        node("{wait: {signal: go, schema: {}}}"),
    ),
    "a negative wait": Rule(
        "out_of_range",
        "workflows.w.nodes.a.wait.seconds",
        node("{wait: {seconds: -1}}"),
        node("{wait: {seconds: 0.5}}"),
    ),
    "a failure on purpose without a type": Rule(
        "missing_key",
        "workflows.w.nodes.a.action.implementation",
        action("{kind: fail, implementation: {message: no}}"),
        action("{kind: fail, implementation: {type: dear}}"),
    ),
    "a failure on purpose whose type is no name": Rule(
        "bad_name",
        "workflows.w.nodes.a.action.implementation.type",
        action("{kind: fail, implementation: {type: too dear}}"),
        action("{kind: fail, implementation: {type: too_dear}}"),
    ),
    "a failure on purpose whose message is no template": Rule(
        "template_invalid",
        "workflows.w.nodes.a.action.implementation.message",
        action("{kind: fail, implementation: {type: dear, message: '{{ input'}}"),
        action("{kind: fail, implementation: {type: dear, message: '{{ input }}'}}"),
    ),
    "an assert whose message is no template": Rule(
        "template_invalid",
        "workflows.w.nodes.a.action.implementation.message",
        action("{kind: assert, implementation: {that: true, type: dear, message: '{{ input'}}"),
        action("{kind: assert, implementation: {that: true, type: dear, message: '{{ input }}'}}"),
    ),
    "a wait for a signal and for several": Rule(
        "wrong_type",
        "workflows.w.nodes.a.wait",
        node("{wait: {signal: go, signals: {stop: }}}"),
        node("{wait: {signals: {go: , stop: }}}"),
    ),
    "a wait for none of several signals": Rule(
        "wrong_type",
        "workflows.w.nodes.a.wait.signals",
        node("{wait: {signals: {}}}"),
        node("{wait: {signals: {go: {}}}}"),
    ),
    "a schema beside several signals": Rule(
        "key_without_target",
        "workflows.w.nodes.a.wait.schema",
        node("{wait: {signals: {go: {}}, schema: {}}}"),
        node("{wait: {signals: {go: {schema: {}}}}}"),
    ),
    "a signal whose name is none": Rule(
        "bad_name",
        'workflows.w.nodes.a.wait.signals["go on"]',
        node("{wait: {signals: {go on: {}}}}"),
        node("{wait: {signals: {go_on: {}}}}"),
    ),
    "a signal with an unknown key": Rule(
        "unknown_key",
        "workflows.w.nodes.a.wait.signals.go.timeout_ms",
        node("{wait: {signals: {go: {timeout_ms: 5}}}}"),
        node("{wait: {signals: {go: {}}, timeout_ms: 5}}"),
    ),
    "a default of a timed wait": Rule(
        "key_without_target",
        "workflows.w.nodes.a.wait.on_timeout",
        node("{wait: {seconds: 1, on_timeout: 1}}"),
        node("{wait: {signal: go, timeout_ms: 5, on_timeout: 1}}"),
    ),
    "an end that is no end": Rule(
        "unknown_value", "workflows.w.nodes.a.end", node("{end: done}"), node("{end: completed}")
    ),
    "an end without a way to end": Rule(
        "missing_key", "workflows.w.nodes.a.end", node("{end: {}}"), node("{end: {failed: {type: dear}}}")
    ),
    "a failed end without a type": Rule(
        "missing_key",
        "workflows.w.nodes.a.end.failed",
        node("{end: {failed: {message: no}}}"),
        node("{end: {failed: {type: dear, message: no}}}"),
    ),
    "a failed end whose type is no name": Rule(
        "bad_name",
        "workflows.w.nodes.a.end.failed.type",
        node("{end: {failed: {type: too dear}}}"),
        node("{end: {failed: {type: too_dear}}}"),
    ),
    "an end with an output": Rule(
        "key_without_target",
        "workflows.w.nodes.a.output_mapping",
        node("{end: completed, output_mapping: {output.x: '1'}}"),
        node("{end: completed, input_mapping: {x: '1'}}"),
    ),
    "a gate nobody need answer": Rule(
        "out_of_range",
        "workflows.w.nodes.a.gate.approvals",
        node("{gate: {title: x, approvals: 0}}"),
        node("{gate: {title: x, approvals: 2, assignees: [ann, bob]}}"),
    ),
    "an assignee that is a number": Rule(
        "wrong_type",
        "workflows.w.nodes.a.gate.assignees[0]",
        node("{gate: {title: x, assignees: [5]}}"),
        node("{gate: {title: x, assignees: ['5']}}"),
    ),
    "a fan_out nobody knows": Rule(
        "unknown_value",
        "workflows.w.nodes.a.fan_out",
        node("{fan_out: first}"),
        node("{fan_out: first_match}"),
    ),
    "an action kind misspelt": Rule(
        "unknown_kind", "workflows.w.nodes.a.action.kind", action("{kind: mok}"), action("{kind: mock}")
    ),
    "a person inside a task": Rule(
        "node_target_in_task",
        "tasks.t.steps[0].action.kind",
        step("{action: {kind: human}}, {action: {kind: mock}}"),
        step("{action: {kind: emit}}, {action: {kind: mock}}"),
    ),
    "a workflow inside a task": Rule(
        "node_target_in_task",
        "tasks.t.steps[0].action.kind",
        step("{action: {kind: workflow}}"),
        step("{action: {kind: http, implementation: {method: GET, url: x}}}"),
    ),
    "an implementation that is a text": Rule(
        "wrong_type",
        "workflows.w.nodes.a.action.implementation",
        action("{kind: http, implementation: x}"),
        action("{kind: http, implementation: {url: x}}"),
    ),
    "an assert of nothing": Rule(
        "missing_key",
        "workflows.w.nodes.a.action.implementation",
        action("{kind: assert}"),
        action("{kind: assert, implementation: {that: input.x == 1}}"),
    ),
    "a context action that does nothing": Rule(
        "wrong_type",
        "workflows.w.nodes.a.action.implementation",
        action("{kind: context}"),
        action("{kind: context, implementation: {validate: {schema: {type: object}}}}"),
    ),
    "a context action that does both": Rule(
        "wrong_type",
        "workflows.w.nodes.a.action.implementation",
        action("{kind: context, implementation: {set: {}, validate: {schema: {}}}}"),
        action("{kind: context, implementation: {set: {x: '1'}}}"),
    ),
    "a mock of two minds": Rule(
        "wrong_type",
        "workflows.w.nodes.a.action.implementation",
        action("{kind: mock, implementation: {output: 1, schema: {}}}"),
        action("{kind: mock, implementation: {schema: {type: object}, seed: 7}}"),
    ),
    "a mock with a key of another kind": Rule(
        "unknown_key",
        "workflows.w.nodes.a.action.implementation.outputs",
        action("{kind: mock, implementation: {outputs: 1}}"),
        action("{kind: mock, implementation: {output: 1, fail: {times: 1, message: x, transient: true}}}"),
    ),
    "a delay that ends before it begins": Rule(
        "out_of_range",
        "workflows.w.nodes.a.action.implementation.delay_ms.max",
        action("{kind: mock, implementation: {delay_ms: {min: 5, max: 4}}}"),
        action("{kind: mock, implementation: {delay_ms: {min: 5, max: 5}}}"),
    ),
    "no attempt at all": Rule(
        "out_of_range",
        "workflows.w.nodes.a.action.execution.retry_policy.max_attempts",
        action("{kind: mock, execution: {retry_policy: {max_attempts: 0}}}"),
        action("{kind: mock, execution: {retry_policy: {max_attempts: 1}, rate_per_s: 0.5}}"),
    ),
    "a rate of nothing": Rule(
        "out_of_range",
        "workflows.w.nodes.a.action.execution.rate_per_s",
        action("{kind: mock, execution: {rate_per_s: 0}}"),
        action("{kind: mock, execution: {rate_per_s: 1}}"),
    ),
    "a breaker that is always open": Rule(
        "out_of_range",
        "workflows.w.nodes.a.action.execution.circuit_breaker.failures",
        action("{kind: mock, execution: {circuit_breaker: {failures: 0}}}"),
        action("{kind: mock, execution: {circuit_breaker: {failures: 1, cool_down_ms: 5}}}"),
    ),
    "a backoff nobody knows": Rule(
        "unknown_value",
        "tasks.t.retry.backoff",
        "tasks: {t: {steps: [{action: {kind: mock}}], retry: {backoff: exponentially}}}",
        "tasks: {t: {steps: [{action: {kind: mock}}], retry: {backoff: exponential, max_attempts: 2}}}",
    ),
    "a number as a step's condition": Rule(
        "wrong_type",
        "tasks.t.steps[0].condition.if",
        step("{action: {kind: mock}, condition: {if: 5}}"),
        step("{action: {kind: mock}, condition: {if: true}}"),
    ),
    "an outcome nobody knows": Rule(
        "unknown_value",
        "tasks.t.steps[0].condition.else",
        step("{action: {kind: mock}, condition: {if: input.x, else: abort}}"),
        step("{action: {kind: mock}, condition: {if: input.x, else: fail}}"),
    ),
    "a schema with a type nobody knows": Rule(
        "schema_invalid",
        "workflows.w.input_schema.properties.x.type",
        workflow(ONE_NODE % "{}" + "\ninput_schema: {properties: {x: {type: strin}}}"),
        workflow(ONE_NODE % "{}" + "\ninput_schema: {properties: {x: {type: string}}}"),
    ),
    "a schema that refers to the network": Rule(
        "schema_invalid",
        'workflows.w.input_schema["$ref"]',
        workflow(ONE_NODE % "{}" + "\ninput_schema: {$ref: 'http://127.0.0.1:9/x'}"),
        workflow(ONE_NODE % "{}" + "\ninput_schema: {$ref: '#/$defs/x', $defs: {x: {type: object}}}"),
    ),
    "a schema that refers to nothing": Rule(
        "schema_invalid",
        "workflows.w.input_schema",
        workflow(ONE_NODE % "{}" + "\ninput_schema: {$ref: '#/$defs/x'}"),
        workflow(ONE_NODE % "{}" + "\ninput_schema: {$ref: '#'}"),
    ),
    "a default that does not fit its own schema": Rule(
        "schema_invalid",
        "workflows.w.state_schema.properties.x.default",
        state_default(2),
        state_default(3),
    ),
    "a schema of another draft": Rule(
        "schema_invalid",
        'workflows.w.input_schema["$schema"]',
        workflow(ONE_NODE % "{}" + "\ninput_schema: {$schema: 'http://json-schema.org/draft-07/schema#'}"),
        workflow(ONE_NODE % "{}" + "\ninput_schema: {$schema: 'https://json-schema.org/draft/2020-12/schema'}"),
    ),
    "a schema with a pattern that is none": Rule(
        "schema_invalid",
        "workflows.w.input_schema.pattern",
        workflow(ONE_NODE % "{}" + "\ninput_schema: {pattern: '('}"),
        workflow(ONE_NODE % "{}" + "\ninput_schema: {pattern: '()'}"),
    ),
    "a fan_in beside a synchronization": Rule(
        "fan_in_twice",
        "workflows.w.nodes.b.fan_in",
        workflow(
            "initial_node: a\nnodes: {a: {}, b: {fan_in: all}}\n"
            "transitions: [{from: a, to: b, spawn_count: 2, synchronization: {}}]"
        ),
        workflow("initial_node: a\nnodes: {a: {}, b: {fan_in: all}}\ntransitions: [{from: a, to: b, spawn_count: 2}]"),
    ),
}


@pytest.mark.parametrize("rule", [pytest.param(rule, id=sentence) for sentence, rule in SHAPES.items()])
def test_a_shape(rule: Rule) -> None:
    found = {(p.code, p.path, p.severity) for p in problems(rule.broken)}
    assert (rule.code, rule.path, "error") in found
    assert [p for p in problems(rule.sound) if p.severity == "error"] == []


def test_messages_say_what_to_write() -> None:
    text = workflow("""
        initial_node: prepare
        nodes: {prepare: {}, approve: {}, done: }
        transitions:
          - {from: prepare, to: done, priority: 2}
          - {from: prepare, to: aprove, condition: input.ok}
    """)
    problem, *_ = problems(text)
    assert problem.path == "workflows.w.transitions[1].to"
    assert problem.problem == "leads to 'aprove', and no node has that name"
    assert problem.remedy == "write 'approve', or add a node called 'aprove'"
    assert problem.line == 7


def test_a_type_misspelt_in_a_schema_is_suggested() -> None:
    (problem,) = problems(SHAPES["a schema with a type nobody knows"].broken)
    assert (problem.problem, problem.remedy) == ("'strin' is not a type", "write 'string', or leave it out")


def test_one_typo_is_one_problem() -> None:
    """The node meant is taken for the one named, so it is not reported as unreachable too."""
    text = workflow("""
        initial_node: strat
        nodes: {start: {}, approve: {}}
        transitions: [{from: start, to: aprove}]
    """)
    assert [p.code for p in problems(text)] == ["unknown_node", "unknown_node"]


def test_problems_of_every_kind_are_reported_together() -> None:
    text = workflow("""
        initial_node: a
        nodes:
          a: {actoin: x}
          b: {task: nope, output_mapping: {input.x: result.x}}
          c: {}
        transitions:
          - {from: a, to: b, priority: -1, condition: "stat.x == 1"}
          - {from: a, to: b, priority: 2}
        timeout_ms: [1]
    """)
    assert {p.code for p in problems(text)} == {
        "unknown_key",
        "unknown_task",
        "mapping_target",
        "unreachable_node",
        "out_of_range",
        "expression_invalid",
        "wrong_type",
    }


def test_nothing_quoted_from_a_file_can_act_on_a_terminal() -> None:
    escape = "\x1b[2J"
    schema = {"type": "object", "required": [escape], "properties": {escape: {"const": escape}}}
    node = {"output_mapping": {f"state.{escape}": "1", escape: f"'{escape}' + 1"}, escape: escape}
    data = {"workflows": {"w": {"initial_node": escape, "nodes": {"a": node}, "output_schema": schema}}}
    found = library_from(data, file=escape).problems
    assert len(found) > 3
    assert all(text.isprintable() for p in found for text in (p.file, p.path, p.problem, p.remedy))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("", id="empty"),
        pytest.param("x" * 10_000, id="ten thousand letters"),
        pytest.param("..", id="the folder above"),
        pytest.param("a/b", id="a slash"),
        pytest.param("\u202egnihtemos", id="right to left"),
        pytest.param("аdmin", id="a letter that only looks Latin"),
        pytest.param("🙂", id="a picture"),
        pytest.param("é", id="composed"),
        pytest.param("e\u0301", id="decomposed"),
        pytest.param("a' OR 1=1 --", id="SQL"),
        pytest.param("a\x1b[31m", id="terminal codes"),
        pytest.param("a@3", id="a version"),
        pytest.param("1a", id="a digit first"),
    ],
)
def test_a_name_that_is_none_is_refused_and_shown_harmlessly(name: str) -> None:
    found = library_from({"workflows": {name: {"initial_node": "a", "nodes": {"a": {}}}}}).problems
    assert [p.code for p in found] == ["bad_name"]
    assert all(text.isprintable() and len(text) < 300 for text in (found[0].problem, found[0].path))
    assert "\u202e" not in found[0].problem + found[0].path


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("__proto__", id="what JavaScript would mind"),
        pytest.param("select", id="what SQL would mind"),
        pytest.param("a-b_C3", id="all that is allowed"),
        pytest.param("x" * 64, id="the longest"),
    ],
)
def test_a_name_that_is_one(name: str) -> None:
    assert library_from({"workflows": {name: {"initial_node": "a", "nodes": {"a": {}}}}}).problems == ()
