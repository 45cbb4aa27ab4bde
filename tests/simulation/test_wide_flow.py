"""A thousand nodes, fifty wide: they overlap, a slow one holds up nobody but its descendants, and none costs more."""

from jeton.actor.journal import decode_entry
from jeton.apply.draft import TOKENS_PER_SECTION
from jeton.definitions import library_from
from jeton.hosts.simulated.observer import Nobody, Step
from jeton.hosts.simulated.script import Answer, Script
from jeton.hosts.simulated.world import World
from jeton.model.decision import BeginNode, ExecuteNode

ROWS, WIDTH, SLOW_MS = 20, 50, 10_000
SLOW = "n5_0"


class Meter(Nobody):
    """How much is under way, and how much is written for each node that is done."""

    def __init__(self) -> None:
        self.most_at_once = 0
        self.done: list[str] = []
        self.begun: list[str] = []
        self.written: list[tuple[int, int, int]] = []  # nodes done, sections, bytes

    def committed(self, step: Step) -> None:
        if step.turn.entry is None:
            return
        decisions = decode_entry(step.turn.entry.body).decisions
        done = [decision.node for decision in decisions if isinstance(decision, ExecuteNode)]
        self.begun += [decision.node for decision in decisions if isinstance(decision, BeginNode)]
        self.done += done
        self.most_at_once = max(self.most_at_once, len(step.live.state.flow.executing))
        size = len(step.turn.entry.body) + sum(len(body or b"") for body in step.turn.sections.values())
        self.written.append((len(done), len(step.turn.sections), size))


def played() -> tuple[Meter, World]:
    nodes = {f"n{row}_{column}": {"type": "work"} for row in range(ROWS) for column in range(WIDTH)}
    chains = [
        {"from": f"n{row}_{column}", "to": f"n{row + 1}_{column}"} for row in range(ROWS - 1) for column in range(WIDTH)
    ]
    work = {"kind": "mock", "implementation": {"output": {"n": 1}}}
    wide = {"nodes": nodes, "connections": chains, "limits": {"max_nodes": ROWS * WIDTH}}
    library = library_from({"flows": {"wide": wide}, "actions": {"work": work}}).require()
    answers = dict.fromkeys(nodes, Answer({"n": 1}, takes_ms=5))
    meter = Meter()
    script = Script({**answers, SLOW: Answer({"n": 1}, takes_ms=SLOW_MS)})
    world = World(library, script=script, observer=meter)
    world.start("wide", {})
    world.run()
    assert not world.unfinished()
    return meter, world


def test_a_wide_flow() -> None:
    meter, world = played()
    (run,) = world.store.runs()
    row = world.store.row(run)
    assert row is not None
    assert row.status == "completed"
    assert meter.most_at_once == WIDTH
    assert sorted(meter.done) == sorted(set(meter.begun))
    assert len(meter.done) == ROWS * WIDTH

    behind = [f"n{number}_0" for number in range(5, ROWS)]
    assert meter.done[-len(behind) :] == behind  # all others were done before the slow one
    assert row.ended_at is not None
    assert row.ended_at - row.submitted_at < SLOW_MS + ROWS * 100  # in virtual time: nobody waited for it twice

    usual = [each for each in meter.written if each[0]]
    for done, sections, _ in usual:
        assert (
            sections <= 2 * done + 2 + ROWS * WIDTH // TOKENS_PER_SECTION + 1
        )  # its own, its target's, the head and the tokens
    early, late = usual[len(usual) // 10 : len(usual) // 4], usual[-len(usual) // 4 : -len(usual) // 10]
    assert _bytes_a_node(late) < 1.5 * _bytes_a_node(early)


def _bytes_a_node(written: list[tuple[int, int, int]]) -> float:
    return sum(size for _, _, size in written) / sum(done for done, _, _ in written)
