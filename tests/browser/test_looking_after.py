"""Keys, store, triggers and usage: what an operator looks after."""

import pytest

from tests.api.server import Running
from tests.browser.site import Site, ask, expect

LIBRARY = """
project: {settings: {credits: {balance: 500}}}
workflows:
  report: {initial_node: a, nodes: {a: {output_mapping: {output.n: input.n}}}}
triggers:
  by_hand: {type: manual, start: report}
  morning: {type: schedule, cron: "0 7 * * *", time_zone: Europe/Berlin, start: report}
  hook: {type: webhook, path: orders/paid, start: report}
"""


@pytest.fixture(scope="module", autouse=True)
def deployed(server: Running) -> None:
    ask(server, "POST", "/v1/definitions", {"files": [{"name": "triggers.yaml", "text": LIBRARY}]})


async def test_a_key_is_made_shown_once_and_revoked(site: Site) -> None:
    page = await site.sign_in("/keys")
    await page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog", name="New key")
    await dialog.get_by_role("textbox", name="Name").fill("robot")
    await dialog.get_by_role("checkbox", name="read").check()
    await dialog.get_by_role("checkbox", name="run").check()
    await expect(dialog.locator(".command code")).to_contain_text("jeton keys add robot --scope read,run --url")
    await dialog.get_by_role("button", name="Create").click()
    key = await dialog.get_by_role("textbox", name="Key, shown once").input_value()
    assert key.startswith("jtn_")
    await dialog.get_by_role("button", name="Close").click()
    row = page.get_by_role("table", name="Keys").get_by_role("row").filter(has_text="robot")
    await expect(row).to_contain_text("active")
    await page.get_by_role("button", name="Revoke robot").click()
    await page.get_by_role("dialog", name="Revoke robot").get_by_role("button", name="Confirm").click()
    await expect(row).to_contain_text("revoked")
    kept = await page.evaluate("JSON.stringify(Object.entries(localStorage))")
    assert key not in kept


async def test_the_store_tells_its_health_and_is_verified(site: Site) -> None:
    page = await site.sign_in("/store")
    health = page.get_by_role("region", name="Health")
    await expect(health).to_contain_text("Ready")
    await expect(health).to_contain_text("Free disk")
    await page.get_by_role("button", name="Verify").click()
    await page.get_by_role("dialog", name="Verify").get_by_role("button", name="Confirm").click()
    await expect(health).to_contain_text("the store is intact")


async def test_a_trigger_is_fired_and_tells_what_came_of_it(site: Site) -> None:
    page = await site.sign_in("/triggers")
    table = page.get_by_role("table", name="Triggers")
    await expect(table.get_by_role("row").filter(has_text="morning")).to_contain_text("Europe/Berlin")
    await page.get_by_role("button", name="Fire by_hand").click()
    dialog = page.get_by_role("dialog", name="Fire by_hand")
    await dialog.get_by_label("Payload (JSON)").fill('{"n": 5}')
    await dialog.get_by_label("Delivery").fill("d-1")
    await dialog.get_by_role("button", name="Confirm").click()
    await table.get_by_role("link", name="by_hand", exact=True).click()
    await expect(page.get_by_role("table", name="Firings of by_hand")).to_contain_text("d-1")
    await site.go("/triggers/morning")
    await expect(page.get_by_role("region", name="Trigger morning").get_by_role("time")).to_have_count(3)
    await site.go("/triggers/hook")
    await expect(page.get_by_role("region", name="Trigger hook")).to_contain_text("curl -X POST")


async def test_usage_is_charted_and_the_account_topped_up(site: Site) -> None:
    site.ask("POST", "/v1/runs?wait_ms=2000", {"workflow": "report", "input": {"n": 1}})
    page = await site.sign_in("/usage")
    await expect(page.get_by_role("figure", name="Credits by day")).to_be_visible()
    before = site.ask("GET", "/v1/credits")["balance"]
    await page.get_by_role("button", name="Top up").click()
    dialog = page.get_by_role("dialog", name="Top up")
    await dialog.get_by_label("Amount").fill("25")
    await dialog.get_by_role("button", name="Confirm").click()
    await expect(page.get_by_role("region", name="Account")).to_contain_text(str(before + 25))
