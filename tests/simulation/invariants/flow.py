"""What must hold of a flow's nodes after every commit: each runs once, is one thing at a time, and stays settled."""

from collections.abc import Mapping

from jeton.model.decision import BeginNode, DispatchToken, ExecuteNode
from jeton.planning.flow.readiness import remaining_of, status_of
from tests.simulation.invariants.seen import Seen, broken


class FlowNodes:
    """The nodes of one run."""

    def __init__(self) -> None:
        self._begun: set[str] = set()
        self._asked: set[str] = set()
        self._settled: dict[str, object] = {}

    def committed(self, seen: Seen) -> None:
        for decision in seen.entry.decisions:
            match decision:
                case BeginNode(node=node):
                    self._once(self._begun, node, "begins")
                case DispatchToken(node=node, attempt=1):
                    self._once(self._asked, node, "is asked for")
                case ExecuteNode(node=node) if node not in self._begun:
                    broken(f"node {node} is done and never began")
                case _:
                    pass
        self.settled(seen)

    def _once(self, before: set[str], node: str, what: str) -> None:
        if node in before:
            broken(f"node {node} {what} twice")
        before.add(node)

    def settled(self, seen: Seen) -> None:
        """Of a run that shares another's history this is all that can be told: its nodes began there."""
        program, state, head = seen.program.flow, seen.run.state.flow, seen.run.state.head
        assert program is not None
        settled: dict[str, object] = {**state.executed, **state.errors, **dict.fromkeys(state.skipped, "skipped")}
        tables: tuple[Mapping[str, object], ...] = (
            state.executing,
            state.waiting,
            state.executed,
            state.errors,
            state.skipped,
        )
        if sum(map(len, tables)) != len({name for table in tables for name in table}):
            broken(f"a node is two things at once: {[list(table) for table in tables]}")
        for node, was in self._settled.items():
            if settled.get(node) != was:
                broken(f"node {node} was settled as {was}, and is {settled.get(node)}")
        self._settled = settled
        # all of a node's connections are as many as when nobody has counted them yet: a retry may say so, or leave it
        waited = {node: n for node, n in state.remaining.items() if n != len(program.nodes[node].incoming)}
        if not head.ended and waited != remaining_of(program, state):
            broken(f"{waited} connections are waited for, and should be {remaining_of(program, state)}")
        under_way = {token.node for token in seen.run.state.tokens.values()}
        if not head.ended and not {*state.executing, *state.waiting} <= under_way:
            broken(f"{list(state.executing)} are executing, and tokens are only at {under_way}")
        if head.status == "completed" and status_of(program, state) != "completed":
            broken(f"the run is completed, and its nodes say {status_of(program, state)}")
        if not head.ended and status_of(program, state) != "running":
            broken(f"every node is settled, and the run is {head.status}")
