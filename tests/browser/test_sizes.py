"""The document does not grow with what it shows: elements are counted, not milliseconds."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import pytest
from playwright.async_api import Page

from tests.api.door.test_commands import served
from tests.api.server import Running
from tests.browser.site import Site, ask, expect

CHAINS = 40
TABS = ("graph", "timeline", "events", "tokens", "context", "explain")
PATIENCE_MS = 120_000


class Sizes(NamedTuple):
    nodes: int
    slots: int
    events: int  # that the run with so many slots has at least


SMALL = Sizes(400, 600, 5_000)
LARGE = Sizes(2_000, 10_000, 100_000)


def chains(nodes: int) -> str:
    """A workflow of so many nodes: chains side by side, all of which begin at the same node."""
    each = (nodes - 1) // CHAINS
    names = [[f"n{chain}_{place}" for place in range(each)] for chain in range(CHAINS)]
    lines = ["  large:", "    initial_node: begin", "    nodes:", "      begin: {}"]
    lines += [f"      {name}: {{}}" for chain in names for name in chain]
    lines += [f"      more{number}: {{}}" for number in range(nodes - 1 - each * CHAINS)]
    lines += ["    transitions:", *(f"      - {{from: begin, to: {chain[0]}}}" for chain in names)]
    lines += [f"      - {{from: {one}, to: {other}}}" for chain in names for one, other in pairwise(chain)]
    lines += [f"      - {{from: begin, to: more{number}}}" for number in range(nodes - 1 - each * CHAINS)]
    return "\n".join(lines)


LIBRARY = """
workflows:
  five:
    initial_node: a
    nodes: {a: {}, b: {}, c: {}, d: {}, e: {}}
    transitions: [{from: a, to: b}, {from: b, to: c}, {from: c, to: d}, {from: d, to: e}]
  wide:
    initial_node: list
    nodes:
      list: {}
      one: {action: {kind: mock, implementation: {output: {}}}}
      two: {action: {kind: mock, implementation: {output: {}}}}
      end: {}
    transitions:
      - {from: list, to: one, foreach: {collection: "range(input.many)", max_parallel: 200}, sibling_group: parts}
      - {from: one, to: two}
      - {from: two, to: end, synchronization: {strategy: all, sibling_group: parts}}
"""


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("sizes")
    (folder / "library.yaml").write_text(LIBRARY)
    with served(folder / "store.db", str(folder / "library.yaml")) as (running, _):
        yield running


async def elements(page: Page) -> int:
    return int(await page.evaluate("document.querySelectorAll('*').length"))


async def counted(site: Site, run: str) -> dict[str, int]:
    """How many elements each tab of a run has, once it has loaded."""
    found: dict[str, int] = {}
    for tab in TABS:
        await site.go(f"/runs/{run}?tab={tab}")
        await expect(site.page.get_by_role("tab", name=tab.title())).to_have_attribute("aria-selected", "true")
        await expect(site.page.locator(".skeleton")).to_have_count(0, timeout=PATIENCE_MS)
        found[tab] = await elements(site.page)
    return found


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param(SMALL, id="some hundreds"),
        pytest.param(LARGE, id="2,000 nodes, 10,000 slots, 100,000 events", marks=pytest.mark.long),
    ],
)
async def test_a_large_run_has_hardly_more_elements_than_one_of_five_nodes(
    site: Site, big: Running, sizes: Sizes
) -> None:
    ask(big, "POST", "/v1/definitions", {"files": [{"name": "l.yaml", "text": f"workflows:\n{chains(sizes.nodes)}\n"}]})
    given = {"five": {}, "large": {}, "wide": {"many": sizes.slots}}
    runs = {
        name: ask(big, "POST", "/v1/runs?wait_ms=15000", {"workflow": name, "input": each})["run_id"]
        for name, each in given.items()
    }
    while ask(big, "GET", f"/v1/runs/{runs['wide']}?wait_ms=15000")["status"] == "running":
        pass
    last = ask(big, "GET", f"/v1/runs/{runs['wide']}/events?after={sizes.events - 1}&limit=1")["events"]
    assert last, f"the run has fewer than {sizes.events:,} events"
    here = Site(site.browser, big)
    await here.sign_in("/runs", reduced_motion=True)
    few = await counted(here, runs["five"])
    for name in ("large", "wide"):
        many = await counted(here, runs[name])
        assert {tab: many[tab] for tab in TABS if many[tab] > 2 * few[tab] + 400} == {}, (name, few, many)
    await here.close()
    assert here.complaints == []
