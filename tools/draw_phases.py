"""Draw the phases of tokens, runs, gates, nodes of flows and firings: `python -m tools.draw_phases` writes them into
docs/architecture.md, between their markers.

The states are those of the unions that the code runs on. The arrows are what planning and apply do in the scenarios of
`tools/phase_scenarios.py`: each journal is folded decision by decision, and every change of state is an arrow with
the decision's name. A state that no scenario reaches is an error, so that a new phase is not left out.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias, get_args

import msgspec

from jeton.actor.advance import LiveRun
from jeton.apply.draft import Draft
from jeton.apply.fold import fold
from jeton.engine.views.tokens import TokenTable
from jeton.model.decision import Decision, KeepAnswer, TakeAnswer, TimeOutGate
from jeton.model.entry import Entry
from jeton.model.ids import RunId, TokenId
from jeton.model.message import ContinueRun
from jeton.model.state.flow_run import NodeStatus
from jeton.model.state.phase import Phase, WaitingForGate
from jeton.model.state.run import Head, RunState, RunStatus, TokenEnd
from jeton.planning.flow.view import node_view
from jeton.planning.program.workflow import Program
from tools.phase_scenarios import History, firings, histories

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
START = "[*]"
SIBLINGS = "waiting_for_siblings"  # kept by the slot, so it is no member of the union

Arrows: TypeAlias = dict[tuple[str, str], set[str]]
"""From a state to a state: the decisions that lead there."""


class Diagram(msgspec.Struct, frozen=True):
    """States in the order of their union, and the arrows between them. `within`: states drawn in a box of that name."""

    states: tuple[str, ...]
    arrows: Arrows
    within: dict[str, tuple[str, ...]] = {}


class Watched:
    """What one run's history shows, added to the arrows of all."""

    def __init__(self, arrows: dict[str, Arrows], run: RunId, program: Program) -> None:
        self._arrows = arrows
        self._program = program
        self._run = LiveRun(RunState(Head(run, program.workflow.name)))
        self._views = TokenTable()
        self._closed: dict[TokenId, tuple[str, str]] = {}  # of gates: what they become, and by which decision

    def take(self, decision: Decision) -> None:
        """Fold one decision, and note every state that it changes."""
        before = self._states()
        fold(Draft(self._run.state, self._run.timers), decision)
        self._views.take(Entry(0, 0, (ContinueRun(0),), (decision,)))
        name = type(decision).__name__
        self._take_answers(decision, name)
        for (kind, which), state in self._states().items():
            source = before.get((kind, which), START)
            if source != state:
                ended = self._closed[TokenId(which)] if kind == "gate" and isinstance(which, int) else None
                self._note(kind, source, state, name if ended is None or state == "open" else ended[1] or name)

    def _take_answers(self, decision: Decision, name: str) -> None:
        """Answers change a gate that stays open, too."""
        match decision:
            case TakeAnswer(token=token, early=early):
                self._closed[token] = ("answered", name)
                self._note("gate", "open" if early is None else "kept_answer", "open", name)
            case TimeOutGate(token=token):
                self._closed[token] = ("timed_out", name)
            case KeepAnswer():
                self._note("gate", START, "kept_answer", name)
            case _:
                pass

    def _note(self, kind: str, source: str, target: str, decision: str) -> None:
        self._arrows[kind].setdefault((source, target), set()).add(decision)

    def _states(self) -> dict[tuple[str, int | str], str]:
        """Everything that has a state: by kind and identity."""
        state = self._run.state
        found: dict[tuple[str, int | str], str] = {("run", ""): state.head.status}
        for token in self._views.tokens.values():
            live = state.tokens.get(token.id)
            found["token", token.id] = token.status if live is None else tag(live.phase)
            if live is not None and isinstance(live.phase, WaitingForGate):
                found["gate", token.id] = "open"
                self._closed.setdefault(token.id, ("cancelled", ""))
            elif token.id in self._closed:
                found["gate", token.id] = self._closed[token.id][0]
        if self._program.flow is not None:
            for node in self._program.flow.order:
                found["node", node] = node_view(self._program.flow, state.flow, node).status
        return found


def tag(phase: Phase) -> str:
    """The name by which a phase is stored."""
    return str(phase.__struct_config__.tag)


def arrows_of(found: Iterable[History]) -> dict[str, Arrows]:
    """Every change of state in these histories, by what changes."""
    arrows: dict[str, Arrows] = {"token": {}, "run": {}, "gate": {}, "node": {}}
    for history in found:
        watched = Watched(arrows, history.run, history.program)
        for decision in history.decisions:
            watched.take(decision)
    return arrows


def diagrams() -> dict[str, Diagram]:
    """All diagrams, by the name of their marker."""
    arrows = arrows_of(histories())
    phases = {str(each.__struct_config__.tag): bool(each.busy) for each in get_args(Phase)}
    under_way = tuple(name for name, busy in phases.items() if busy)
    waiting = tuple(name for name, busy in phases.items() if not busy and (name, "completed") in arrows["token"])
    states = (*phases, SIBLINGS, *get_args(TokenEnd))
    token = Diagram(states, arrows["token"], {"under_way": under_way, "waiting": waiting})
    run = Diagram(get_args(RunStatus), {**arrows["run"], (START, "submitted"): {"a start"}})
    node = Diagram(get_args(NodeStatus), {**arrows["node"], (START, "idle"): {"the run begins"}})
    gate = Diagram(("kept_answer", "open", "answered", "timed_out", "cancelled"), arrows["gate"])
    fired: Arrows = {(START, "delivered"): {"a cause"}}
    for source, target, name in firings():
        fired.setdefault((source, target), set()).add(name)
    firing = Diagram(("delivered", "ignored", "refused", "fired"), fired)
    return {"token": token, "run": run, "gate": gate, "node": node, "firing": firing}


def unreached(diagram: Diagram) -> list[str]:
    """States of the union that nothing leads to."""
    reached = {target for _, target in diagram.arrows}
    return [state for state in diagram.states if state not in reached]


def drawn(diagram: Diagram) -> str:
    """The diagram in Mermaid."""
    lines = ["stateDiagram-v2"]
    for box, members in diagram.within.items():
        lines += [f"    state {box} {{", *(f"        {member}" for member in members), "    }"]
    order = {state: at for at, state in enumerate((START, *diagram.within, *diagram.states))}
    arrows = sorted(_boxed(diagram).items(), key=lambda each: (order[each[0][0]], order[each[0][1]]))
    lines += [f"    {source} --> {target}: {', '.join(sorted(names))}" for (source, target), names in arrows]
    leaving = {source for source, target in diagram.arrows if source != target}
    lines += [f"    {state} --> {START}" for state in diagram.states if state not in leaving]
    return "\n".join(lines)


def _boxed(diagram: Diagram) -> Arrows:
    """The arrows, where those that leave every state of a box by the same decision are one arrow of the box."""
    arrows = {key: set(names) for key, names in diagram.arrows.items()}
    for box, members in diagram.within.items():
        for target in diagram.states:
            shared = set[str].intersection(*(arrows.get((member, target), set[str]()) for member in members))
            for name in shared:
                arrows.setdefault((box, target), set()).add(name)
                for member in members:
                    arrows[member, target].discard(name)
    return {key: names for key, names in arrows.items() if names}


def blocks() -> Iterator[tuple[str, str]]:
    """Each marker with what belongs below it; raises for a state that no scenario reaches."""
    for name, diagram in diagrams().items():
        missing = unreached(diagram)
        if missing:
            raise SystemExit(f"{name}: no scenario in tools/phase_scenarios.py reaches {', '.join(missing)}")
        yield name, f"```mermaid\n{drawn(diagram)}\n```"


def redrawn(text: str) -> str:
    """The page with all diagrams as they should be."""
    for name, block in blocks():
        before, marker, rest = text.partition(f"<!-- phases of a {name} -->\n")
        _, end, after = rest.partition("<!-- /phases -->")
        assert end, f"the page has no marker for {name}"
        text = f"{before}{marker}\n{block}\n\n{end}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(redrawn(PAGE.read_text()))
