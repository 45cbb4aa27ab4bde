"""One run on the page: its graph, why it did what it did, and the run at any of its entries."""

import re
from typing import Any

import pytest
from playwright.async_api import Page

from tests.browser.site import Site, expect

pytestmark = pytest.mark.asyncio


def started(site: Site, workflow: str, given: Any, **more: Any) -> str:
    """A new run of a workflow, after its end or its first wait."""
    record = site.ask("POST", "/v1/runs?wait_ms=300", {"workflow": workflow, "input": given, **more})
    return str(record["run_id"])


def panel(site: Site) -> str:
    """A run that waits at a gate."""
    return started(site, "panel", {"judges": ["ada", "ben", "cleo"]})


def last_entry(site: Site, run: str) -> int:
    return int(site.ask("GET", f"/v1/runs/{run}/graph")["entry"])


async def at_entry(page: Page, entry: int, last: int) -> None:
    await expect(page.get_by_role("slider", name="Journal entry")).to_have_value(str(entry))
    await expect(page.get_by_role("status", name="Time travel")).to_have_text(f"entry {entry} of {last}")


async def test_the_graph_says_why_and_what_it_waits_for(site: Site) -> None:
    run = panel(site)
    page = await site.sign_in(f"/runs/{run}")
    await expect(page.get_by_role("heading", level=1, name=f"Run {run}")).to_be_visible()
    await expect(page.get_by_role("status", name="Run status")).to_contain_text("waiting")
    await expect(page.get_by_role("status", name="Run status")).to_contain_text('an answer to "Appeal a?"')
    graph = page.get_by_role("region", name="Graph of panel")
    await expect(graph.get_by_role("button", name="Node appeal, gate, 1 waiting")).to_be_visible()
    await expect(graph.get_by_role("button", name="Node judge, task, 2 done · 1 stopped")).to_be_visible()
    await expect(graph.get_by_role("button", name="Node done, pass, idle")).to_be_visible()
    await expect(graph.get_by_role("img", name="Group judges: 2 arrived, 0 live, 0 lost of 3")).to_be_visible()
    explain = page.get_by_role("complementary", name="Explain")
    waits = explain.get_by_role("list", name="Waiting for").get_by_role("listitem")
    await expect(waits).to_contain_text('an answer to "Appeal a?"')
    await expect(explain.get_by_role("list", name="Stopped")).to_contain_text("the fan-in at 'tally' opened")
    # why it is not done: the transition that was not looked at
    await graph.get_by_role("button", name="Transition tally to done").click()
    await expect(explain.get_by_role("heading", name="Transition tally to done")).to_be_visible()
    considered = explain.get_by_role("list", name="Considered").get_by_role("listitem")
    await expect(considered.filter(has_text="→ done: not evaluated, a higher priority matched")).to_be_visible()
    await expect(considered.filter(has_text='→ appeal: matched (state.verdict = "reject")')).to_be_visible()
    # the address restores the choice
    await expect(page).to_have_url(re.compile(r"transition=3"))
    await page.reload()
    await expect(explain.get_by_role("heading", name="Transition tally to done")).to_be_visible()
    # a fan-out opens into its slots
    await graph.get_by_role("button", name="Open group judges").click()
    await expect(explain.get_by_role("heading", name="Group judges")).to_be_visible()
    await explain.get_by_role("spinbutton", name="Slot").fill("1")
    await expect(explain.get_by_role("list", name="Path of the slot")).to_contain_text("judge")


async def test_the_graph_is_walked_by_keyboard_and_found_by_name(site: Site) -> None:
    run = panel(site)
    page = await site.sign_in(f"/runs/{run}")
    graph = page.get_by_role("region", name="Graph of panel")
    await graph.get_by_role("button", name=re.compile("^Node prepare,")).focus()
    for name in ("judge", "tally", "appeal", "done"):
        await page.keyboard.press("ArrowDown")
        await expect(graph.get_by_role("button", name=re.compile(f"^Node {name},"))).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await expect(page).to_have_url(re.compile(r"node=(appeal|tally)"))
    await graph.get_by_role("searchbox", name="Find node").fill("prep")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(r"node=prepare"))
    explain = page.get_by_role("complementary", name="Explain")
    await expect(explain.get_by_role("heading", name="Node prepare")).to_be_visible()
    for name in ("Zoom in", "Zoom out", "Fit graph"):
        await graph.get_by_role("button", name=name).click()
    await page.keyboard.press("e")
    await expect(page.get_by_role("tab", name="Explain")).to_have_attribute("aria-selected", "true")


async def test_a_run_is_looked_at_at_any_entry(site: Site) -> None:
    run = panel(site)
    last = last_entry(site, run)
    page = await site.sign_in(f"/runs/{run}")
    graph = page.get_by_role("region", name="Graph of panel")
    slider = page.get_by_role("slider", name="Journal entry")
    await expect(page.get_by_role("status", name="Time travel")).to_have_text("live")
    await expect(slider).to_have_value(str(last))
    await page.get_by_role("button", name="First entry").click()
    await at_entry(page, 0, last)
    await expect(graph.get_by_role("button", name="Node judge, task, 3 active")).to_be_visible()
    await expect(graph.get_by_role("button", name="Node appeal, gate, idle")).to_be_visible()
    await expect(graph.get_by_role("img", name="Group judges: 0 arrived, 3 live, 0 lost of 3")).to_be_visible()
    await page.get_by_role("button", name="Next entry").click()
    await at_entry(page, 1, last)
    await page.keyboard.press("[")
    await at_entry(page, 0, last)
    await expect(page).to_have_url(re.compile(r"at=0"))
    await page.reload()
    await at_entry(page, 0, last)
    await slider.press("ArrowRight")
    await at_entry(page, 1, last)
    await page.keyboard.press(".")
    await expect(page.get_by_role("status", name="Time travel")).to_have_text("live")
    await site.go(f"/runs/{run}?tab=context&at=0")
    tree = page.get_by_role("tree", name="Context")
    await expect(tree).to_contain_text('verdict: "reject"')
    await page.get_by_role("checkbox", name="Show changes").check()
    await expect(page.get_by_role("region", name="Changes in entry 0")).to_contain_text("state.verdict")
    await page.get_by_role("button", name="Next entry").click()
    await expect(page.get_by_role("region", name="Changes in entry 1")).to_contain_text("state.votes")


async def test_dragging_asks_the_server_nothing(site: Site) -> None:
    run = panel(site)
    page = await site.sign_in(f"/runs/{run}?tab=context")
    await expect(page.get_by_role("tree", name="Context")).to_contain_text("votes")
    # what the run's stream makes old is read again meanwhile; what travelling needs would name an entry
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if run in request.url else None)
    slider = page.get_by_role("slider", name="Journal entry")
    for key in ("Home", "End", "Home"):
        await slider.press(key)
    await expect(page.get_by_role("status", name="Time travel")).to_have_text(re.compile("^entry 0 of"))
    await expect(page).to_have_url(re.compile("at=0"))
    assert [url for url in asked if re.search(r"/(deltas|context|entries)\b|[?&]at=", url)] == []


async def test_events_tokens_timeline_and_children(site: Site) -> None:
    run = panel(site)
    page = await site.sign_in(f"/runs/{run}?tab=events")
    log = page.get_by_role("log", name="Events")
    await expect(log).to_contain_text(re.compile(r"gate"))
    await page.get_by_role("spinbutton", name="Go to sequence").fill("0")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("region", name="Event 0")).to_contain_text("run.submitted")
    await page.get_by_role("searchbox", name="Filter events").fill("fan_out.started")
    await expect(log.get_by_text("fan_out.started", exact=True)).to_have_count(1)
    await expect(log.get_by_text("run.started", exact=True)).to_have_count(0)
    await page.get_by_role("tab", name="Tokens").click()
    await expect(page.get_by_role("table", name="Tokens").get_by_role("row")).to_have_count(7)
    await page.get_by_role("tab", name="Timeline").click()
    items = page.get_by_role("list", name="Timeline").get_by_role("listitem")
    await expect(items).to_have_count(6)
    await expect(page.get_by_role("listitem", name="appeal token 5, waiting for gate")).to_be_visible()
    await page.get_by_role("tab", name="Children").click()
    await expect(page.get_by_role("heading", name="It called no runs")).to_be_visible()


async def test_a_supposition_changes_nothing(site: Site) -> None:
    run = panel(site)
    page = await site.sign_in(f"/runs/{run}")
    await page.get_by_role("complementary", name="Explain").get_by_role("button", name="What if…").click()
    dialog = page.get_by_role("dialog", name="What if…")
    await dialog.get_by_role("textbox", name="Result (JSON)").fill('{"ok": true}')
    await expect(dialog.get_by_role("code")).to_contain_text(f"jeton what-if {run} 5")
    await dialog.get_by_role("button", name="Suppose").click()
    await expect(dialog.get_by_role("region", name="Would decide")).to_contain_text("completed")
    await dialog.get_by_role("button", name="Close").click()
    assert site.ask("GET", f"/v1/runs/{run}")["status"] == "waiting"


async def test_a_fork_with_an_edit_is_compared(site: Site) -> None:
    run = panel(site)
    page = await site.sign_in(f"/runs/{run}?at=0")
    await page.get_by_role("button", name="Fork here").click()
    dialog = page.get_by_role("dialog", name="Fork here")
    await dialog.get_by_role("textbox", name="State (JSON)").fill('{"verdict": "accept"}')
    await expect(dialog.get_by_role("region", name="Difference")).to_contain_text("accept")
    await expect(dialog.get_by_role("code").first).to_contain_text("""--set 'state.verdict="accept"'""")
    await dialog.get_by_role("button", name="Confirm").click()
    await expect(page.get_by_role("heading", level=1, name="Compare")).to_be_visible()
    await expect(page.get_by_role("region", name="Where they part")).to_contain_text("part in entry 1")
    table = page.get_by_role("table", name="Differences")
    await expect(table.get_by_role("row").filter(has_text="state.verdict")).to_contain_text("accept")
    await expect(page.get_by_role("region", name="Nodes that differ")).to_contain_text("appeal")


async def test_actions_of_a_run(site: Site) -> None:
    run = started(site, "hold", {})
    page = await site.sign_in(f"/runs/{run}")
    status = page.get_by_role("status", name="Run status")
    for name, then in (("Pause run", "paused"), ("Unpause run", "waiting"), ("Cancel run", "cancelled")):
        await page.get_by_role("button", name=name, exact=True).click()
        dialog = page.get_by_role("dialog", name=name)
        await expect(dialog.get_by_role("code")).to_contain_text(f"jeton {name.split()[0].lower()} {run}")
        if name == "Cancel run":
            await dialog.get_by_role("textbox", name="Reason").fill("not needed")
        await dialog.get_by_role("button", name="Confirm").click()
        await expect(status).to_contain_text(then)
    await expect(page.get_by_role("button", name="Cancel run", exact=True)).to_be_disabled()
    failed = started(site, "pay", {})
    await site.go(f"/runs/{failed}")
    await expect(status).to_contain_text("the card was declined")
    await page.get_by_role("button", name="Retry run").click()
    await page.get_by_role("dialog", name="Retry run").get_by_role("button", name="Confirm").click()
    await expect(page.get_by_text(f"forked from {failed}")).to_be_visible()


async def test_a_run_is_followed_to_its_end(site: Site) -> None:
    run = panel(site)
    page = await site.sign_in(f"/runs/{run}")
    graph = page.get_by_role("region", name="Graph of panel")
    await expect(graph.get_by_role("button", name="Node appeal, gate, 1 waiting")).to_be_visible()
    [gate] = site.ask("GET", f"/v1/gates?run={run}")["gates"]
    site.ask("POST", f"/v1/gates/{gate['id']}/answer", {"value": {"ok": True}})
    await expect(graph.get_by_role("button", name="Node done, pass, 1 done")).to_be_visible()
    await expect(page.get_by_role("status", name="Run status")).to_contain_text("completed")
    await expect(page.get_by_role("slider", name="Journal entry")).to_have_value(str(last_entry(site, run)))
