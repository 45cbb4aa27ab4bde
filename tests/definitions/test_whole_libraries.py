"""Libraries as people write them: none of these has a problem."""

import pytest

from tests.definitions.given import problems

PANEL = """
    workflows:
      panel:
        input_schema:
          type: object
          required: [essay, judges]
          properties: {essay: {type: string}, judges: {type: array, items: {type: string}}}
        state_schema:
          type: object
          properties: {votes: {type: array, items: {type: object}}, verdict: {type: string}}
        output_schema: {type: object, required: [verdict], properties: {verdict: {type: string}}}
        initial_node: prepare
        nodes:
          prepare: {}
          judge:   {task: judge_essay, input_mapping: {essay: input.essay, judge: judge}}
          tally:
            task: count_votes
            input_mapping: {votes: state.votes}
            output_mapping: {state.verdict: result.verdict}
          appeal:  {gate: {title: "Appeal?", schema: {type: object, required: [ok], properties: {ok: {type: boolean}}}}}
          done:    {}
        transitions:
          - {from: prepare, to: judge, foreach: {collection: input.judges, item_var: judge}, sibling_group: judges}
          - from: judge
            to: tally
            synchronization:
              strategy: {m_of_n: 2}
              sibling_group: judges
              merge: {source: _branch.output, target: state.votes, strategy: append}
              timeout_ms: 30000
              on_timeout: proceed_with_available
              on_early_complete: cancel
              on_branch_failure: continue
          - {from: tally, to: appeal, condition: "state.verdict == 'reject'", priority: 1}
          - {from: tally, to: done, priority: 2}
          - {from: appeal, to: prepare, condition: "result.ok", loop_config: {max_iterations: 1}}
          - {from: appeal, to: done, priority: 2}
        output_mapping: {verdict: state.verdict}
        timeout_ms: 3600000
    tasks:
      judge_essay: {steps: [{ref: ask, action: {kind: mock, implementation: {output: {points: 8}}}}]}
      count_votes: {steps: [{ref: count, action: {kind: mock, implementation: {output: {verdict: pass}}}}]}
"""

EDIT_FILE = """
    tasks:
      edit_file:
        input_schema: {type: object, properties: {path: {type: string}, text: {type: string}}}
        output_schema: {}
        timeout_ms: 60000
        retry: {max_attempts: 3, backoff: exponential, initial_delay_ms: 200, max_delay_ms: 5000}
        steps:
          - ref: write
            action: {kind: file, implementation: {operation: write, root: workspace}}
            input_mapping: {path: input.path, text: input.text}
          - ref: read
            action: {kind: file, implementation: {operation: read, root: workspace}}
            input_mapping: {path: input.path}
            output_mapping: {state.found: result.text}
          - ref: check
            action: {kind: assert, implementation: {that: "state.found == input.text"}}
            on_failure: retry
    actions:
      fetch:
        kind: http
        implementation: {method: GET, url: "https://api.example/items/{id}"}
        execution:
          timeout_ms: 10000
          retry_policy: {max_attempts: 4, backoff: exponential, initial_delay_ms: 100}
"""

HANDLED_FAILURE = """
    workflows:
      w:
        initial_node: a
        nodes:
          a: {action: {kind: mock, implementation: {output: {}, fail: {times: 99, message: nope, transient: false}}}}
          b: {}
          rescue:
            action: {kind: context, implementation: {set: {m: input.m}}}
            input_mapping: {m: state._last_error.message}
            output_mapping: {output.m: result.m}
        transitions:
          - {from: a, to: rescue, priority: 1, condition: "has(state._last_error) && state._last_error.node == 'a'"}
          - {from: a, to: b, priority: 2}
"""

QUORUM = """
    workflows:
      w:
        initial_node: s
        nodes:
          s: {}
          s2: {}
          v: {action: {kind: mock, implementation: {output: {}, delay_ms: 5}}, output_mapping: {state.n: item}}
          slow: {action: {kind: mock, implementation: {output: {}, delay_ms: 20000}}, output_mapping: {state.n: item}}
          end:
            fan_in:
              strategy: {m_of_n: 2}
              sibling_group: g
              merge: {source: _branch.output.n, target: state.votes, strategy: collect}
        transitions:
          - {from: s, to: s2, foreach: {collection: '[1, 2, 3]', item_var: item}, sibling_group: g}
          - {from: s2, to: slow, priority: 1, condition: item == 2}
          - {from: s2, to: v, priority: 2}
          - {from: v, to: end}
          - {from: slow, to: end}
        output_mapping: {votes: state.votes}
"""

CHILDREN = """
    workflows:
      child:
        input_schema: {type: object, required: [k], properties: {k: {type: integer}}}
        initial_node: c
        nodes:
          c:
            action: {kind: mock, implementation: {output: {}, delay_ms: {min: 1, max: 60}}}
            output_mapping: {output.sq: input.k * input.k}
        transitions: []
      w:
        initial_node: s
        nodes: {s: {}, call: {workflow: child, input_mapping: {k: item}}, end: {}}
        transitions:
          - {from: s, to: call, foreach: {collection: '[2, 3, 4]', item_var: item}, sibling_group: g}
          - from: call
            to: end
            synchronization:
              strategy: all
              sibling_group: g
              merge: {source: _branch.output.sq, target: state.r, strategy: collect}
        output_mapping: {r: state.r}
"""

THREE_JOINS = """
    workflows:
      w:
        initial_node: s
        nodes:
          s: {}
          a: {action: {kind: mock, implementation: {output: {k: 1}}}}
          b: {action: {kind: mock, implementation: {output: {k: 2}}}}
          m: {fan_in: {merge: {target: state.obj, strategy: merge_object}}}
          a2: {action: {kind: mock, implementation: {output: {k: 1}}}}
          b2: {action: {kind: mock, implementation: {output: {k: 2}}}}
          m2: {fan_in: {merge: {target: state.keyed, strategy: keyed_by_branch}}}
        transitions:
          - {from: s, to: a}
          - {from: s, to: b}
          - {from: a, to: m}
          - {from: b, to: m}
          - {from: m, to: a2}
          - {from: m, to: b2}
          - {from: a2, to: m2}
          - {from: b2, to: m2}
        output_mapping: {obj: state.obj, keyed: state.keyed}
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PANEL, id="a panel of judges"),
        pytest.param(EDIT_FILE, id="a task that checks itself"),
        pytest.param(HANDLED_FAILURE, id="a failure that is handled"),
        pytest.param(QUORUM, id="two of three"),
        pytest.param(CHILDREN, id="children in a fan-out"),
        pytest.param(THREE_JOINS, id="one join after another"),
        pytest.param("workflows: {w: {initial_node: a, nodes: {a: {wait: {seconds: '0.5'}}}}}", id="a wait"),
        pytest.param("", id="nothing at all"),
    ],
)
def test_a_sound_library_has_no_problem(text: str) -> None:
    assert problems(text) == ()


# what checks know of `run`


def one_node(node: str) -> str:
    return f"workflows: {{w: {{initial_node: a, nodes: {{a: {node}}}}}}}"


@pytest.mark.parametrize(
    ("node", "problem", "remedy"),
    [
        ("{input_mapping: {x: run.ide}}", "rules out a field 'ide'", "did you mean 'id'?"),
        ("{input_mapping: {x: run.version + run.id}}", "no + for int and string", "string(run.version)"),
        (
            "{task: {steps: [{action: {kind: context, implementation: {set: {x: run.trigger.kind}}}}]}}",
            "rules out a field 'kind'",
            "did you mean 'id'?",
        ),
    ],
)
def test_a_field_that_run_does_not_have(node: str, problem: str, remedy: str) -> None:
    (found,) = problems(one_node(node))
    assert problem in found.problem
    assert remedy in found.remedy


@pytest.mark.parametrize("path", ["id", "root_id", "workflow", "version", "key", "started_at", "trigger.depth"])
def test_the_fields_of_run(path: str) -> None:
    assert not [*problems(one_node(f"{{input_mapping: {{x: run.{path}}}}}"))]
