"""The examples of the page for Step Functions and Airflow run, and what its tables call an expression is one."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from jeton.cli.main import main
from jeton.testing import simulate
from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs" / "coming-from" / "step-functions-and-airflow.md").read_text()
EXAMPLE = re.compile(
    r"```yaml\n(.*?)```\n\nWith the input `(.*?)`(?: and the signals `(.*?)`)? the output is:\n\n```json\n(.*?)```",
    re.DOTALL,
)
EXAMPLES = EXAMPLE.findall(PAGE)
STATES = [
    "Pass",
    "Task",
    "Choice",
    "Wait",
    "Parallel",
    "Map",
    "Succeed",
    "Fail",
    "Retry",
    "Catch",
    "TimeoutSeconds",
    "HeartbeatSeconds",
    "MaxConcurrency",
]
TRIGGER_RULES = [
    "all_success",
    "all_failed",
    "all_done",
    "all_done_min_one_success",
    "all_skipped",
    "one_failed",
    "one_success",
    "one_done",
    "none_failed",
    "none_failed_min_one_success",
    "none_skipped",
    "always",
]
TEN = re.compile(r"\| `States\.ArrayPartition` \| `(.*?)` \|")


@pytest.mark.parametrize(("library", "given", "signals", "output"), EXAMPLES)
def test_an_example_gives_what_the_page_says(
    library: str, given: str, signals: str, output: str, tmp_path: Path
) -> None:
    file = tmp_path / "library.yaml"
    file.write_text(library)
    assert CliRunner().invoke(main, ["check", str(file)]).output == "no problems\n"
    run = simulate(file, json.loads(given), signals=json.loads(signals or "{}"))
    assert run.completed() == json.loads(output)


def test_every_block_is_an_example() -> None:
    assert len(EXAMPLES) == PAGE.count("```yaml\n")


@pytest.mark.parametrize("construct", [*STATES, *TRIGGER_RULES])
def test_a_construct_has_a_row(construct: str) -> None:
    assert re.search(rf"^\|[^|]*`{construct}`", PAGE, re.MULTILINE), f"no row begins with {construct}"


def test_the_expression_that_cuts_a_list() -> None:
    found = TEN.search(PAGE)
    assert found is not None
    parts = re.sub(r"\bl\b", "input.items", found[1])
    cut = {"workflows": {"cut": {"initial_node": "cut", "nodes": {"cut": {"output_mapping": {"output.parts": parts}}}}}}
    given = list(range(25))
    assert simulate(cut, {"items": given}).completed() == {"parts": [given[:10], given[10:20], given[20:]]}
