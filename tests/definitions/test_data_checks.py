"""What is found wrong with data before it flows: expressions, mappings, and what branches write and read."""

import pytest

from tests.definitions.given import Rule, problems, workflow


def one_node(node: str, more: str = "") -> str:
    return workflow(f"initial_node: a\nnodes: {{a: {node}}}\n{more}")


def a_to_b(transition: str, more: str = "") -> str:
    return workflow(f"initial_node: a\nnodes: {{a: , b: }}\ntransitions: [{{from: a, to: b, {transition}}}]\n{more}")


def branches(work: str, more: str = "", join: str = "{merge: {target: state.all}}") -> str:
    """Three branches of one node, joined."""
    return workflow(f"""
        initial_node: s
        nodes: {{s: , work: {work}, end: {{output_mapping: {{output.all: state.all}}}}}}
        transitions:
          - {{from: s, to: work, foreach: {{collection: input.items, item_var: item}}}}
          - {{from: work, to: end, synchronization: {join}}}
        {more}
    """)


def task(step: str, more: str = "") -> str:
    return f"tasks: {{t: {{steps: [{{action: {{kind: mock}}, {step}}}]{more}}}}}"


ACTION = "actions: {ask: {kind: mock, input_schema: {type: object, required: [q], properties: {q: {type: string}}}}}"
CHILD = """  child:
    initial_node: x
    nodes: {x: }
    input_schema: {type: object, required: [k], properties: {k: {type: integer}}, additionalProperties: false}
    output_schema: {type: object, properties: {sq: {type: integer}}, additionalProperties: false}
    output_mapping: {sq: input.k}
"""
TOTAL = "state_schema: {type: object, properties: {total: {type: integer}}, additionalProperties: false}"

EXPRESSIONS = {
    "an expression that does not parse": Rule(
        "expression_invalid",
        "workflows.w.nodes.a.input_mapping.x",
        one_node("{input_mapping: {x: input.y ==}}"),
        one_node("{input_mapping: {x: input.y == 1}}"),
    ),
    "a variable nobody knows": Rule(
        "expression_invalid",
        "workflows.w.nodes.a.input_mapping.x",
        one_node("{input_mapping: {x: inputs.y}}"),
        one_node("{input_mapping: {x: input.y}}"),
    ),
    "a function nobody knows": Rule(
        "expression_invalid",
        "workflows.w.nodes.a.input_mapping.x",
        one_node("{input_mapping: {x: length(input.y)}}"),
        one_node("{input_mapping: {x: size(input.y)}}"),
    ),
    "a text without quotes of its own": Rule(
        "expression_invalid",
        "workflows.w.nodes.a.input_mapping.x",
        one_node("{input_mapping: {x: hello}}"),
        one_node("{input_mapping: {x: \"'hello'\"}}"),
    ),
    "the result before there is one": Rule(
        "expression_invalid",
        "workflows.w.nodes.a.input_mapping.x",
        one_node("{input_mapping: {x: result.y}}"),
        one_node("{output_mapping: {state.x: result.y}}"),
    ),
    "a branch in the run's output": Rule(
        "expression_invalid",
        "workflows.w.output_mapping.x",
        one_node("", "output_mapping: {x: _branch.index}"),
        one_node("", "output_mapping: {x: state.x}"),
    ),
    "an item outside its branches": Rule(
        "expression_invalid",
        "workflows.w.nodes.end.input_mapping.x",
        branches("{output_mapping: {state.x: item}}").replace("end: {", "end: {input_mapping: {x: item}, "),
        branches("{output_mapping: {state.x: item}, input_mapping: {x: item}}"),
    ),
    "a condition that does not parse": Rule(
        "expression_invalid",
        "workflows.w.transitions[0].condition",
        workflow("initial_node: a\nnodes: {a: }\ntransitions: [{from: a, to: a, condition: input.x = 1}]"),
        workflow("initial_node: a\nnodes: {a: }\ntransitions: [{from: a, to: a, condition: result.x == 1}]"),
    ),
    "a foreach over the result, which it does not see": Rule(
        "expression_invalid",
        "workflows.w.transitions[0].foreach.collection",
        workflow(
            "initial_node: a\nnodes: {a: , b: }\ntransitions: [{from: a, to: b, foreach: {collection: result.x}}]"
        ),
        workflow("initial_node: a\nnodes: {a: , b: }\ntransitions: [{from: a, to: b, foreach: {collection: state.x}}]"),
    ),
    "a wait for an unknown time": Rule(
        "expression_invalid",
        "workflows.w.nodes.a.wait.seconds",
        one_node("{wait: {seconds: delay}}"),
        one_node("{wait: {seconds: input.delay}}"),
    ),
    "a step that reads the workflow's branch": Rule(
        "expression_invalid",
        "tasks.t.steps[0].input_mapping.x",
        task("input_mapping: {x: _branch.index}"),
        task("input_mapping: {x: state.x}"),
    ),
    "a step's condition that does not parse": Rule(
        "expression_invalid",
        "tasks.t.steps[0].condition.if",
        task("condition: {if: input.x &&}"),
        task("condition: {if: input.x && state.y}"),
    ),
    "a context action that sets an unknown": Rule(
        "expression_invalid",
        "workflows.w.nodes.a.action.implementation.set.n",
        one_node("{action: {kind: context, implementation: {set: {n: result.n}}}}"),
        one_node("{action: {kind: context, implementation: {set: {n: input.n, m: state.m, o: output.o, five: 5}}}}"),
    ),
    "an assert of an unknown": Rule(
        "expression_invalid",
        "actions.ok.implementation.that",
        "actions: {ok: {kind: assert, implementation: {that: found == 1}}}",
        "actions: {ok: {kind: assert, implementation: {that: state.found == input.text}}}",
    ),
    "a key made of an unknown": Rule(
        "expression_invalid",
        "actions.pay.idempotency.key",
        "actions: {pay: {kind: mock, idempotency: {key: order}}}",
        "actions: {pay: {kind: mock, idempotency: {key: input.order}}}",
    ),
    "a number plus a text": Rule(
        "expression_type",
        "workflows.w.nodes.a.input_mapping.x",
        one_node("{input_mapping: {x: state.total + '!'}}", TOTAL),
        one_node("{input_mapping: {x: string(state.total) + '!', y: state.total * 0.9}}", TOTAL),
    ),
    "a path the schema rules out": Rule(
        "expression_type",
        "workflows.w.nodes.a.input_mapping.x",
        one_node("{input_mapping: {x: state.totl}}", TOTAL),
        one_node("{input_mapping: {x: state.total, y: state._last_error.message}}", TOTAL),
    ),
    "a path into a number": Rule(
        "expression_type",
        "workflows.w.nodes.a.input_mapping.x",
        one_node("{input_mapping: {x: state.total.net}}", TOTAL),
        one_node("{input_mapping: {x: input.total.net}}", TOTAL),
    ),
    "a condition that is a number": Rule(
        "expression_type",
        "workflows.w.transitions[0].condition",
        workflow(
            f"initial_node: a\nnodes: {{a: }}\ntransitions: [{{from: a, to: a, condition: state.total}}]\n{TOTAL}"
        ),
        workflow(
            f"initial_node: a\nnodes: {{a: }}\ntransitions: [{{from: a, to: a, condition: state.total > 1}}]\n{TOTAL}"
        ),
    ),
    "a foreach over a number": Rule(
        "expression_type",
        "workflows.w.transitions[0].foreach.collection",
        a_to_b("foreach: {collection: state.total}", TOTAL),
        a_to_b("foreach: {collection: '[state.total]'}", TOTAL),
    ),
    "as many branches as a text says": Rule(
        "expression_type",
        "workflows.w.transitions[0].spawn_count",
        workflow("initial_node: a\nnodes: {a: , b: }\ntransitions: [{from: a, to: b, spawn_count: \"'3'\"}]"),
        workflow("initial_node: a\nnodes: {a: , b: }\ntransitions: [{from: a, to: b, spawn_count: '1 + 2'}]"),
    ),
    "a wait of a text": Rule(
        "expression_type",
        "workflows.w.nodes.a.wait.seconds",
        one_node("{wait: {seconds: \"'soon'\"}}"),
        one_node("{wait: {seconds: '2 * 3'}}"),
    ),
    "a wait until a number": Rule(
        "expression_type",
        "workflows.w.nodes.a.wait.until",
        one_node("{wait: {until: '5'}}"),
        one_node("{wait: {until: \"'2026-01-02T03:04:05Z'\"}}"),
    ),
    "a negative wait that is computed": Rule(
        "out_of_range",
        "workflows.w.nodes.a.wait.seconds",
        one_node("{wait: {seconds: '1 - 2'}}"),
        one_node("{wait: {seconds: '2 - 1'}}"),
    ),
    "fewer branches than none": Rule(
        "out_of_range",
        "workflows.w.transitions[0].spawn_count",
        a_to_b("spawn_count: '-3'"),
        a_to_b("spawn_count: '0'"),
    ),
    "a time without a zone": Rule(
        "bad_time",
        "workflows.w.nodes.a.wait.until",
        one_node("{wait: {until: \"'2026-01-02T03:04:05'\"}}"),
        one_node("{wait: {until: \"'2026-01-02T03:04:05+01:00'\"}}"),
    ),
    "an item that is a text, times two": Rule(
        "expression_type",
        'workflows.w.nodes.work.output_mapping["state.x"]',
        branches(
            "{output_mapping: {state.x: item * 2}}",
            "input_schema: {properties: {items: {type: array, items: {type: string}}}}",
        ),
        branches(
            "{output_mapping: {state.x: item * 2}}",
            "input_schema: {properties: {items: {type: array, items: {type: integer}}}}",
        ),
    ),
    "something a branch does not have": Rule(
        "expression_type",
        'workflows.w.nodes.work.output_mapping["state.x"]',
        branches("{output_mapping: {state.x: _branch.idx}}"),
        branches("{output_mapping: {state.x: _branch.index + _branch.total}}"),
    ),
    "the mapped input of a node without a target, as text": Rule(
        "expression_type",
        'workflows.w.nodes.a.output_mapping["state.y"]',
        one_node("{input_mapping: {x: size(input.x)}, output_mapping: {state.y: result.x + 'a'}}"),
        one_node("{input_mapping: {x: size(input.x)}, output_mapping: {state.y: result.x + 1}}"),
    ),
    "the run's input as the result of a node that passes it on": Rule(
        "expression_type",
        'workflows.w.nodes.a.output_mapping["state.y"]',
        one_node("{output_mapping: {state.y: result.n + 'a'}}", "input_schema: {properties: {n: {type: integer}}}"),
        one_node("{output_mapping: {state.y: result.n + 1}}", "input_schema: {properties: {n: {type: integer}}}"),
    ),
    "the output as it will be returned": Rule(
        "expression_type",
        "workflows.w.nodes.a.input_mapping.x",
        one_node("{input_mapping: {x: output.n + 'a'}}", "output_schema: {properties: {n: {type: integer}}}"),
        one_node(
            "{input_mapping: {x: output.n + 'a'}}",
            "output_schema: {properties: {n: {type: integer}}}\noutput_mapping: {n: size(output.n)}",
        ),
    ),
    "items of two kinds in one group are of no known kind": Rule(
        "expression_type",
        'workflows.w.nodes.work.output_mapping["state.x"]',
        branches("{output_mapping: {state.x: item + 'a'}}").replace("input.items", "'[1, 2]'"),
        branches("{output_mapping: {state.x: item + 'a'}}").replace(
            "- {from: s, to: work, foreach: {collection: input.items, item_var: item}}",
            "- {from: s, to: work, foreach: {collection: '[1, 2]', item_var: item}}\n"
            "      - {from: s, to: work, foreach: {collection: \"['a', 'b']\", item_var: item}}",
        ),
    ),
    "a child's output that it never has": Rule(
        "expression_type",
        'workflows.w.nodes.a.output_mapping["output.y"]',
        one_node("{workflow: child, input_mapping: {k: 1}, output_mapping: {output.y: result.square}}") + CHILD,
        one_node("{workflow: child, input_mapping: {k: 1}, output_mapping: {output.y: result.sq}}") + CHILD,
    ),
    "the result of a wait": Rule(
        "expression_type",
        'workflows.w.nodes.a.output_mapping["output.y"]',
        one_node("{wait: {seconds: 1}, output_mapping: {output.y: result.at}}"),
        one_node("{wait: {signal: go}, output_mapping: {output.y: result.at}}"),
    ),
    "an answer the gate never gives": Rule(
        "expression_type",
        'workflows.w.nodes.a.output_mapping["output.y"]',
        one_node("{gate: {schema: {type: boolean}}, output_mapping: {output.y: result.ok}}"),
        one_node("{gate: {schema: {type: object}}, output_mapping: {output.y: result.ok}}"),
    ),
    "an assert of a number": Rule(
        "expression_type",
        "tasks.t.steps[0].action.implementation.that",
        "tasks: {t: {steps: [{action: {kind: assert, implementation: {that: size(input.x)}}}]}}",
        "tasks: {t: {steps: [{action: {kind: assert, implementation: {that: size(input.x) > 1}}}]}}",
    ),
}

MAPPINGS = {
    "a write to the input": Rule(
        "mapping_target",
        'workflows.w.nodes.a.output_mapping["input.x"]',
        one_node("{output_mapping: {input.x: 1}}"),
        one_node("{output_mapping: {state.x: 1}}"),
    ),
    "a write to no section": Rule(
        "mapping_target",
        "workflows.w.nodes.a.output_mapping.verdict",
        one_node("{output_mapping: {verdict: 1}}"),
        one_node("{output_mapping: {output.verdict: 1}}"),
    ),
    "a write over a whole section": Rule(
        "mapping_target",
        "workflows.w.nodes.a.output_mapping.state",
        one_node("{output_mapping: {state: 1}}"),
        one_node("{output_mapping: {state.a.b: 1}}"),
    ),
    "a write with an empty key": Rule(
        "mapping_target",
        'workflows.w.nodes.a.output_mapping["state..x"]',
        one_node("{output_mapping: {state..x: 1}}"),
        one_node("{output_mapping: {state.x-y: 1}}"),
    ),
    "a write over the last error": Rule(
        "mapping_target",
        'workflows.w.nodes.a.output_mapping["state._last_error"]',
        one_node("{output_mapping: {state._last_error: 1}}"),
        one_node("{output_mapping: {state.last_error: 1}}"),
    ),
    "a branch's output outside branches": Rule(
        "mapping_target",
        'workflows.w.nodes.a.output_mapping["_branch.output.x"]',
        one_node("{output_mapping: {_branch.output.x: 1}}"),
        branches("{output_mapping: {_branch.output.x: 1}}"),
    ),
    "what the engine keeps about a branch": Rule(
        "mapping_target",
        'workflows.w.nodes.work.output_mapping["_branch.index"]',
        branches("{output_mapping: {_branch.index: 1}}"),
        branches("{output_mapping: {state.index: 1}}"),
    ),
    "a branch's output in a step": Rule(
        "mapping_target",
        'tasks.t.steps[0].output_mapping["_branch.output.x"]',
        task("output_mapping: {_branch.output.x: 1}"),
        task("output_mapping: {output.x: 1}"),
    ),
    "an input with an empty key": Rule(
        "mapping_target",
        'workflows.w.nodes.a.input_mapping["x."]',
        one_node("{input_mapping: {x.: 1}}"),
        one_node("{input_mapping: {x.y: 1}}"),
    ),
    "a required key that is not mapped": Rule(
        "mapping_missing_key",
        "workflows.w.nodes.a.input_mapping",
        one_node("{workflow: child, input_mapping: {}}") + CHILD,
        one_node("{workflow: child, input_mapping: {k: input.k}}") + CHILD,
    ),
    "a required key of an action": Rule(
        "mapping_missing_key",
        "workflows.w.nodes.a.input_mapping",
        one_node("{action: ask, input_mapping: {p: input.p}}") + ACTION,
        one_node("{action: ask, input_mapping: {q: input.p}}") + ACTION,
    ),
    "a required key of a step's action": Rule(
        "mapping_missing_key",
        "tasks.t.steps[0].input_mapping",
        "tasks: {t: {steps: [{action: ask, input_mapping: {p: input.p}}]}}\n" + ACTION,
        "tasks: {t: {steps: [{action: ask, input_mapping: {q.r: input.p}}]}}\n" + ACTION.replace("string", "object"),
    ),
    "a required output that is not mapped": Rule(
        "mapping_missing_key",
        "workflows.w.output_mapping",
        one_node("", "output_schema: {required: [x]}\noutput_mapping: {y: state.y}"),
        one_node("", "output_schema: {required: [x]}\noutput_mapping: {x: state.y}"),
    ),
    "a required output that nobody writes": Rule(
        "mapping_missing_key",
        "workflows.w.output_schema.required",
        one_node("{output_mapping: {state.x: 1}}", "output_schema: {required: [x]}"),
        one_node("{output_mapping: {output.x: 1}}", "output_schema: {required: [x]}"),
    ),
    "a key the child does not take": Rule(
        "mapping_ruled_out",
        "workflows.w.nodes.a.input_mapping.kk",
        one_node("{workflow: child, input_mapping: {k: 1, kk: 2}}") + CHILD,
        one_node("{workflow: child@1, input_mapping: {k: 1, kk: 2}}") + CHILD,
    ),
    "a key the state does not have": Rule(
        "mapping_ruled_out",
        'workflows.w.nodes.a.output_mapping["state.totl"]',
        one_node("{output_mapping: {state.totl: 1}}", TOTAL),
        one_node("{output_mapping: {state.totl: 1}}", TOTAL.replace("false", "true")),
    ),
    "a key below a number": Rule(
        "mapping_ruled_out",
        'workflows.w.nodes.a.output_mapping["state.total.net"]',
        one_node("{output_mapping: {state.total.net: 1}}", TOTAL),
        one_node("{output_mapping: {state.total: 1}}", TOTAL),
    ),
    "a text where a number belongs": Rule(
        "mapping_type",
        "workflows.w.nodes.a.input_mapping.k",
        one_node("{workflow: child, input_mapping: {k: string(input.k)}}") + CHILD,
        one_node("{workflow: child, input_mapping: {k: int(input.k)}}") + CHILD,
    ),
    "a literal that does not fit": Rule(
        "mapping_type",
        "workflows.w.nodes.a.input_mapping.k",
        one_node("{workflow: child, input_mapping: {k: true}}") + CHILD,
        one_node("{workflow: child, input_mapping: {k: 5}}") + CHILD,
    ),
    "a constant that does not fit": Rule(
        "mapping_type",
        'workflows.w.nodes.a.output_mapping["state.v"]',
        one_node("{output_mapping: {state.v: \"'maybe'\"}}", "state_schema: {properties: {v: {enum: ['yes', 'no']}}}"),
        one_node("{output_mapping: {state.v: \"'yes'\"}}", "state_schema: {properties: {v: {enum: ['yes', 'no']}}}"),
    ),
    "what is returned as it was written must fit": Rule(
        "mapping_type",
        'workflows.w.nodes.a.output_mapping["output.v"]',
        one_node("{output_mapping: {output.v: 1}}", "output_schema: {properties: {v: {type: string}}}"),
        one_node(
            "{output_mapping: {output.v: 1}}",
            "output_schema: {properties: {v: {type: string}}}\noutput_mapping: {v: string(output.v)}",
        ),
    ),
    "an output of the wrong type": Rule(
        "mapping_type",
        "workflows.w.output_mapping.v",
        one_node("", "output_schema: {properties: {v: {type: string}}}\noutput_mapping: {v: size(state.x)}"),
        one_node("", "output_schema: {properties: {v: {type: number}}}\noutput_mapping: {v: size(state.x)}"),
    ),
    "an input passed on that does not fit": Rule(
        "mapping_type",
        "workflows.w.nodes.a",
        one_node("{workflow: child}", "input_schema: {type: object, properties: {k: {type: string}}}") + CHILD,
        one_node("{workflow: child}", "input_schema: {type: object, properties: {k: {type: integer}}}") + CHILD,
    ),
    "an input passed on that never has what is required": Rule(
        "mapping_type",
        "workflows.w.nodes.a",
        one_node("{workflow: child}", "input_schema: {type: object, additionalProperties: false}") + CHILD,
        one_node("{workflow: child}") + CHILD,
    ),
    "a task's input passed on to an action": Rule(
        "mapping_type",
        "tasks.t.steps[0]",
        "tasks: {t: {steps: [{action: ask}], input_schema: {type: object, properties: {q: {type: array}}}}}\n" + ACTION,
        "tasks: {t: {steps: [{action: ask}], input_schema: {type: object, properties: {q: {type: string}}}}}\n"
        + ACTION,
    ),
    "a list of the wrong things": Rule(
        "mapping_type",
        'workflows.w.nodes.a.output_mapping["state.names"]',
        one_node(
            "{output_mapping: {state.names: '[1, size(input.x)]'}}",
            "state_schema: {properties: {names: {type: array, items: {type: string}}}}",
        ),
        one_node(
            "{output_mapping: {state.names: '[string(input.x)]'}}",
            "state_schema: {properties: {names: {type: array, items: {type: string}}}}",
        ),
    ),
    "a task's output of the wrong type": Rule(
        "mapping_type",
        'tasks.t.steps[0].output_mapping["output.n"]',
        task("output_mapping: {output.n: string(result)}", ", output_schema: {properties: {n: {type: integer}}}"),
        task("output_mapping: {state.n: string(result)}", ", output_schema: {properties: {n: {type: integer}}}"),
    ),
    "in a branch the state's schema does not hold": Rule(
        "mapping_type",
        'workflows.w.nodes.a.output_mapping["state.total"]',
        one_node("{output_mapping: {state.total: \"'x'\"}}", TOTAL),
        branches("{output_mapping: {state.total: \"'x'\"}}", "state_schema: {properties: {total: {type: integer}}}"),
    ),
    "a title that is not a valid template": Rule(
        "template_invalid",
        "workflows.w.nodes.a.gate.title",
        one_node("{gate: {title: '{{ input.name'}}"),
        one_node("{gate: {title: 'Pay {{ input.name }}?'}}"),
    ),
    "a default that no signal could have": Rule(
        "default_answer_invalid",
        "workflows.w.nodes.a.wait.on_timeout",
        one_node("{wait: {signal: go, schema: {type: integer}, timeout_ms: 5, on_timeout: none}}"),
        one_node("{wait: {signal: go, schema: {type: integer}, timeout_ms: 5, on_timeout: 0}}"),
    ),
    "a value that no signal of several could have": Rule(
        "expression_type",
        'workflows.w.nodes.a.output_mapping["output.y"]',
        one_node("{wait: {signals: {go: {schema: {type: integer}}}}, output_mapping: {output.y: result.value.n}}"),
        one_node("{wait: {signals: {go: {schema: {type: integer}}}}, output_mapping: {output.y: result.value + 1}}"),
    ),
    "a message of an end that is no template": Rule(
        "template_invalid",
        "workflows.w.nodes.a.end.failed.message",
        one_node("{end: {failed: {type: dear, message: '{{ input.name'}}}"),
        one_node("{end: {failed: {type: dear, message: 'Too dear, {{ input.name }}'}}}"),
    ),
    "a default answer the gate would refuse": Rule(
        "default_answer_invalid",
        "workflows.w.nodes.a.gate.on_timeout",
        one_node("{gate: {schema: {type: object, required: [ok]}, on_timeout: {}}}"),
        one_node("{gate: {schema: {type: object, required: [ok]}, on_timeout: fail}}"),
    ),
}

BRANCHES = {
    "both sections in a branch": Rule(
        "both_sections_written",
        'workflows.w.nodes.work.output_mapping["output.x"]',
        branches("{output_mapping: {state.x: 1, output.x: 2}}"),
        branches("{output_mapping: {state.x: 1, output.y: 2}}"),
    ),
    "outside branches both sections are two places": Rule(
        "both_sections_written",
        'workflows.w.nodes.work.output_mapping["_branch.output.x"]',
        branches("{output_mapping: {state.x: 1, _branch.output.x: 2}}"),
        one_node("{output_mapping: {state.x: 1, output.x: 2}}"),
    ),
    "a branch that reads what it writes": Rule(
        "state_read_in_branch",
        'workflows.w.nodes.work.output_mapping["state.n"]',
        branches("{output_mapping: {state.n: state.n + 1}}"),
        branches("{output_mapping: {state.n: _branch.output.n + 1}}"),
    ),
    "a branch that reads inside what it writes": Rule(
        "state_read_in_branch",
        "workflows.w.nodes.work.input_mapping.x",
        branches("{input_mapping: {x: state.n.m}, output_mapping: {state.n: 1}}"),
        branches("{input_mapping: {x: state.m}, output_mapping: {state.n: 1}}"),
    ),
    "outside branches reading is reading": Rule(
        "state_read_in_branch",
        "workflows.w.transitions[1].condition",
        workflow("""
            initial_node: s
            nodes: {s: , work: {output_mapping: {state.n: 1}}, end: }
            transitions:
              - {from: s, to: work, spawn_count: 2}
              - {from: work, to: end, condition: state.n == 1, synchronization: {merge: {target: state.all}}}
        """),
        workflow("""
            initial_node: s
            nodes: {s: , work: {output_mapping: {state.n: 1}}, end: }
            transitions:
              - {from: s, to: work}
              - {from: work, to: end, condition: state.n == 1}
        """),
    ),
    "an inner merge is a write of the outer branch": Rule(
        "state_read_in_branch",
        'workflows.w.nodes.m.output_mapping["state.y"]',
        workflow("""
            initial_node: s
            nodes: {s: , t: , work: , m: {output_mapping: {state.y: state.inner}}, end: }
            transitions:
              - {from: s, to: t, spawn_count: 2, sibling_group: outer}
              - {from: t, to: work, spawn_count: 2, sibling_group: inner}
              - {from: work, to: m, synchronization: {sibling_group: inner, merge: {target: state.inner}}}
              - {from: m, to: end, synchronization: {sibling_group: outer, merge: {target: state.all}}}
        """),
        workflow("""
            initial_node: s
            nodes: {s: , t: , work: , m: {output_mapping: {state.y: _branch.output.inner}}, end: }
            transitions:
              - {from: s, to: t, spawn_count: 2, sibling_group: outer}
              - {from: t, to: work, spawn_count: 2, sibling_group: inner}
              - {from: work, to: m, synchronization: {sibling_group: inner, merge: {target: state.inner}}}
              - {from: m, to: end, synchronization: {sibling_group: outer, merge: {target: state.all}}}
        """),
    ),
    "an output nobody joins": Rule(
        "branch_output_discarded",
        'workflows.w.nodes.work.output_mapping["state.n"]',
        workflow("""
            initial_node: s
            nodes: {s: , work: {output_mapping: {state.n: 1}}}
            transitions: [{from: s, to: work, spawn_count: 2}]
        """),
        workflow("""
            initial_node: s
            nodes: {s: , work: {output_mapping: {state.n: 1}}}
            transitions: [{from: s, to: work}]
        """),
    ),
    "a join that merges nothing": Rule(
        "branch_output_discarded",
        'workflows.w.nodes.work.output_mapping["state.n"]',
        branches("{output_mapping: {state.n: 1}}", join="{}"),
        branches("{output_mapping: {state.n: 1}}"),
    ),
    "a join that merges something else": Rule(
        "branch_output_discarded",
        'workflows.w.nodes.work.output_mapping["state.n"]',
        branches("{output_mapping: {state.n: 1}}", join="{merge: {source: _branch.output.m, target: state.all}}"),
        branches("{output_mapping: {state.n.m: 1}}", join="{merge: {source: _branch.output.n, target: state.all}}"),
    ),
    "what the branch itself reads is no waste": Rule(
        "branch_output_discarded",
        'workflows.w.nodes.work.output_mapping["state.n"]',
        branches("{output_mapping: {state.n: 1}}", join="{}"),
        branches(
            "{output_mapping: {state.n: 1, state.m: _branch.output.n}}",
            join="{merge: {source: _branch.output.m, target: state.all}}",
        ),
    ),
    "inner branches that arrive for the outer are merged with it": Rule(
        "branch_output_discarded",
        'workflows.w.nodes.work.output_mapping["state.n"]',
        workflow("""
            initial_node: s
            nodes: {s: , t: , work: {output_mapping: {state.n: 1}}, end: }
            transitions:
              - {from: s, to: t, spawn_count: 2, sibling_group: outer}
              - {from: t, to: work, spawn_count: 2}
              - {from: t, to: end, synchronization: {sibling_group: outer, merge: {target: state.all}}}
        """),
        workflow("""
            initial_node: s
            nodes: {s: , t: , work: {output_mapping: {state.n: 1}}, end: }
            transitions:
              - {from: s, to: t, spawn_count: 2, sibling_group: outer}
              - {from: t, to: work, spawn_count: 2}
              - {from: work, to: end, synchronization: {sibling_group: outer, merge: {target: state.all}}}
        """),
    ),
}

TABLES = {**EXPRESSIONS, **MAPPINGS, **BRANCHES}
WARNINGS = {"state_read_in_branch", "branch_output_discarded"}


@pytest.mark.parametrize("rule", [pytest.param(rule, id=sentence) for sentence, rule in TABLES.items()])
def test_a_rule_of_data(rule: Rule) -> None:
    severity = "warning" if rule.code in WARNINGS else "error"
    found = problems(rule.broken)
    assert (rule.code, rule.path, severity) in {(p.code, p.path, p.severity) for p in found}
    assert all(p.remedy and p.line for p in found)
    assert [p for p in problems(rule.sound) if p.code == rule.code or p.severity == "error"] == []


def test_the_remedy_for_mixed_types_is_the_expression_to_write() -> None:
    (problem,) = problems(EXPRESSIONS["a number plus a text"].broken)
    assert "string(state.total) + " in problem.remedy


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        pytest.param("input.x", "'input.x' writes to the input, which never changes", id="the input"),
        pytest.param(
            "_branch.output.x",
            "'_branch.output.x' writes to a branch's output, and this is in no branch",
            id="no branch",
        ),
        pytest.param("_branch.item", "'_branch.item' is reserved for the engine", id="the engine's"),
        pytest.param("stat.x", "'stat.x' cannot be written", id="nowhere"),
    ],
)
def test_why_a_target_is_refused(target: str, problem: str) -> None:
    (found,) = problems(one_node(f"{{output_mapping: {{{target}: 1}}}}"))
    assert found.problem == problem
    assert found.remedy == "write to one of 'state.…' and 'output.…'"


def test_a_type_that_does_not_fit_is_named_in_plain_words() -> None:
    (problem,) = problems(MAPPINGS["a text where a number belongs"].broken)
    assert problem.problem == (
        "'string(input.k)' does not fit the target's input at 'k': it is a text, and a whole number is wanted"
    )


def test_a_target_that_is_refused_is_not_held_against_the_branch_too() -> None:
    found = problems(branches("{output_mapping: {state.x: 1, input.x: 2}}", join="{}"))
    assert [p.code for p in found if "input.x" in p.path] == ["mapping_target"]
    assert "both_sections_written" not in {p.code for p in found}


def test_a_bare_word_is_probably_a_text() -> None:
    (problem,) = problems(EXPRESSIONS["a text without quotes of its own"].broken)
    assert "\"'hello'\"" in problem.remedy


def test_an_item_out_of_its_branches_is_said_to_be_elsewhere() -> None:
    (problem,) = problems(EXPRESSIONS["an item outside its branches"].broken)
    assert problem.remedy == "'item' is known only in the branches that 's' makes"


def test_an_item_known_on_some_way_to_a_node_may_be_read_there() -> None:
    text = workflow("""
        initial_node: s
        nodes: {s: , a: , b: {input_mapping: {x: item}}}
        transitions:
          - {from: s, to: a, foreach: {collection: input.items, item_var: item}, condition: input.many}
          - {from: s, to: b, priority: 2}
          - {from: a, to: b}
    """)
    assert problems(text) == ()


def test_items_of_enclosing_branches_are_known_in_inner_ones() -> None:
    text = workflow("""
        initial_node: s
        input_schema: {properties: {rows: {type: array, items: {type: array, items: {type: integer}}}}}
        nodes: {s: , t: , work: {output_mapping: {state.x: "cell + size(row)"}}, m: , end: }
        transitions:
          - {from: s, to: t, foreach: {collection: input.rows, item_var: row}}
          - {from: t, to: work, foreach: {collection: row, item_var: cell}}
          - {from: work, to: m, synchronization: {merge: {target: state.cells}}}
          - {from: m, to: end, synchronization: {merge: {target: state.rows}}}
    """)
    assert problems(text) == ()
    assert [p.code for p in problems(text.replace("cell + size(row)", "cell + row"))] == ["expression_type"]


def test_ways_that_may_exclude_each_other_are_no_branches_yet() -> None:
    """Two conditions in one tier are mostly meant as either-or: only what surely fans out is held against an author."""
    text = workflow("""
        initial_node: s
        nodes:
          s:
          yes: {output_mapping: {state.x: state.x, output.x: "'y'"}}
          no: {output_mapping: {state.x: "'n'"}}
          end: {output_mapping: {output.done: state.x}}
        transitions:
          - {from: s, to: "yes", condition: input.ok}
          - {from: s, to: "no", condition: "!input.ok"}
          - {from: s, to: end, priority: 2}
          - {from: "yes", to: end}
          - {from: "no", to: end}
    """)
    assert problems(text) == ()
