"""Other engines beside ours. The harness here is a stand-in that says what each test wants to hear."""

import sys
from pathlib import Path

import pytest

from benchmarks import peers
from benchmarks.compare import CLAIMS
from benchmarks.peers import FIGURES, Round, beside_peers, installed, measure_peer, median_of

HARNESS = """
import argparse, json, os, pathlib
asked = argparse.ArgumentParser()
asked.add_argument("peer")
for name in ("--only", "--scale", "--budget", "--out"):
    asked.add_argument(name)
words = asked.parse_args()
said = {
    "w1": {"p50_ms": 4.5, "runs_per_s": 150},
    "w2": {"error": "TimeoutError()"},
    "w3": {"branches_per_s": 90, "b1000": {"skipped": "at 90/s it would take 11 s"}},
    "w4": {"na": "no loops"},
    "w5": {"starts_per_s": float(os.environ["BENCH_PARK_N"])},
}
meta = {"version": "other 1.0", "durability": "full"}
pathlib.Path(words.out, "other.json").write_text(json.dumps({"meta": meta, words.only: said[words.only]}))
"""


def test_a_workload_that_fails_does_not_stop_the_rest(tmp_path: Path) -> None:
    (tmp_path / "bench.py").write_text(HARNESS)
    assert measure_peer(sys.executable, tmp_path, "burr_peer") == Round(
        {
            "w1_p50_ms": 4.5,
            "w1_runs_per_s": 150.0,
            "w2_nodes_per_s": "TimeoutError()",
            "w3_1000_branches_per_s": "at 90/s it would take 11 s",
            "w4_iterations_per_s": "no loops",
            "w5_starts_per_s": float(peers.PARKED),
        },
        "other 1.0; full",
    )


def test_one_that_never_ends_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bench.py").write_text("import signal; signal.pause()")
    monkeypatch.setattr(peers, "LONGEST_S", 0.2)
    found = measure_peer(sys.executable, tmp_path, "burr_peer")
    assert set(found.figures.values()) == {"took longer than 0.2 s"}


def test_a_harness_that_falls_over_is_shown_with_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "bench.py").write_text("raise SystemExit('no such engine')")
    found = measure_peer(sys.executable, tmp_path, "burr_peer")
    assert set(found.figures.values()) == {"no such engine"}
    assert found.about == "burr_peer"


def test_only_what_that_python_has_is_measured(tmp_path: Path) -> None:
    assert installed(sys.executable) == []
    (tmp_path / "burr.py").touch()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    assert installed(str(python)) == ["burr_peer"]


def test_the_median_is_of_the_rounds_that_had_a_number() -> None:
    def rounds(*values: float | str) -> list[Round]:
        return [Round({"f": value}, "") for value in values]

    assert median_of(rounds(1.0, 5.0, 3.0), "f") == 3.0
    assert median_of(rounds("too long", 4.0, 2.0), "f") == 3.0
    assert median_of(rounds("too long", "broken"), "f") == "broken"


def test_ahead_is_less_for_a_time_and_more_for_a_rate() -> None:
    ours = {figure.ours: 100.0 for figure in FIGURES}
    slow = Round({figure.ours: 50.0 for figure in FIGURES}, "burr 1; full")
    part = Round({figure.ours: "too | long" for figure in FIGURES}, "dbos 2; full")
    lines = beside_peers(ours, {"burr_peer": [slow], "dbos_peer:sqlite": [part]}).splitlines()
    assert lines[0] == "| | jeton | burr | ratio | ahead | dbos | ratio | ahead |"
    assert lines[2] == "| W1 alone, p50, ms | 100 | 50.00 | 2.00 | **no** | too / long |  |  |"
    assert lines[3] == "| W1, 100 in flight, runs/s | 100 | 50.00 | 2.00 | yes | too / long |  |  |"
    assert len(lines) == 2 + len(FIGURES) + 3
    assert lines[-2:] == ["- burr 1; full", "- dbos 2; full"]


def test_what_is_compared_is_what_we_claim_something_about() -> None:
    assert {figure.ours for figure in FIGURES} <= {claim.figure for claim in CLAIMS}
