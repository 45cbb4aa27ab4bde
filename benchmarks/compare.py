"""Everything in one run: the ceiling, jeton, and other durable engines, round after round; medians of all.

`ceiling.py` is the least a durable engine in one process can do per node; a ratio to it, measured in the same minutes
on the same disk, says more than a rate. It lies outside the project, with the harness that drives the other engines:
`--bench` says where, and `--peers` which Python has those engines installed.

usage: python -m benchmarks.compare [--rounds N] [--bench DIR] [--peers PYTHON] [--write]
"""

import argparse
import os
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from subprocess import run
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.peers import Peers, beside_peers, installed, measure_peer
from benchmarks.report import DOCS, ROOT, Claim, chart, table, write_section

BENCH = ROOT.parent / "shared" / "bench"

CLAIMS = (
    Claim("W2, ten-node chains", "w2_nodes_per_s", "ceiling_w2_nodes_per_s", 0.25),
    Claim("W1, 100 in flight", "w1_runs_per_s", "ceiling_w1_runs_per_s", 0.15),
    Claim("W1 alone, p50", "w1_p50_ms", "ceiling_w1_ms", 2.0, most=True),
    Claim("W3, 1,000 branches", "w3_1000_branches_per_s", "ceiling_w2_nodes_per_s", 5_000 / 30_000),
    Claim("W3, 10,000 against 1,000", "w3_10000_branches_per_s", "w3_1000_branches_per_s", 1 / 1.3),
    Claim("W3, 100,000 against 1,000", "w3_100000_branches_per_s", "w3_1000_branches_per_s", 1 / 1.3),
    Claim("W4, a loop of 1,000", "w4_iterations_per_s", "ceiling_w4_nodes_per_s", 0.4),
    Claim("W4, last tenth over first", "w4_last_over_first", None, 1.15, most=True),
    Claim("W5, starts of runs that wait", "w5_starts_per_s", "ceiling_w2_nodes_per_s", 5_000 / 30_000),
    Claim("W5, KiB a run that waits", "w5_kib_per_run", None, 1.0, most=True),
)


def ceiling(bench: Path, folder: str) -> dict[str, float]:
    """What the bare pipeline does, in the words of our own figures."""
    lines = _lines([sys.executable, str(bench / "ceiling.py"), folder])
    chains, many, alone, loop = (msgspec.json.decode(line, type=dict[str, float | None]) for line in lines)
    return {
        "ceiling_w2_nodes_per_s": chains["nodes_per_s"] or 0,
        "ceiling_w1_runs_per_s": many["nodes_per_s"] or 0,
        "ceiling_w1_ms": alone["ms_per_run_if_alone"] or 0,
        "ceiling_w4_nodes_per_s": loop["nodes_per_s"] or 0,
    }


def ours(folder: str, names: list[str]) -> dict[str, float]:
    """Every figure of `benchmarks.workloads`, from a fresh process."""
    found: dict[str, float] = {}
    for line in _lines([sys.executable, "-m", "benchmarks.workloads", "--folder", folder, *names]):
        found |= msgspec.json.decode(line, type=dict[str, float])
    return found


def _lines(words: list[str]) -> list[str]:
    done = run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return done.stdout.splitlines()


def measure(rounds: int, bench: Path, python: str, names: list[str]) -> tuple[dict[str, float], Peers]:
    """Medians over the rounds. Each round has everything in it, so that a slow minute is slow for all."""
    seen: dict[str, list[float]] = defaultdict(list)
    peers: Peers = {name: [] for name in installed(python)} if (bench / "bench.py").exists() else {}
    for number in range(rounds):
        with TemporaryDirectory(dir=os.environ.get("BENCH_DATA")) as folder:
            found = ours(folder, names)
            if (bench / "ceiling.py").exists():
                found |= ceiling(bench, folder)
        for figure, value in found.items():
            seen[figure].append(value)
        for name, rounds_of_peer in peers.items():
            rounds_of_peer.append(measure_peer(python, bench, name))
        sys.stderr.write(f"round {number + 1} of {rounds}\n")
    return {figure: median(values) for figure, values in seen.items()}, peers


def main() -> None:
    """Print the tables; with `--write`, put them and a chart into the docs."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("names", nargs="*", metavar="NAME", help="of our own workloads: all, if none is named")
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--bench", type=Path, default=BENCH, help="the folder of ceiling.py and bench.py")
    asked.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="a Python with the other engines")
    asked.add_argument("--write", action="store_true", help="into docs/benchmarks.md and docs/benchmarks.svg")
    words = asked.parse_args()
    if words.write and words.names:
        asked.error("the docs have every workload: name none of them with --write")
    found, peers = measure(words.rounds, words.bench, words.peers, words.names)
    text, beside = table(found, CLAIMS), beside_peers(found, peers)
    sys.stdout.write(f"{text}\n{beside}")
    if words.write:
        write_section("measured", text)
        (DOCS / "benchmarks.svg").write_text(chart(found, CLAIMS))
        if peers:
            write_section("peers", beside)


if __name__ == "__main__":
    main()
