"""Definitions: read, broken, mended, tried and deployed."""

import pytest

from tests.api.server import Running
from tests.browser.site import Site, ask, expect

TEXT = """workflows:
  letters:
    initial_node: write
    nodes:
      write: {}
      approve: {}
    transitions:
      - {from: write, to: approve}
"""


@pytest.fixture(scope="module", autouse=True)
def deployed(server: Running) -> None:
    ask(server, "POST", "/v1/definitions", {"files": [{"name": "letters.yaml", "text": TEXT}]})


async def test_a_broken_text_names_line_and_remedy_and_is_mended_tried_and_deployed(site: Site) -> None:
    page = await site.sign_in("/definitions")
    await page.get_by_role("table", name="Definitions").get_by_role("link", name="letters").click()
    await expect(page.get_by_role("heading", name="letters", level=1)).to_be_visible()
    await expect(page.get_by_role("region", name="Graph of letters")).to_be_visible()
    await page.get_by_role("tablist", name="Definition views").get_by_role("tab", name="Text").click()
    editor = page.get_by_role("textbox", name="Definition text")
    await expect(editor).to_contain_text("initial_node")
    broken = TEXT.replace("approve}", "aprove}").replace("approve: {}", "approve: {}\n      file: {}")
    broken += "      - {from: approve, to: file}\n"
    await editor.fill(broken)
    problem = page.get_by_role("list", name="Problems").get_by_role("listitem").filter(has_text="aprove")
    await expect(problem).to_contain_text("error line 9 workflows.letters.transitions[0].to: leads to 'aprove'")
    await expect(page.get_by_role("button", name="Deploy")).to_be_disabled()
    await problem.get_by_role("button", name="Write approve in line 9").click()
    await expect(page.get_by_role("status", name="Check")).to_contain_text("0 errors")
    await page.get_by_role("button", name="Simulate").click()
    await expect(page.get_by_role("status", name="Simulated")).to_contain_text("50 completed")
    await page.get_by_role("button", name="Deploy").click()
    dialog = page.get_by_role("dialog", name="Deploy")
    await expect(dialog.get_by_role("status", name="Open runs")).to_contain_text("No run is open")
    await expect(dialog.get_by_role("region", name="Difference in letters.yaml")).to_contain_text("file: {}")
    await dialog.get_by_role("button", name="Confirm").click()
    await expect(dialog).to_have_count(0)
    assert site.ask("GET", "/v1/workflows/letters")["version"] == 2
    await site.go("/definitions/letters?diff=1")
    await expect(page.get_by_role("region", name="Graph of letters")).to_contain_text("1 added")
    await page.get_by_role("tab", name="Text").click()
    await expect(page.get_by_role("region", name="Difference in letters.yaml")).to_contain_text("file: {}")
    await page.get_by_role("tab", name="Versions").click()
    await expect(page.get_by_role("table", name="Versions").get_by_role("link", name="Version 1")).to_be_visible()
    await page.get_by_role("combobox", name="Version").select_option("1")
    await expect(page).to_have_url(f"{site.server.url}/#/definitions/letters?tab=versions&version=1")


async def test_a_new_definition_is_written_and_deployed(site: Site) -> None:
    page = await site.sign_in("/definitions")
    await page.get_by_role("button", name="New definition").click()
    await expect(page.get_by_role("status", name="Check")).to_contain_text("0 errors")
    await page.get_by_role("textbox", name="File").fill("hello.yaml")
    await expect(page.get_by_role("region", name="Graph of hello")).to_be_visible()
    await page.get_by_role("button", name="Deploy").click()
    await page.get_by_role("dialog", name="Deploy").get_by_role("button", name="Confirm").click()
    await expect(page.get_by_role("heading", name="hello", level=1)).to_be_visible()
