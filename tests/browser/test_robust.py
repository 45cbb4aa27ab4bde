"""The page outlives its server, and never shows an older answer over a newer one."""

import asyncio
import random
import re
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Error, Page, Route

from tests.api.door.test_commands import served
from tests.api.server import Running
from tests.browser.site import Site, ask, expect

LIBRARY = """
workflows:
  many:
    initial_node: list
    nodes:
      list: {}
      work: {action: {kind: mock, implementation: {output: {}, delay_ms: 20}}}
      end: {}
    transitions:
      - {from: list, to: work, foreach: {collection: "range(input.many)", max_parallel: 8}, sibling_group: parts}
      - {from: work, to: end, synchronization: {strategy: all, sibling_group: parts}}
"""
BACK_MS = 60_000


@pytest.mark.parametrize(
    ("kills", "slots"),
    [
        pytest.param(3, 200, id="killed 3 times"),
        pytest.param(10, 1000, id="killed 10 times", marks=pytest.mark.long),
    ],
)
async def test_a_page_follows_a_run_whose_server_is_killed(site: Site, tmp_path: Path, kills: int, slots: int) -> None:
    """It keeps what it shows, says that it is away, and ends with what the server has, without a reload."""
    (tmp_path / "library.yaml").write_text(LIBRARY)
    store = tmp_path / "store.db"
    with ExitStack() as servers:
        running, process = servers.enter_context(served(store, str(tmp_path / "library.yaml")))
        here = Site(site.browser, running)
        key = here.ask("POST", "/v1/keys", {"name": "ours", "scopes": ["admin"]})["key"]
        run = here.ask("POST", "/v1/runs", {"workflow": "many", "input": {"many": slots}})["run_id"]
        page = await here.sign_in(f"/runs/{run}", key=key)
        await page.evaluate("window.here = 'the same document'")
        node = page.get_by_role("button", name=re.compile("^Node work,"))
        await expect(node).to_have_accessible_name(re.compile("waiting|done"))
        connection = page.get_by_role("status", name="Connection")
        for _ in range(kills):
            process.kill()
            process.wait()
            await expect(connection).to_have_text(re.compile("reconnecting|stale"))
            await expect(node).to_be_visible()
            again = servers.enter_context
            _, process = await asyncio.to_thread(again, served(store, port=running.port))
            await expect(connection).to_have_text("live", timeout=BACK_MS)
        await ended(here, Running(running.url, key, store), page, run, slots)
        await here.close()


async def ended(here: Site, server: Running, page: Page, run: str, slots: int) -> None:
    """What the page shows in the end is what the server has: counts, and events in their order."""
    await expect(page.get_by_role("status", name="Run status")).to_contain_text("completed", timeout=BACK_MS)
    await expect(page.get_by_role("button", name=re.compile(f"^Node work, task, {slots:,} done$"))).to_be_visible()
    last = ask(server, "GET", f"/v1/runs/{run}/graph")["entry"]
    await expect(page.get_by_role("slider", name="Journal entry")).to_have_value(str(last))
    await here.go(f"/runs/{run}?tab=events")
    stored: list[Any] = []
    after = -1
    while after is not None:
        found = ask(server, "GET", f"/v1/runs/{run}/events?after={after}&limit=1000")
        stored += found["events"]
        after = found["next"]
    assert [event["seq"] for event in stored] == list(range(len(stored)))
    await expect(page.get_by_text(f"{len(stored):,} events")).to_be_visible()
    final = page.get_by_role("log", name="Events").get_by_text("run.completed", exact=True)
    await expect(final).to_be_visible()
    assert await page.evaluate("window.here") == "the same document"


async def test_an_older_answer_is_never_shown_over_a_newer_one(site: Site) -> None:
    """Answers are delayed by chance, so that they overtake each other; what is shown only ever goes forward."""
    text = LIBRARY.replace("many:", "delayed:", 1)
    site.ask("POST", "/v1/definitions", {"files": [{"name": "delayed.yaml", "text": text}]})
    chance = random.Random(7)

    async def late(route: Route) -> None:
        with suppress(Error):  # the page may have stopped waiting for it
            answer = await route.fetch()
            await asyncio.sleep(chance.choice((0, 0, 0.05, 0.3, 0.6)))
            await route.fulfill(response=answer)

    page = await site.sign_in("/runs?workflow=delayed")
    await page.route(re.compile(r"/v1/runs"), late)
    run = site.ask("POST", "/v1/runs", {"workflow": "delayed", "input": {"many": 400}})["run_id"]
    await site.go(f"/runs/{run}")
    node = page.get_by_role("button", name=re.compile("^Node work,"))
    await expect(node).to_be_visible()
    # what each picture says: how far the journal is, and how many tokens there were
    await page.evaluate(
        """() => {
          window.shown = []
          const look = () => {
            const slider = document.querySelector('input[type=range]')
            const node = [...document.querySelectorAll('button')].map((each) => each.getAttribute('aria-label') ?? '')
              .find((name) => name.startsWith('Node work,')) ?? ''
            const sum = [...node.matchAll(/([\\d,]+) (?:active|waiting|done)/g)]
              .reduce((all, found) => all + Number(found[1].replaceAll(',', '')), 0)
            if (slider !== null && sum > 0) window.shown.push([Number(slider.max), sum])
          }
          new MutationObserver(look).observe(document.body, {subtree: true, childList: true, attributes: true})
        }"""
    )
    await expect(page.get_by_role("status", name="Run status")).to_contain_text("completed", timeout=BACK_MS)
    await expect(page.get_by_role("button", name="Node work, task, 400 done")).to_be_visible(timeout=BACK_MS)
    shown = await page.evaluate("window.shown")
    assert len({tuple(each) for each in shown}) > 1, "nothing moved while it was looked at"
    for place, what in enumerate(("the journal", "the count of tokens")):
        values = [each[place] for each in shown]
        assert values == sorted(values), f"{what} went back"
    # a search that is typed on while its first answers are under way
    await site.go("/runs")
    search = page.get_by_role("searchbox", name="Search runs")
    await search.press_sequentially("status:completed workflow:delayed", delay=20)
    rows = page.get_by_role("table", name="Runs").locator("[data-row]")
    await expect(rows).to_have_count(1)
    await page.unroute_all(behavior="wait")
    await expect(rows).to_have_count(1)
