"""The view of runs: found, followed, started, acted on."""

import pytest

from tests.browser.site import Site, expect


async def test_runs_are_found_by_query_status_and_workflow(site: Site) -> None:
    page = await site.sign_in()
    rows = page.get_by_role("table", name="Runs").get_by_role("row")
    status = page.get_by_role("group", name="Status")
    await status.get_by_role("button", name="failed").click()
    await expect(status.get_by_role("button", name="failed")).to_have_attribute("aria-pressed", "true")
    await expect(rows.nth(1)).to_contain_text("mock_failure at charge")
    await expect(rows.filter(has_text="completed")).to_have_count(0)
    await status.get_by_role("button", name="failed").click()
    await page.get_by_role("combobox", name="Workflow").select_option("panel")
    await expect(rows.filter(has_text="an answer to “Appeal a?”").first).to_be_visible()
    await page.get_by_role("combobox", name="Workflow").select_option("")
    search = page.get_by_role("searchbox", name="Search runs")
    await search.fill("status:canc")
    await search.press("ArrowDown")
    await search.press("Enter")
    await expect(rows.nth(1)).to_contain_text("not needed")
    assert "q=status%3Acancelled" in await page.evaluate("location.hash")
    await page.reload()
    await expect(search).to_have_value("status:cancelled")
    await search.fill("statsu:failed")
    await expect(page.get_by_role("alert")).to_contain_text("status")
    await page.get_by_role("list", name="Saved queries").get_by_role("link", name="stuck").click()
    await expect(search).to_have_value("status:waiting")


async def test_a_run_is_started_by_a_form_and_new_ones_wait(site: Site) -> None:
    page = await site.sign_in("/runs?workflow=double")
    rows = page.get_by_role("table", name="Runs").get_by_role("row")
    await expect(rows.nth(1)).to_be_visible()
    before = await rows.count()
    await page.get_by_role("button", name="Start run").click()
    dialog = page.get_by_role("dialog", name="Start run")
    await dialog.get_by_role("combobox", name="Workflow").select_option("double")
    await dialog.get_by_role("button", name="Start").click()
    await expect(dialog.get_by_role("alert").first).to_be_visible()  # the number is missing
    await dialog.get_by_role("spinbutton", name="Number").fill("4")
    await dialog.get_by_role("button", name="Edit as JSON").click()
    text = dialog.get_by_role("textbox", name="Input (JSON)")
    await expect(text).to_have_value('{\n  "n": 4\n}')
    await text.fill('{"n": 5}')
    await dialog.get_by_role("button", name="Start").click()
    await expect(dialog).to_have_count(0)
    await expect(rows).to_have_count(before + 1)  # what was started here does not wait
    site.ask("POST", "/v1/runs", {"workflow": "double", "input": {"n": 6}})
    await page.get_by_role("button", name="1 new").click()
    await expect(rows).to_have_count(before + 2)


async def test_selected_runs_are_cancelled_after_one_more_press_or_by_the_command(site: Site) -> None:
    runs = [site.ask("POST", "/v1/runs", {"workflow": "hold"})["run_id"] for _ in range(2)]
    page = await site.sign_in("/runs?workflow=hold")
    for run in runs:
        await page.get_by_role("checkbox", name=f"Select run {run}").check()
    selection = page.get_by_role("region", name="Selection")
    await expect(selection).to_contain_text("2 runs selected")
    await selection.get_by_role("button", name="Cancel").click()
    dialog = page.get_by_role("dialog", name="Cancel")
    await dialog.get_by_role("textbox", name="Reason").fill("it's late")
    await dialog.get_by_role("button", name="Copy command").click()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert f"jeton cancel {runs[1]} --reason 'it'\\''s late' --url {site.server.url}" in copied.splitlines()
    await dialog.get_by_role("button", name="Confirm").click()
    await expect(dialog).to_have_count(0)
    for run in runs:
        await expect(page.get_by_role("row").filter(has_text=run)).to_contain_text("cancelled")


async def test_a_query_is_saved_for_everybody(site: Site) -> None:
    page = await site.sign_in("/runs?q=status%3Afailed")
    await page.get_by_role("button", name="Save query").click()
    dialog = page.get_by_role("dialog", name="Save query")
    await dialog.get_by_role("textbox", name="Name").fill("today's failures")
    await dialog.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("list", name="Saved queries")).to_contain_text("today's failures")
    assert {"name": "today's failures", "q": "status:failed"} in site.ask("GET", "/v1/queries")["queries"]
    await page.get_by_role("button", name="Remove query today's failures").click()
    await expect(page.get_by_role("list", name="Saved queries")).not_to_contain_text("today's failures")


@pytest.mark.parametrize(("width", "theme"), [(360, "dark"), (1280, "light")])
async def test_nothing_is_cut_off_and_nothing_is_out_of_reach(site: Site, width: int, theme: str) -> None:
    page = await site.sign_in(width=width, theme=theme)
    await expect(page.get_by_role("table", name="Runs")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await site.accessibility() == []


async def test_rows_are_walked_by_keys(site: Site) -> None:
    page = await site.sign_in("/runs?workflow=pay")
    await expect(page.get_by_role("table", name="Runs").get_by_role("link").first).to_be_visible()
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await expect(page.get_by_role("table", name="Runs").get_by_role("link").nth(1)).to_be_focused()
    await page.keyboard.press("x")
    await expect(page.get_by_role("region", name="Selection")).to_contain_text("1 run selected")
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox", name="Search runs")).to_be_focused()
