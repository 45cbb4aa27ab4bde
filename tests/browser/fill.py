"""What the server of these tests has: definitions of each kind, and runs in each status."""

from typing import Any

from tests.api.server import Running
from tests.browser.site import ask

LIBRARY = """
workflows:
  double:
    input_schema:
      type: object
      required: [n]
      properties:
        n: {type: integer, title: Number, description: What is doubled}
        note: {type: string}
    initial_node: a
    nodes: {a: {output_mapping: {output.n: input.n * 2}}}
  panel:
    initial_node: prepare
    nodes:
      prepare: {output_mapping: {state.verdict: "'reject'"}}
      judge: {action: {kind: mock, implementation: {output: {points: 8}}}}
      tally: {}
      appeal:
        gate:
          title: Appeal a?
          schema:
            type: object
            required: [ok]
            properties: {ok: {type: boolean, title: Approve}, note: {type: string, title: Note}}
      done: {}
    transitions:
      - {from: prepare, to: judge, foreach: {collection: "input.judges", item_var: judge}, sibling_group: judges}
      - from: judge
        to: tally
        synchronization: {strategy: {m_of_n: 2}, sibling_group: judges, merge: {target: state.votes}}
      - {from: tally, to: appeal, condition: "state.verdict == 'reject'", priority: 1}
      - {from: tally, to: done, priority: 2}
      - {from: appeal, to: done}
  pay:
    initial_node: charge
    nodes:
      charge: {action: {kind: mock, implementation: {output: {}, fail: {times: 99, message: the card was declined}}}}
  hold:
    initial_node: a
    nodes: {a: {wait: {seconds: 86400}}}
"""

STARTED: tuple[tuple[str, Any, int], ...] = (
    ("double", {"n": 21}, 6),
    ("panel", {"judges": ["ada", "ben", "cleo"]}, 3),
    ("pay", {}, 4),
    ("hold", {}, 3),
)


def fill(server: Running) -> None:
    """Start some runs of each kind, cancel one, pause one, and save a query."""
    runs: dict[str, list[str]] = {}
    for workflow, given, many in STARTED:
        for _ in range(many):
            record = ask(server, "POST", "/v1/runs", {"workflow": workflow, "input": given})
            runs.setdefault(workflow, []).append(record["run_id"])
    while ask(server, "GET", "/v1/runs?status=submitted,running")["runs"]:
        pass
    ask(server, "POST", f"/v1/runs/{runs['hold'][0]}/cancel", {"reason": "not needed"})
    ask(server, "POST", f"/v1/runs/{runs['hold'][1]}/pause", {})
    ask(server, "PUT", "/v1/queries/stuck", {"q": "status:waiting"})
