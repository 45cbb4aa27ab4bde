"""The pictures of the documentation, taken by `make pictures`."""

import os
from pathlib import Path

import pytest

from tests.browser.site import Site, expect

DOCS = Path(__file__).parents[2] / "docs" / "images"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where pictures go. An ordinary run of the tests leaves those of the documentation alone."""
    return DOCS if os.environ.get("JETON_PICTURES") else tmp_path


async def test_a_run_that_waits(site: Site, folder: Path) -> None:
    (run,) = site.ask("GET", "/v1/runs?workflow=panel&status=waiting&limit=1")["runs"]
    page = await site.sign_in(f"/runs/{run['run_id']}?node=appeal", reduced_motion=True)
    await expect(page.get_by_role("region", name="Graph of panel")).to_be_visible()
    await expect(page.get_by_role("complementary", name="Explain")).to_contain_text("Appeal a?")
    await page.wait_for_load_state("networkidle")
    await page.screenshot(path=folder / "run.png")
    assert (folder / "run.png").stat().st_size > 10_000


async def test_the_list_of_runs(site: Site, folder: Path) -> None:
    page = await site.sign_in("/runs", theme="dark", reduced_motion=True)
    await expect(page.get_by_role("table", name="Runs").get_by_role("row").nth(3)).to_be_visible()
    await page.wait_for_load_state("networkidle")
    await page.screenshot(path=folder / "runs.png")
    assert (folder / "runs.png").stat().st_size > 10_000
