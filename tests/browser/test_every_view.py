"""What holds in every view: nothing serious for those who cannot see or point, and a link that gives the same again."""

import re
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Error, Page

from tests.api.server import Running
from tests.browser.places import PLACES, Place, Prepared, loaded, prepared
from tests.browser.site import Site, expect

EACH = [pytest.param(place, id=name) for name, place in PLACES.items()]
# what makes a view this one: headings, what is chosen, what is typed, which rows there are
SEEN = """() => {
  const all = (query, of) => [...document.querySelectorAll(query)].map(of)
  return {
    place: location.hash,
    headings: all('main h1, main h2', (each) => each.textContent),
    chosen: all('[aria-selected=true], [aria-pressed=true], [aria-current]', (each) => each.textContent),
    typed: all('main input, main select', (each) => each.type === 'checkbox' ? each.checked : each.value),
    rows: all('main [data-row]', (each) => each.dataset.row),
    nodes: all('main [role=region] button', (each) => each.getAttribute('aria-label')),
  }
}"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def things(server: Running) -> Prepared:
    return prepared(server)


async def seen(page: Page) -> Any:
    return await page.evaluate(SEEN)


@pytest.mark.parametrize("place", EACH)
async def test_nobody_is_kept_out_and_an_address_gives_the_same_again(
    site: Site, things: Prepared, place: Place
) -> None:
    page = await site.sign_in(things.address(place), theme="light", reduced_motion=True)
    await loaded(page, place)
    await _is_the_same_again(page, place)
    assert await site.accessibility() == []
    await page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert await site.accessibility() == []
    await page.set_viewport_size({"width": 360, "height": 740})
    await expect(page.get_by_role(place.role, name=place.name, exact=True).first).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it is wider than a phone"
    assert await page.get_by_role("heading", level=1).count() <= 1


async def _is_the_same_again(page: Page, place: Place) -> None:
    for last in (False, False, True):
        before = await seen(page)
        await page.reload()
        await loaded(page, place)
        try:
            await same(page, before)
            break
        except Error:  # what came in while it was looked at is in the view that is loaded later
            if last:
                raise


async def same(page: Page, before: Any) -> None:
    """Wait until the view is what it was."""
    await page.wait_for_function(
        f"(before) => JSON.stringify(({SEEN})()) === before", arg=packed(before), timeout=10_000
    )


def packed(value: Any) -> str:
    """As JSON.stringify writes it."""
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.long
async def test_every_link_that_is_met_gives_the_same_view_again(site: Site, things: Prepared) -> None:
    page = await site.sign_in("/runs", reduced_motion=True)
    left = [things.address(place) for place in PLACES.values()]
    shapes: set[str] = set()
    while left:
        address = left.pop()
        shape = re.sub(r"1m[0-9a-z.]{10,}|\d+", "#", address)
        if shape in shapes:
            continue
        shapes.add(shape)
        await site.go(address)
        await expect(page.get_by_role("heading", level=1).first).to_be_visible()
        await expect(page.locator(".skeleton")).to_have_count(0)
        left += await page.eval_on_selector_all(
            "a[href^='#/']", "(links) => links.map((each) => each.getAttribute('href').slice(1))"
        )
        await page.wait_for_load_state("networkidle")
        before = await seen(page)
        await page.reload()
        await same(page, before)
    assert len(shapes) > len(PLACES)
