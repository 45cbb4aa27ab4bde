"""A long list through a narrow door: 100,000 slots, 100 in flight, in the simulated host.

Two questions: does a message cost the same at the end as at the beginning, and does the run take more memory than the
result it is collecting? `python -m benchmarks.fan_out [SLOTS]`
"""

import gc
import sys
import time
from statistics import median, mode
from zlib import crc32

from jeton.hosts.simulated.observer import Nobody, Step
from jeton.hosts.simulated.script import Answer, Script
from jeton.hosts.simulated.world import World
from jeton.model.run import RunState
from jeton.model.task import Task
from jeton.model.workflow import (
    Foreach,
    Library,
    Limits,
    Merge,
    Node,
    Synchronization,
    TaskTarget,
    Transition,
    Workflow,
)

IN_FLIGHT = 100
WORKFLOW = Workflow(
    "wide",
    "s",
    {
        "s": Node(),
        "work": Node(TaskTarget(Task(steps=())), {"n": "item"}, {"state.n": "result.n"}),
        "end": Node(),
    },
    (
        Transition("s", "work", foreach=Foreach("input.items", "item", IN_FLIGHT)),
        Transition(
            "work", "end", synchronization=Synchronization(merge=Merge("state.out", "_branch.output.n", "collect"))
        ),
    ),
    output_mapping={"count": "size(state.out)"},
    limits=Limits(max_node_executions=10_000_000),
)


class Meter(Nobody):
    """Times the handling of each batch, and weighs the run now and then."""

    def __init__(self, slots: int) -> None:
        self.batches: list[tuple[int, float]] = []
        self.weights: list[tuple[int, int]] = []
        self._every = max(1, slots // 4)
        self._seen = 0
        self._mark = time.perf_counter()

    def committed(self, step: Step) -> None:
        now = time.perf_counter()
        self.batches.append((len(step.batch), now - self._mark))
        if self._seen // self._every != (self._seen + len(step.batch)) // self._every:
            self.weights.append((self._seen, weight(step.live.state)))
        self._seen += len(step.batch)
        self._mark = time.perf_counter()


def weight(state: RunState) -> int:
    """Bytes of the run's tables, without the list it was given and the values it collects."""
    apart: list[object] = [
        state.input,
        *(segment.items for group in state.groups.values() for segment in group.segments),
    ]
    apart += [arrived.values for arrived in state.arrived.values()]
    seen = {id(part) for part in apart}
    todo: list[object] = [getattr(state, name) for name in ("tokens", "slots", "groups", "progress", "arrived")]
    total = 0
    while todo:
        thing = todo.pop()
        if id(thing) in seen or isinstance(thing, type):
            continue
        seen.add(id(thing))
        total += sys.getsizeof(thing)
        todo += gc.get_referents(thing)
    return total


def hash_of(text: str) -> int:
    return crc32(text.encode())


def main(slots: int) -> None:
    meter = Meter(slots)
    script = Script({"work": lambda call: Answer(call.input, takes_ms=5)})
    world = World(Library(workflows={"wide": WORKFLOW}), script=script, observer=meter)
    run = world.start("wide", {"items": list(range(slots))})
    began = time.perf_counter()
    world.run(most_steps=100 * slots)
    took = time.perf_counter() - began
    row = world.store.row(run)
    assert row is not None
    assert row.output == {"count": slots}, row
    tenth = len(meter.batches) // 10
    usual = mode(size for size, _ in meter.batches)  # a small batch costs more per message than a large one
    first = median(took for size, took in meter.batches[:tenth] if size == usual)
    last = median(took for size, took in meter.batches[-tenth:-1] if size == usual)
    print(f"{slots} slots, {IN_FLIGHT} in flight: {took:.1f} s, {slots / took:.0f} slots/s")
    print(
        f"a batch of {usual}: {first * 1e6:.0f} us in the first tenth, {last * 1e6:.0f} us in the last,"
        f" ratio {last / first:.2f}"
    )
    for done, size in meter.weights[1:]:
        print(f"  after {done:>7} messages the tables take {size / 1024:8.0f} KiB beside list and result")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
