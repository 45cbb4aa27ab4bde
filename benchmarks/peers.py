"""Other durable engines, on the same workloads: driven by the harness beside the ceiling, in their own environment.

Each workload has a process of its own. One that fails or takes too long is shown as such, and the others go on.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.report import Claim, number
from jeton.model.json import Json, JsonObject

BUDGET_S = 3  # a timed phase; the harness gives some of them a few times as much
LONGEST_S = 120  # Restate takes 75 s to settle what it parked
PARKED = 500  # of W5's ten thousand: the rate is what counts, and some manage sixty a second
MODULES = {
    "langgraph_peer:sqlite": "langgraph",
    "dbos_peer:sqlite": "dbos",
    "burr_peer": "burr",
    "restate_peer": "restate",
}
SERVERS = {"restate_peer": "RESTATE_SERVER"}  # what says where its server is


class Figure(msgspec.Struct, frozen=True):
    """What a workload is measured by: its name in our figures, and where the harness says it."""

    title: str
    ours: str
    workload: str
    at: tuple[str, ...]
    most: bool = False


FIGURES = (
    Figure("W1 alone, p50, ms", "w1_p50_ms", "w1", ("p50_ms",), most=True),
    Figure("W1, 100 in flight, runs/s", "w1_runs_per_s", "w1", ("runs_per_s",)),
    Figure("W2, ten-node chains, nodes/s", "w2_nodes_per_s", "w2", ("nodes_per_s",)),
    Figure("W3, 1,000 branches, branches/s", "w3_1000_branches_per_s", "w3", ("b1000", "branches_per_s")),
    Figure("W4, a loop of 1,000, iterations/s", "w4_iterations_per_s", "w4", ("iters_per_s",)),
    Figure("W5, runs that wait, starts/s", "w5_starts_per_s", "w5", ("starts_per_s",)),
)


class Round(msgspec.Struct, frozen=True):
    """What one round found of an engine: for each figure a number, or why there is none; and what it is."""

    figures: dict[str, float | str]
    about: str


Peers = dict[str, list[Round]]
"""Rounds by engine."""


def installed(python: str) -> list[str]:
    """The engines that this Python can import, and whose server is known if they need one."""
    modules = ", ".join(repr(module) for module in MODULES.values())
    code = f"from importlib.util import find_spec; print(*[name for name in ({modules},) if find_spec(name)])"
    there = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    known = [name for name in MODULES if name not in SERVERS or SERVERS[name] in os.environ]
    return [name for name in known if MODULES[name] in there]


def measure_peer(python: str, bench: Path, name: str, scale: float = 1.0, budget_s: float = BUDGET_S) -> Round:
    """Every workload once."""
    said = {
        workload: _said(python, bench, name, workload, scale, budget_s)
        for workload in dict.fromkeys(figure.workload for figure in FIGURES)
    }
    figures = {figure.ours: _found(said[figure.workload].get(figure.workload), figure.at) for figure in FIGURES}
    about = next((meta for answer in said.values() if isinstance(meta := answer.get("meta"), dict)), {"version": name})
    return Round(figures, "; ".join(str(about[key]) for key in ("version", "durability") if key in about))


def _said(python: str, bench: Path, name: str, workload: str, scale: float, budget_s: float) -> JsonObject:
    """What the harness writes down about one workload."""
    words = [python, str(bench / "bench.py"), name, "--only", workload, "--scale", str(scale)]
    with TemporaryDirectory(dir=os.environ.get("BENCH_DATA")) as folder:
        environment = {**os.environ, "BENCH_DATA": folder, "BENCH_PARK_N": str(PARKED)}
        words += ["--budget", str(budget_s), "--out", folder]
        try:
            done = subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True, timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            return {workload: {"error": f"took longer than {LONGEST_S} s"}}
        for file in Path(folder).glob("*.json"):
            return msgspec.json.decode(file.read_bytes(), type=JsonObject)
        return {workload: {"error": (done.stderr.splitlines() or ["said nothing"])[-1]}}


def _found(said: Json, at: Sequence[str]) -> float | str:
    """The number at that place, or why there is none."""
    for key in at:
        if not isinstance(said, dict):
            break
        for trouble in ("error", "skipped", "na"):
            if trouble in said:
                return str(said[trouble])
        said = said.get(key)
    return said if isinstance(said, int | float) else "was not measured"


def median_of(rounds: Sequence[Round], figure: str) -> float | str:
    """Of the rounds in which there was a number; else what the last said instead."""
    values = [value for each in rounds if not isinstance(value := each.figures[figure], str)]
    return median(values) if values else rounds[-1].figures[figure]


def claim(figure: Figure, peer: str) -> Claim:
    """That jeton is ahead."""
    return Claim(figure.title, figure.ours, f"{peer} {figure.ours}", 1.0, most=figure.most)


def beside_peers(found: Mapping[str, float], peers: Peers) -> str:
    """Markdown: for each engine its figure, ours over it, and whether we are ahead."""
    if not peers:
        return "No other engine is installed.\n"
    names = {peer: MODULES[peer] for peer in peers}
    lines = [
        f"| | jeton | {' | '.join(f'{name} | ratio | ahead' for name in names.values())} |",
        f"| --- | ---: |{' ---: | ---: | --- |' * len(names)}",
    ]
    for figure in FIGURES:
        if figure.ours in found:
            cells = [cell for peer, rounds in peers.items() for cell in _cells(figure, found, peer, rounds)]
            lines.append(f"| {figure.title} | {number(found[figure.ours])} | {' | '.join(cells)} |")
    lines += ["", *(f"- {rounds[-1].about}" for rounds in peers.values() if rounds)]
    return "\n".join(lines) + "\n"


def _cells(figure: Figure, found: Mapping[str, float], peer: str, rounds: Sequence[Round]) -> tuple[str, str, str]:
    value = median_of(rounds, figure.ours)
    if isinstance(value, str):
        return value.replace("|", "/").replace("\n", " ")[:80], "", ""
    ahead = claim(figure, peer)
    ratio = ahead.ratio({**found, f"{peer} {figure.ours}": value})
    if ratio is None:
        return number(value), "", ""
    return number(value), f"{ratio:.2f}", "yes" if ahead.holds(ratio) else "**no**"
