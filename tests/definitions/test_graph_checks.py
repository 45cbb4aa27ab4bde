"""What is found wrong with a graph before it runs; for each rule, what breaks it and what only comes close."""

from textwrap import dedent, indent

import pytest

from tests.definitions.given import Rule, problems, workflow

NAMES = {
    "no such initial node": Rule(
        "unknown_node",
        "workflows.w.initial_node",
        workflow("initial_node: b\nnodes: {a: }"),
        workflow("initial_node: a\nnodes: {a: }"),
    ),
    "a transition to nowhere": Rule(
        "unknown_node",
        "workflows.w.transitions[0].to",
        workflow("initial_node: a\nnodes: {a: }\ntransitions: [{from: a, to: end}]"),
        workflow("initial_node: a\nnodes: {a: , end: }\ntransitions: [{from: a, to: end}]"),
    ),
    "a transition from nowhere": Rule(
        "unknown_node",
        "workflows.w.transitions[0].from",
        workflow("initial_node: a\nnodes: {a: }\ntransitions: [{from: start, to: a}]"),
        workflow("initial_node: a\nnodes: {a: }\ntransitions: []"),
    ),
    "no such task": Rule(
        "unknown_task",
        "workflows.w.nodes.a.task",
        workflow("initial_node: a\nnodes: {a: {task: judge}}") + "tasks: {juge: {steps: [{action: {kind: mock}}]}}",
        workflow("initial_node: a\nnodes: {a: {task: judge@2}}") + "tasks: {judge: {steps: [{action: {kind: mock}}]}}",
    ),
    "no such action": Rule(
        "unknown_action",
        "tasks.t.steps[0].action",
        "tasks: {t: {steps: [{action: ask}]}}",
        "tasks: {t: {steps: [{action: ask}]}}\nactions: {ask: {kind: mock}}",
    ),
    "no such action at a node": Rule(
        "unknown_action",
        "workflows.w.nodes.a.action",
        workflow("initial_node: a\nnodes: {a: {action: ask}}"),
        workflow("initial_node: a\nnodes: {a: {action: ask}}") + "actions: {ask: {kind: mock}}",
    ),
    "no such workflow": Rule(
        "unknown_workflow",
        "workflows.w.nodes.a.workflow",
        workflow("initial_node: a\nnodes: {a: {workflow: child}}"),
        workflow("initial_node: a\nnodes: {a: {workflow: child}}") + "  child: {initial_node: x, nodes: {x: }}",
    ),
    "a version that is no number": Rule(
        "bad_name",
        "workflows.w.nodes.a.workflow",
        workflow("initial_node: a\nnodes: {a: {workflow: child@new}}") + "  child: {initial_node: x, nodes: {x: }}",
        workflow("initial_node: a\nnodes: {a: {workflow: child@12}}") + "  child: {initial_node: x, nodes: {x: }}",
    ),
    "no such agent": Rule(
        "unknown_agent",
        "workflows.w.nodes.a.agent",
        workflow("initial_node: a\nnodes: {a: {agent: bob}}"),
        workflow("initial_node: a\nnodes: {a: }"),
    ),
}

REACH = {
    "a node nobody leads to": Rule(
        "unreachable_node",
        "workflows.w.nodes.b",
        workflow("initial_node: a\nnodes: {a: , b: }\ntransitions: [{from: b, to: a}]"),
        workflow("initial_node: a\nnodes: {a: , b: }\ntransitions: [{from: a, to: b}]"),
    ),
    "an endless cycle": Rule(
        "cycle_without_bound",
        "workflows.w.transitions[1]",
        workflow("""
            initial_node: a
            nodes: {a: , b: , end: }
            transitions:
              - {from: a, to: b}
              - {from: b, to: a, condition: input.again}
              - {from: b, to: end, priority: 2}
        """),
        workflow("""
            initial_node: a
            nodes: {a: , b: , end: }
            transitions:
              - {from: a, to: b}
              - {from: b, to: a, condition: input.again, loop_config: {max_iterations: 3}}
              - {from: b, to: end, priority: 2}
        """),
    ),
    "a node that leads to itself, with a run timeout it may": Rule(
        "cycle_without_bound",
        "workflows.w.transitions[0]",
        workflow("initial_node: a\nnodes: {a: }\ntransitions: [{from: a, to: a}]"),
        workflow("initial_node: a\nnodes: {a: }\ntransitions: [{from: a, to: a}]\ntimeout_ms: 1000"),
    ),
    "a second cycle beside a counted one": Rule(
        "cycle_without_bound",
        "workflows.w.transitions[3]",
        workflow("""
            initial_node: a
            nodes: {a: , b: , c: }
            transitions:
              - {from: a, to: b}
              - {from: b, to: a, loop_config: {max_iterations: 3}}
              - {from: b, to: c, priority: 2}
              - {from: c, to: b}
        """),
        workflow("""
            initial_node: a
            nodes: {a: , b: , c: }
            transitions:
              - {from: a, to: b}
              - {from: b, to: a, loop_config: {max_iterations: 3}}
              - {from: b, to: c, priority: 2}
        """),
    ),
}

ROUTING = {
    "a failure type misspelt": Rule(
        "unknown_failure_type",
        "workflows.w.transitions[0].condition",
        workflow("""
            initial_node: a
            nodes: {a: {wait: {signal: go, timeout_ms: 5}}, b: , c: }
            transitions: [{from: a, to: b, condition: "state._last_error.type == 'timeout'"},
              {from: a, to: c, priority: 2}]
        """),
        workflow("""
            initial_node: a
            nodes: {a: {wait: {signal: go, timeout_ms: 5}}, b: , c: }
            transitions: [{from: a, to: b, condition: "state._last_error.type == 'timed_out'"},
              {from: a, to: c, priority: 2}]
        """),
    ),
    "a failure type of one's own misspelt": Rule(
        "unknown_failure_type",
        "workflows.w.transitions[0].condition",
        workflow("""
            initial_node: a
            nodes: {a: {action: {kind: fail, implementation: {type: too_dear}}}, b: , c: }
            transitions: [{from: a, to: b, condition: 'state._last_error.type == "to_dear"'},
              {from: a, to: c, priority: 2}]
        """),
        workflow("""
            initial_node: a
            nodes: {a: {action: {kind: fail, implementation: {type: too_dear}}}, b: , c: }
            transitions: [{from: a, to: b, condition: 'state._last_error.type == "ValueError"'},
              {from: a, to: c, priority: 2}]
        """),
    ),
    "from a node that ends the run": Rule(
        "transition_never_wins",
        "workflows.w.transitions[1]",
        workflow("""
            initial_node: a
            nodes: {a: , b: {end: completed}, c: }
            transitions: [{from: a, to: b}, {from: b, to: c, condition: has(state._last_error)}]
        """),
        workflow("""
            initial_node: a
            nodes: {a: , b: , c: {end: completed}}
            transitions: [{from: a, to: b}, {from: b, to: c}]
        """),
    ),
    "behind a tier that always matches": Rule(
        "transition_never_wins",
        "workflows.w.transitions[1]",
        workflow("""
            initial_node: a
            nodes: {a: , b: , c: }
            transitions: [{from: a, to: b}, {from: a, to: c, condition: input.x, priority: 2}]
        """),
        workflow("""
            initial_node: a
            nodes: {a: , b: , c: }
            transitions: [{from: a, to: b, priority: 2}, {from: a, to: c, condition: input.x, priority: 1}]
        """),
    ),
    "after the first that always matches": Rule(
        "transition_never_wins",
        "workflows.w.transitions[1]",
        workflow("""
            initial_node: a
            nodes: {a: {fan_out: first_match}, b: , c: }
            transitions: [{from: a, to: b}, {from: a, to: c}]
        """),
        workflow("""
            initial_node: a
            nodes: {a: , b: , c: }
            transitions: [{from: a, to: b}, {from: a, to: c}]
        """),
    ),
    "the same condition in a later tier": Rule(
        "transition_never_wins",
        "workflows.w.transitions[1]",
        workflow("""
            initial_node: a
            nodes: {a: , b: , c: , d: }
            transitions:
              - {from: a, to: b, condition: input.x}
              - {from: a, to: c, condition: input.x, priority: 2}
              - {from: a, to: d, priority: 3}
        """),
        workflow("""
            initial_node: a
            nodes: {a: , b: , c: , d: }
            transitions:
              - {from: a, to: b, condition: input.x, loop_config: {max_iterations: 1}}
              - {from: a, to: c, condition: input.x, priority: 2}
              - {from: a, to: d, priority: 3}
        """),
    ),
    "a condition that is false": Rule(
        "transition_never_wins",
        "workflows.w.transitions[0]",
        workflow("""
            initial_node: a
            nodes: {a: , b: }
            transitions: [{from: a, to: b, condition: false}, {from: a, to: b, priority: 2}]
        """),
        workflow("""
            initial_node: a
            nodes: {a: , b: }
            transitions: [{from: a, to: b, condition: true}]
        """),
    ),
    "a failure is routed past any default": Rule(
        "transition_never_wins",
        "workflows.w.transitions[1]",
        workflow("""
            initial_node: a
            nodes: {a: , b: , c: }
            transitions: [{from: a, to: b}, {from: a, to: c, condition: has(state.error), priority: 2}]
        """),
        workflow("""
            initial_node: a
            nodes: {a: , b: , c: }
            transitions: [{from: a, to: b}, {from: a, to: c, condition: has(state._last_error), priority: 2}]
        """),
    ),
    "only conditions": Rule(
        "no_default_transition",
        "workflows.w.nodes.a",
        workflow("""
            initial_node: a
            nodes: {a: , b: }
            transitions: [{from: a, to: b, condition: input.x}]
        """),
        workflow("""
            initial_node: a
            nodes: {a: , b: }
            transitions: [{from: a, to: b, condition: input.x}]
            on_no_match: complete
        """),
    ),
    "only failures are handled": Rule(
        "no_default_transition",
        "workflows.w.nodes.a",
        workflow("""
            initial_node: a
            nodes: {a: , rescue: }
            transitions: [{from: a, to: rescue, condition: has(state._last_error)}]
        """),
        workflow("""
            initial_node: a
            nodes: {a: , rescue: , b: }
            transitions:
              - {from: a, to: rescue, condition: has(state._last_error)}
              - {from: a, to: b, condition: "!has(state._last_error)"}
        """),
    ),
    "a default that can be used up": Rule(
        "no_default_transition",
        "workflows.w.nodes.a",
        workflow("""
            initial_node: a
            nodes: {a: }
            transitions: [{from: a, to: a, loop_config: {max_iterations: 2}}]
        """),
        workflow("""
            initial_node: a
            nodes: {a: , b: }
            transitions: [{from: a, to: a, loop_config: {max_iterations: 2}}, {from: a, to: b, priority: 2}]
        """),
    ),
}

JOINS = {
    "a join outside every branch": Rule(
        "join_without_group",
        "workflows.w.transitions[0].synchronization",
        workflow("initial_node: a\nnodes: {a: , b: }\ntransitions: [{from: a, to: b, synchronization: {}}]"),
        workflow(
            "initial_node: a\nnodes: {a: , b: }\ntransitions: [{from: a, to: b, spawn_count: 2, synchronization: {}}]"
        ),
    ),
    "a join of a group nobody makes": Rule(
        "join_without_group",
        "workflows.w.transitions[1].synchronization.sibling_group",
        workflow("""
            initial_node: s
            nodes: {s: , work: , end: }
            transitions:
              - {from: s, to: work, spawn_count: 3, sibling_group: judges}
              - {from: work, to: end, synchronization: {sibling_group: juges}}
        """),
        workflow("""
            initial_node: s
            nodes: {s: , work: , end: }
            transitions:
              - {from: s, to: work, spawn_count: 3, sibling_group: judges}
              - {from: work, to: end, synchronization: {sibling_group: judges}}
        """),
    ),
    "a join of a group that was joined before": Rule(
        "join_without_group",
        "workflows.w.transitions[2].synchronization",
        workflow("""
            initial_node: s
            nodes: {s: , work: , m: , end: }
            transitions:
              - {from: s, to: work, spawn_count: 3}
              - {from: work, to: m, synchronization: {}}
              - {from: m, to: end, synchronization: {}}
        """),
        workflow("""
            initial_node: s
            nodes: {s: , t: , work: , m: , end: }
            transitions:
              - {from: s, to: t, spawn_count: 3}
              - {from: t, to: work, spawn_count: 3}
              - {from: work, to: m, synchronization: {}}
              - {from: m, to: end, synchronization: {}}
        """),
    ),
    "a fan_in nobody needs": Rule(
        "join_without_group",
        "workflows.w.nodes.b.fan_in",
        workflow("initial_node: a\nnodes: {a: , b: {fan_in: all}}\ntransitions: [{from: a, to: b}]"),
        workflow("initial_node: a\nnodes: {a: , b: {fan_in: all}}\ntransitions: [{from: a, to: b, spawn_count: 2}]"),
    ),
    "a fan_in that nothing leads to": Rule(
        "join_without_group",
        "workflows.w.nodes.a.fan_in",
        workflow("initial_node: a\nnodes: {a: {fan_in: any}}"),
        workflow("initial_node: a\nnodes: {a: }"),
    ),
    "a token from outside may pass through a join that others meet at": Rule(
        "join_without_group",
        "workflows.w.transitions[1].synchronization",
        workflow("""
            initial_node: s
            nodes: {s: , work: , end: }
            transitions:
              - {from: s, to: work, spawn_count: 2, condition: input.many, synchronization: {}}
              - {from: work, to: end, synchronization: {}}
              - {from: s, to: end, priority: 2}
        """),
        workflow("""
            initial_node: s
            nodes: {s: , work: , end: {fan_in: all}}
            transitions:
              - {from: s, to: work, spawn_count: 2, condition: input.many}
              - {from: work, to: end}
              - {from: s, to: end, priority: 2}
        """),
    ),
    "siblings that meet under different rules": Rule(
        "synchronization_disagrees",
        "workflows.w.transitions[3].synchronization",
        workflow("""
            initial_node: s
            nodes: {s: , a: , b: , m: }
            transitions:
              - {from: s, to: a}
              - {from: s, to: b}
              - {from: a, to: m, synchronization: {strategy: all}}
              - {from: b, to: m, synchronization: {strategy: any}}
        """),
        workflow("""
            initial_node: s
            nodes: {s: , a: , b: , m: }
            transitions:
              - {from: s, to: a}
              - {from: s, to: b}
              - {from: a, to: m, synchronization: {strategy: any}}
              - {from: b, to: m, synchronization: {strategy: any, sibling_group: s}}
        """),
    ),
    "different rules for different groups are no matter": Rule(
        "synchronization_disagrees",
        "workflows.w.transitions[3].synchronization",
        workflow("""
            initial_node: s
            nodes: {s: , a: , b: , m: }
            transitions:
              - {from: s, to: a, spawn_count: 2, sibling_group: g}
              - {from: s, to: b, spawn_count: 2, sibling_group: g}
              - {from: a, to: m, synchronization: {merge: {target: state.x}}}
              - {from: b, to: m, synchronization: {merge: {target: state.y}}}
        """),
        workflow("""
            initial_node: s
            nodes: {s: , a: , b: , m: }
            transitions:
              - {from: s, to: a, spawn_count: 2, sibling_group: g}
              - {from: s, to: b, spawn_count: 2, sibling_group: h}
              - {from: a, to: m, synchronization: {merge: {target: state.x}}}
              - {from: b, to: m, synchronization: {merge: {target: state.y}}}
        """),
    ),
    "two joins of one group that treat failures differently": Rule(
        "on_branch_failure_disagrees",
        "workflows.w.transitions[4].synchronization.on_branch_failure",
        workflow("""
            initial_node: s
            nodes: {s: , work: , m: , n: }
            transitions:
              - {from: s, to: work, spawn_count: 3}
              - {from: work, to: m, condition: input.x, synchronization: {on_branch_failure: continue}}
              - {from: work, to: work, condition: input.y, loop_config: {max_iterations: 1}}
              - {from: work, to: work, condition: input.z, loop_config: {max_iterations: 1}}
              - {from: work, to: n, priority: 2, synchronization: {}}
        """),
        workflow("""
            initial_node: s
            nodes: {s: , work: , m: , n: }
            transitions:
              - {from: s, to: work, spawn_count: 3}
              - {from: work, to: m, condition: input.x, synchronization: {on_branch_failure: continue}}
              - {from: work, to: n, priority: 2, synchronization: {on_branch_failure: continue}}
        """),
    ),
}

QUORUM = {
    "more than are counted out": Rule(
        "m_of_n_too_large",
        "workflows.w.transitions[1].synchronization.strategy",
        workflow("""
            initial_node: s
            nodes: {s: , a: , m: }
            transitions:
              - {from: s, to: a, spawn_count: 2}
              - {from: a, to: m, synchronization: {strategy: {m_of_n: 3}}}
        """),
        workflow("""
            initial_node: s
            nodes: {s: , a: , m: }
            transitions:
              - {from: s, to: a, spawn_count: 3}
              - {from: a, to: m, synchronization: {strategy: {m_of_n: 3}}}
        """),
    ),
    "more than the list holds": Rule(
        "m_of_n_too_large",
        "workflows.w.nodes.m.fan_in.strategy",
        workflow("""
            initial_node: s
            nodes: {s: , a: , m: {fan_in: {m_of_n: 4}}}
            transitions: [{from: s, to: a, foreach: {collection: "[1, 2, 3]"}}, {from: a, to: m}]
        """),
        workflow("""
            initial_node: s
            nodes: {s: , a: , m: {fan_in: {m_of_n: 4}}}
            transitions: [{from: s, to: a, foreach: {collection: input.items}}, {from: a, to: m}]
        """),
    ),
    "more than there are transitions": Rule(
        "m_of_n_too_large",
        "workflows.w.nodes.m.fan_in.strategy",
        workflow("""
            initial_node: s
            nodes: {s: , a: , b: , m: {fan_in: {m_of_n: 3}}}
            transitions: [{from: s, to: a}, {from: s, to: b}, {from: a, to: m}, {from: b, to: m}]
        """),
        workflow("""
            initial_node: s
            nodes: {s: , a: , b: , m: {fan_in: {m_of_n: 3}}}
            transitions: [{from: s, to: a}, {from: s, to: b, spawn_count: 2}, {from: a, to: m}, {from: b, to: m}]
        """),
    ),
    "a branch that ends elsewhere cannot be counted on": Rule(
        "join_out_of_reach",
        "workflows.w.transitions[2].synchronization.strategy",
        workflow("""
            initial_node: s
            nodes: {s: , a: , b: , m: }
            transitions:
              - {from: s, to: a}
              - {from: s, to: b}
              - {from: a, to: m, synchronization: {strategy: {m_of_n: 2}}}
        """),
        workflow("""
            initial_node: s
            nodes: {s: , a: , b: , c: , m: }
            transitions:
              - {from: s, to: a}
              - {from: s, to: b}
              - {from: b, to: c}
              - {from: a, to: m, synchronization: {strategy: {m_of_n: 2}}}
              - {from: c, to: m, synchronization: {strategy: {m_of_n: 2}}}
        """),
    ),
    "one branch that ends elsewhere is only lost under all": Rule(
        "join_out_of_reach",
        "workflows.w.transitions[2].synchronization.strategy",
        workflow("""
            initial_node: s
            nodes: {s: , a: , b: , m: }
            transitions:
              - {from: s, to: a, spawn_count: 2, sibling_group: g}
              - {from: s, to: b, spawn_count: 2, sibling_group: g}
              - {from: a, to: m, synchronization: {strategy: {m_of_n: 3}}}
        """),
        workflow("""
            initial_node: s
            nodes: {s: , a: , b: , m: }
            transitions:
              - {from: s, to: a}
              - {from: s, to: b}
              - {from: a, to: m, synchronization: {strategy: all}}
        """),
    ),
}

CALLS = {
    "a workflow that always calls itself": Rule(
        "recursive_workflow",
        "workflows.w.nodes.b.workflow",
        workflow("initial_node: a\nnodes: {a: , b: {workflow: w}}\ntransitions: [{from: a, to: b}]"),
        workflow("initial_node: a\nnodes: {a: , b: {workflow: v}}\ntransitions: [{from: a, to: b}]")
        + "  v: {initial_node: x, nodes: {x: }}",
    ),
    "two that always call each other": Rule(
        "recursive_workflow",
        "workflows.v.nodes.x.workflow",
        "workflows:\n"
        "  v: {initial_node: x, nodes: {x: {workflow: w}}}\n"
        "  w: {initial_node: x, nodes: {x: {workflow: v}}}",
        "workflows:\n"
        "  v: {initial_node: x, nodes: {x: {workflow: w}}}\n"
        "  w: {initial_node: x, nodes: {x: , y: }, transitions: [{from: x, to: y}]}",
    ),
    "a flow that always calls itself": Rule(
        "recursive_workflow",
        "flows.q.nodes.n.data.workflow",
        "flows: {q: {nodes: {n: {type: workflow, data: {workflow: q}}}}}",
        "flows: {q: {nodes: {n: {type: workflow, data: {workflow: p}}}}, p: {nodes: {n: {type: merge}}}}",
    ),
    "a flow and a workflow that always call each other": Rule(
        "recursive_workflow",
        "flows.q.nodes.n.data.workflow",
        "workflows: {w: {initial_node: x, nodes: {x: {workflow: q}}}}\n"
        "flows:\n"
        "  q:\n"
        "    nodes: {t: {type: trigger}, s: {type: set, data: {a: 1}}, n: {type: workflow, data: {workflow: w}}}\n"
        "    connections: [{from: t, to: s}, {from: s, from_output: a, to: n}]",
        "workflows: {w: {initial_node: x, nodes: {x: {workflow: q@1}}}}\n"
        "flows: {q: {nodes: {n: {type: workflow, data: {workflow: w}}}}}",
    ),
    "the default behind nothing but failures is still always": Rule(
        "recursive_workflow",
        "workflows.w.nodes.b.workflow",
        workflow("""
            initial_node: a
            nodes: {a: , b: {workflow: w}, c: }
            transitions:
              - {from: a, to: c, condition: has(state._last_error)}
              - {from: a, to: b, priority: 2}
        """),
        workflow("""
            initial_node: a
            nodes: {a: , b: {workflow: w@1}}
            transitions: [{from: a, to: b}]
        """),
    ),
    "the first of first_match is always followed": Rule(
        "recursive_workflow",
        "workflows.w.nodes.b.workflow",
        workflow("""
            initial_node: a
            nodes: {a: {fan_out: first_match}, b: {workflow: w}, c: }
            transitions: [{from: a, to: b}, {from: a, to: c}]
        """),
        workflow("""
            initial_node: a
            nodes: {a: {fan_out: first_match}, b: {workflow: w@1}, c: }
            transitions: [{from: a, to: c, condition: input.x}, {from: a, to: b}]
        """),
    ),
}

MERGES = {
    "a list where the schema wants an object": Rule(
        "merge_type",
        "workflows.w.transitions[0].synchronization.merge.strategy",
        workflow("""
            initial_node: a
            state_schema: {properties: {x: {type: object}}}
            nodes: {a: , b: }
            transitions:
              - {from: a, to: b, spawn_count: 2, synchronization: {merge: {target: state.x, strategy: append}}}
        """),
        workflow("""
            initial_node: a
            state_schema: {properties: {x: {type: object}}}
            nodes: {a: , b: }
            transitions:
              - {from: a, to: b, spawn_count: 2, synchronization: {merge: {target: state.x, strategy: merge_object}}}
        """),
    ),
    "an object where the schema wants a list": Rule(
        "merge_type",
        "workflows.w.transitions[0].synchronization.merge.strategy",
        workflow("""
            initial_node: a
            state_schema: {properties: {x: {type: array}}}
            nodes: {a: , b: }
            transitions:
              - {from: a, to: b, spawn_count: 2, synchronization: {merge: {target: state.x, strategy: keyed_by_branch}}}
        """),
        workflow("""
            initial_node: a
            state_schema: {properties: {x: {type: array}}}
            nodes: {a: , b: }
            transitions:
              - {from: a, to: b, spawn_count: 2, synchronization: {merge: {target: state.x, strategy: last_wins}}}
        """),
    ),
    "a merge to where the schema allows nothing": Rule(
        "mapping_ruled_out",
        "workflows.w.transitions[0].synchronization.merge.target",
        workflow("""
            initial_node: a
            state_schema: {properties: {votes: {type: array}}, additionalProperties: false}
            nodes: {a: , b: }
            transitions: [{from: a, to: b, spawn_count: 2, synchronization: {merge: {target: state.vote}}}]
        """),
        workflow("""
            initial_node: a
            state_schema: {properties: {votes: {type: array}}, additionalProperties: false}
            nodes: {a: , b: }
            transitions: [{from: a, to: b, spawn_count: 2, synchronization: {merge: {target: state.votes}}}]
        """),
    ),
    "inside a branch no schema holds": Rule(
        "merge_type",
        "workflows.w.transitions[1].synchronization.merge.strategy",
        workflow("""
            initial_node: s
            state_schema: {properties: {x: {type: integer}}}
            nodes: {s: , a: , b: }
            transitions:
              - {from: s, to: a}
              - {from: a, to: b, spawn_count: 2, synchronization: {merge: {target: state.x}}}
        """),
        workflow("""
            initial_node: s
            state_schema: {properties: {x: {type: integer}}}
            nodes: {s: , a: , b: }
            transitions:
              - {from: s, to: a, spawn_count: 2}
              - {from: a, to: b, spawn_count: 2, synchronization: {merge: {target: state.x}}}
        """),
    ),
}

TABLES = {**NAMES, **REACH, **ROUTING, **JOINS, **QUORUM, **CALLS, **MERGES}
WARNINGS = {"cycle_without_bound", "unknown_failure_type", "transition_never_wins", "no_default_transition"}


@pytest.mark.parametrize("rule", [pytest.param(rule, id=sentence) for sentence, rule in TABLES.items()])
def test_a_rule_of_graphs(rule: Rule) -> None:
    severity = "warning" if rule.code in WARNINGS else "error"
    found = problems(rule.broken)
    assert (rule.code, rule.path, severity) in {(p.code, p.path, p.severity) for p in found}
    assert all(p.remedy and p.line for p in found)
    assert [p for p in problems(rule.sound) if p.code == rule.code or p.severity == "error"] == []


def test_a_call_that_a_condition_may_end_is_only_warned_of() -> None:
    (problem,) = problems(
        workflow("""
            initial_node: a
            nodes: {a: , b: {workflow: w}, c: }
            transitions: [{from: a, to: b, condition: input.deeper}, {from: a, to: c, priority: 2}]
        """)
    )
    assert (problem.code, problem.severity) == ("recursive_workflow", "warning")


@pytest.mark.parametrize(
    "flow",
    [
        pytest.param(
            """
            nodes: {b: {type: if_else, data: {condition: "true"}}, n: {type: workflow, data: {workflow: q}}}
            connections: [{from: b, from_output: "true", to: n}]
            """,
            id="behind a branch",
        ),
        pytest.param(
            """
            nodes: {b: {type: http, data: {url: "http://localhost/"}}, n: {type: workflow, data: {workflow: q}}}
            connections: [{from: b, to: n}]
            """,
            id="behind work that may choose a branch",
        ),
        pytest.param(
            """
            nodes: {s: {type: trigger}, t: {type: trigger}, n: {type: workflow, data: {workflow: q}}}
            connections: [{from: s, to: n}]
            """,
            id="behind one of two triggers",
        ),
        pytest.param(
            """
            nodes: {s: {type: set, data: {a: 1}, on_error: route}, n: {type: workflow, data: {workflow: q}}}
            connections: [{from: s, from_output: error, to: n}]
            """,
            id="behind a failure",
        ),
    ],
)
def test_a_flow_that_may_not_come_to_its_call_is_only_warned_of(flow: str) -> None:
    found = problems(f"flows:\n  q:\n{indent(dedent(flow), '    ')}")
    assert [(p.code, p.severity) for p in found] == [("recursive_workflow", "warning")]


def test_the_second_of_first_match_is_only_warned_of() -> None:
    found = problems(
        workflow("""
            initial_node: a
            nodes: {a: {fan_out: first_match}, b: {workflow: w}, c: }
            transitions: [{from: a, to: c, condition: input.x}, {from: a, to: b}]
        """)
    )
    assert [(p.code, p.severity) for p in found] == [("recursive_workflow", "warning")]


def test_a_call_for_each_of_a_list_may_end_with_an_empty_list() -> None:
    found = problems(
        workflow("""
            initial_node: a
            nodes: {a: , b: {workflow: w}}
            transitions: [{from: a, to: b, foreach: {collection: input.children}}]
        """)
    )
    assert [(p.code, p.severity) for p in found] == [("recursive_workflow", "warning")]


def test_a_group_misspelt_is_suggested() -> None:
    (problem,) = problems(JOINS["a join of a group nobody makes"].broken)
    assert problem.remedy.startswith("write 'judges'")


def test_of_a_graph_that_could_not_be_read_whole_nothing_is_said_to_be_missing() -> None:
    text = workflow("""
        initial_node: a
        nodes: {a: , b: , c: }
        transitons: [{from: a, to: b}]
    """)
    assert [p.code for p in problems(text)] == ["unknown_key"]


def test_a_transition_from_an_end_is_one_warning() -> None:
    """It makes no cycle, and the end needs no default."""
    (problem,) = problems(
        workflow("""
            initial_node: a
            nodes: {a: , stop: {end: completed}}
            transitions: [{from: a, to: stop}, {from: stop, to: a, condition: input.again}]
        """)
    )
    assert (problem.code, problem.severity) == ("transition_never_wins", "warning")
