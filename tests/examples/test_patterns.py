"""Every workflow pattern of docs/patterns.md has a file that runs, and the page lists them all."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from jeton.cli.main import main
from jeton.testing import plan_from_seed, simulate
from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs" / "patterns.md").read_text()
FOLDER = ROOT / "examples" / "patterns"
FILES = sorted(FOLDER.glob("*.yaml"))
WARNED = {"22_recursion": "recursive_workflow"}  # only a condition ends a recursion, and `check` always says so


@dataclass(frozen=True)
class Case:
    """What a file is given, and what comes of it; `called` are the nodes of its calls, `cancelled` those of tokens."""

    output: object
    input: object = None
    signals: Mapping[str, object] | None = None
    called: str = ""
    cancelled: str = ""
    error: str | None = None


SEATS = {"minutes": [30, 90, 20]}
HELP = {"fire": True, "injured": 0}
CASES = {
    "01_sequence": Case({"boxes": 2, "parcel": "P-1"}, called="pack send"),
    "02_parallel_split": Case({"order": 7}, {"order": 7}, called="pack bill"),
    "03_synchronization": Case({"done": ["packed", "billed"]}, called="pack bill"),
    "04_exclusive_choice": Case({"checked": "by hand"}, {"amount": 250}),
    "05_simple_merge": Case({"checked": "by rule", "sent": True}, {"amount": 20}),
    "06_multi_choice": Case({"taken": True}, HELP, called="firefighters police"),
    "07_structured_synchronizing_merge": Case({"sent": ["firefighters", "police"]}, HELP),
    "08_multi_merge": Case({}, called="lecture practice grade grade"),
    "09_structured_discriminator": Case({"by": ["pulse"]}, called="pulse blood"),
    "10_arbitrary_cycles": Case(
        {"steps": ["review", "write", "review", "write", "drop"]}, {"drafted": True, "patience": 2}
    ),
    "11_implicit_termination": Case({"order": 7}, {"order": 7}, called="bill send"),
    "12_instances_without_synchronization": Case({"read": 2}, {"cars": ["B-1", "B-2"]}, called="fine fine"),
    "13_instances_known_at_design_time": Case({"signed": [0, 1, 2]}, called="sign sign sign"),
    "14_instances_known_at_run_time": Case({"checked": [5, 6, 7]}, {"lines": [5, 6, 7]}, called="check check check"),
    "15_instances_not_known_beforehand": Case({"heard": ["ada", "bob"]}, called="street street street hear hear"),
    "16_deferred_choice": Case({"heard": "withdrawn", "sent": False}, signals={"withdrawn": None}),
    "17_interleaved_parallel_routing": Case(
        {"done": [["eyes", "glasses"], ["blood"]]},
        {"lists": [["eyes", "glasses"], ["blood"]]},
        called="begin examine leave examine leave examine leave",
    ),
    "18_milestone": Case(
        {"changes": ["two boxes"]},
        {"wishes": [{"after_s": 600, "text": "two boxes"}, {"after_s": 5000, "text": "three boxes"}]},
        called="open wish change pack wish",
    ),
    "19_cancel_task": Case({"end": "revoked"}, signals={"revoke": None}, called="write", cancelled="write"),
    "20_cancel_case": Case(
        None, signals={"withdrawn": "too slow"}, called="assess", cancelled="assess", error="withdrawn"
    ),
    "21_structured_loop": Case({"clear": 3}, {"until": 3}),
    "22_recursion": Case({"value": 120}, {"n": 5}),
    "23_transient_trigger": Case({"heard": "in time"}, called="early in_time"),
    "24_persistent_trigger": Case({"paid": 250}, {"amount": 250}, called="pay"),
    "25_cancel_region": Case(
        {"ends": ["billed", "stopped"]}, signals={"stop": None}, called="label", cancelled="label pack"
    ),
    "26_cancel_instances": Case(
        {"end": "stopped"}, {"hours": [1, 2, 3]}, signals={"stop": None}, cancelled="ask ask ask"
    ),
    "27_complete_instances": Case(
        {"asked": [1, 2]}, {"hours": [1, 9, 2]}, called="tell tell stop", cancelled="ask stop"
    ),
    "28_blocking_discriminator": Case(
        {"story": ["left 1 goes on", "right 1 is ignored", "left 2 goes on", "right 2 is ignored"]},
        called="road road road road pass pass",
    ),
    "29_cancelling_discriminator": Case({"by": ["north"]}, called="north south", cancelled="south"),
    "30_structured_partial_join": Case({"by": ["sales", "press"]}),
    "31_blocking_partial_join": Case({"passed": [[1, 2], [3, 5]]}, called="road road road road road road"),
    "32_cancelling_partial_join": Case({"by": ["sales", "board"]}, cancelled="press"),
    "33_generalized_and_join": Case(
        {"made": [[10, 100], [20, 200]]}, {"wheels": [10, 20], "frames": [100, 200]}, called="wheel wheel frame frame"
    ),
    "34_static_partial_join": Case({"minutes": [30, 20]}, SEATS),
    "35_cancelling_partial_join_of_instances": Case({"minutes": [30, 20]}, SEATS, cancelled="try"),
    "36_dynamic_partial_join": Case(
        {"gifts": [10, 20, 30]},
        {"gifts": [30, 10, 20, 40], "wanted": 50},
        called="give give give",
        cancelled="ask give",
    ),
    "37_acyclic_synchronizing_merge": Case(
        {"booked": ["flight", "car"]}, {"friends": True, "car": True}, called="friends"
    ),
    "38_general_synchronizing_merge": Case(
        {"chapters": ["one", "two"]},
        {"chapters": [{"name": "one", "drafts": 1}, {"name": "two", "drafts": 3}, {"name": "three", "drafts": 9}]},
    ),
    "39_critical_section": Case(
        {"by": ["ada", "bob"]}, {"people": ["ada", "bob"]}, called="begin open count leave open count leave"
    ),
    "40_interleaved_routing": Case(
        {"tested": ["brake", "light"]}, {"parts": ["brake", "light"]}, called="test note test note"
    ),
    "41_thread_merge": Case({"sheets": [0, 1, 2], "sold": True}, {"sheets": 3}, called="print print print"),
    "42_thread_split": Case({"ordered": 3}, called="print print print fold fold fold"),
    "43_explicit_termination": Case({"looked_for": "key"}, {"key": "key"}, called="house garden", cancelled="garden"),
}


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_the_file_does_what_its_pattern_says(file: Path) -> None:
    case = CASES[file.stem]
    run = simulate(file, case.input, signals=case.signals)
    nodes = {str(event["token"]): str(event["node"]) for event in run.events if event["type"] == "token.created"}
    cancelled = [nodes[str(event["token"])] for event in run.events if event["type"] == "token.cancelled"]
    assert run.output == case.output, run
    assert (run.error.type if run.error else None) == case.error
    assert " ".join(run.called) == case.called
    assert " ".join(sorted(cancelled)) == case.cancelled


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_no_fault_changes_the_output(file: Path) -> None:
    case = CASES[file.stem]
    for seed in range(3):
        run = simulate(file, case.input, signals=case.signals, seed=seed, plan=plan_from_seed(seed))
        assert run.output == case.output, run


@pytest.mark.parametrize("file", [file for file in FILES if "kind: signal" in file.read_text()], ids=lambda f: f.stem)
def test_simulations_send_the_signals_that_the_file_sends(file: Path) -> None:
    case = CASES[file.stem]
    words = ["simulate", str(file), "--input", json.dumps(case.input or {}), "--seeds", "8", "--faults", "--json"]
    report = json.loads(CliRunner().invoke(main, words).output)
    assert (report["ok"], [each["output"] for each in report["outcomes"]]) == (True, [case.output])


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_the_file_has_no_problems(file: Path) -> None:
    output = CliRunner().invoke(main, ["check", str(file)]).output
    if (warning := WARNED.get(file.stem)) is not None:
        assert (output.count(" warning "), output.splitlines()[-1]) == (1, "1 warning")
        assert f" warning {warning} " in output
    else:
        assert output == "no problems\n"


def test_every_pattern_has_one_row_with_its_file() -> None:
    rows = re.findall(r"^\| (\d+) \| \[[^\]]+\]\(\.\./examples/patterns/((\d+)_\w+\.yaml)\) \|", PAGE, re.MULTILINE)
    assert [int(number) for number, *_ in rows] == list(range(1, 44))
    assert [name for _, name, _ in rows] == [file.name for file in FILES]
    assert all(int(number) == int(of_file) for number, _, of_file in rows)


def test_the_page_counts_its_verdicts() -> None:
    verdicts = re.findall(r"^\| \d+ \|.*\| (yes|by hand|in part) \|$", PAGE, re.MULTILINE)
    said = re.search(r"(\d+) of them directly, (\d+) by hand and (\d+) in part", PAGE)
    assert said is not None
    assert [int(count) for count in said.groups()] == [verdicts.count(each) for each in ("yes", "by hand", "in part")]
    assert len(verdicts) == len(FILES)
