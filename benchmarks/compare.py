"""Everything in one run: the ceiling, jeton, and whatever peers are installed, round after round; medians of all.

`ceiling.py` is the least a durable engine in one process can do per node; a ratio to it, measured in the same minutes
on the same disk, says more than a rate. It lies outside the project: `--bench` says where.

usage: python -m benchmarks.compare [--rounds N] [--bench DIR] [--write]
"""

import argparse
import os
import subprocess
import sys
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.report import Claim, chart, table

ROOT = Path(__file__).parents[1]
BENCH = ROOT.parent / "shared" / "bench"
PEERS = {"langgraph_peer:sqlite": "langgraph", "dbos_peer:sqlite": "dbos", "burr_peer": "burr"}
Rounds = dict[str, list[float]]

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


def ours(folder: str) -> dict[str, float]:
    """Every figure of `benchmarks.workloads`, from a fresh process."""
    found: dict[str, float] = {}
    for line in _lines([sys.executable, "-m", "benchmarks.workloads", "--folder", folder]):
        found |= msgspec.json.decode(line, type=dict[str, float])
    return found


def peer(bench: Path, name: str, folder: str) -> dict[str, float]:
    """The same workloads on another engine, driven by the harness that lies beside the ceiling."""
    environment = {**os.environ, "BENCH_OUT": folder, "BENCH_DATA": folder}
    words = [sys.executable, str(bench / "bench.py"), name]
    subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    result = max(Path(folder).glob("*.json"), key=lambda file: file.stat().st_mtime)
    found = msgspec.json.decode(result.read_bytes(), type=dict[str, object])
    rates: dict[str, float] = {}
    for workload, key, figure in (
        ("w1", "p50_ms", "w1_p50_ms"),
        ("w1", "runs_per_s", "w1_runs_per_s"),
        ("w2", "nodes_per_s", "w2_nodes_per_s"),
        ("w4", "iters_per_s", "w4_iterations_per_s"),
        ("w5", "starts_per_s", "w5_starts_per_s"),
    ):
        said = found.get(workload)
        value = said.get(key) if isinstance(said, dict) else None
        if isinstance(value, int | float):
            rates[f"{name.partition('_')[0]} {figure}"] = value
    return rates


def _lines(words: list[str]) -> list[str]:
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return done.stdout.splitlines()


def measure(rounds: int, bench: Path) -> dict[str, float]:
    """Medians over the rounds. Each round has everything in it, so that a slow minute is slow for all."""
    seen: Rounds = defaultdict(list)
    installed = [name for name, module in PEERS.items() if find_spec(module) is not None]
    for number in range(rounds):
        with TemporaryDirectory(dir=os.environ.get("BENCH_DATA")) as folder:
            found = ours(folder)
            if (bench / "ceiling.py").exists():
                found |= ceiling(bench, folder)
                for name in installed:
                    found |= peer(bench, name, folder)
        for figure, value in found.items():
            seen[figure].append(value)
        sys.stderr.write(f"round {number + 1} of {rounds}\n")
    return {figure: median(values) for figure, values in seen.items()}


def main() -> None:
    """Print the table; with `--write`, put it and a chart into the docs."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--bench", type=Path, default=BENCH, help="the folder of ceiling.py and bench.py")
    asked.add_argument("--write", action="store_true", help="into docs/benchmarks.md and docs/benchmarks.svg")
    words = asked.parse_args()
    found = measure(words.rounds, words.bench)
    text = table(found, CLAIMS)
    sys.stdout.write(text)
    if words.write:
        page = ROOT / "docs" / "benchmarks.md"
        before, mark, _ = page.read_text().partition("<!-- measured -->\n")
        page.write_text(before + mark + "\n" + text)
        (ROOT / "docs" / "benchmarks.svg").write_text(chart(found, CLAIMS))


if __name__ == "__main__":
    main()
