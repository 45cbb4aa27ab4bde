"""A large flow: 1,000 nodes, 50 wide, in the simulated host. Does a node cost the same in a large flow as in a small?

`python -m benchmarks.wide_flow [NODES…]`
"""

import sys
import time

from jeton.hosts.simulated.script import Answer, Script
from jeton.hosts.simulated.world import World
from jeton.model.definition.flow import Connection, Flow, FlowLimits, FlowNode
from jeton.model.definition.task import Action
from jeton.model.definition.workflow import Library

WIDTH = 50
SIZES = (250, 500, 1000, 2000)


def wide_flow(nodes: int, width: int = WIDTH) -> Library:
    """Columns side by side, each a chain; every node also leads to its neighbour's next, so that paths meet."""
    names = [f"n{number // width}_{number % width}" for number in range(nodes)]
    connections: list[Connection] = []
    for number in range(nodes - width):
        row, column = divmod(number, width)
        connections.append(Connection(names[number], f"n{row + 1}_{column}"))
        beside = f"n{row + 1}_{column + 1}"
        if column % 2 == 0 and column + 1 < width:
            connections.append(Connection(names[number], beside, to_input="beside"))
    flow = Flow(
        "wide",
        {name: FlowNode("work") for name in names},
        declared=tuple(names),
        connections=tuple(connections),
        limits=FlowLimits(max_nodes=nodes),
    )
    return Library(flows={"wide": flow}, actions={"work": Action("mock", {"output": {}})})


def main(sizes: tuple[int, ...]) -> None:
    for nodes in sizes:
        script = Script(dict.fromkeys(wide_flow(nodes).flows["wide"].nodes, Answer({"n": 1}, takes_ms=5)))
        world = World(wide_flow(nodes), script=script)
        run = world.start("wide", {})
        began = time.perf_counter()
        world.run(most_steps=100 * nodes)
        took = time.perf_counter() - began
        row = world.store.row(run)
        assert row is not None
        assert row.status == "completed", row
        print(f"{nodes:>6} nodes, {WIDTH} wide: {took:.2f} s, {took / nodes * 1e6:.0f} us a node")


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
