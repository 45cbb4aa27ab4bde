"""Gates: answered by form, refused at the field, by whoever may only answer."""

from typing import Any

import pytest
import pytest_asyncio

from tests.api.server import Running
from tests.browser.site import Site, ask, expect

LIBRARY = """
workflows:
  campaign:
    initial_node: ask
    nodes:
      ask:
        gate:
          title: Raise the budget?
          schema:
            type: object
            required: [amount, channel]
            properties:
              amount: {type: integer, title: Amount, minimum: 100}
              channel: {title: Channel, enum: [search, social]}
        output_mapping: {output.said: result}
  anything:
    initial_node: ask
    nodes: {ask: {gate: {title: Say anything}, output_mapping: {output.said: result}}}
"""


@pytest.fixture(scope="module", autouse=True)
def deployed(server: Running) -> None:
    ask(server, "POST", "/v1/definitions", {"files": [{"name": "gates.yaml", "text": LIBRARY}]})


@pytest_asyncio.fixture(loop_scope="session")
async def campaign(server: Running) -> Any:
    """A run that waits at its gate."""
    return ask(server, "POST", "/v1/runs?wait_ms=200", {"workflow": "campaign"})["run_id"]


async def test_a_gate_is_refused_at_the_field_and_then_answered(site: Site, campaign: str) -> None:
    page = await site.sign_in(f"/gates?q={campaign}")
    await expect(page.get_by_role("heading", name="Gates", level=1)).to_be_visible()
    gate = page.get_by_role("list", name="Open gates").get_by_role("article", name="Raise the budget?")
    form = gate.get_by_role("form", name="Answer Raise the budget?")
    await form.get_by_label("Amount").fill("7")
    await form.get_by_role("button", name="Answer").click()
    await expect(form.get_by_label("Channel")).to_have_attribute("aria-invalid", "true")
    await form.get_by_label("Amount").fill("700")
    await form.get_by_label("Channel").select_option("social")
    await page.reload()  # a draft outlives it
    await expect(form.get_by_label("Amount")).to_have_value("700")
    await form.get_by_role("button", name="Answer").click()
    await expect(page.get_by_role("status", name="Answered")).to_contain_text("Raise the budget?")
    await expect(gate).to_have_count(0)
    record = site.ask("GET", f"/v1/runs/{campaign}?wait_ms=5000")
    assert record["output"]["said"] == {"amount": 700, "channel": "social"}


async def test_a_gate_is_answered_as_json_with_its_command_beside_it(site: Site) -> None:
    run = site.ask("POST", "/v1/runs?wait_ms=200", {"workflow": "anything"})["run_id"]
    page = await site.sign_in(f"/gates?q={run}")
    gate = page.get_by_role("article", name="Say anything")
    await gate.get_by_label("Answer (JSON)").fill('{"free": [1, 2]}')
    command = f"jeton answer {run} --gate {run}:0 --value '{{\"free\":[1,2]}}'"
    await expect(gate.locator("code").first).to_contain_text(command)
    await gate.get_by_role("button", name="Answer").click()
    await expect(page.get_by_role("status", name="Answered")).to_contain_text("Say anything")
    assert site.ask("GET", f"/v1/runs/{run}?wait_ms=5000")["output"]["said"] == {"free": [1, 2]}


async def test_whoever_may_only_answer_sees_only_that_and_can_on_a_phone(site: Site, campaign: str) -> None:
    key = site.ask("POST", "/v1/keys", {"name": "phone", "scopes": ["answer"], "person": "ann"})["key"]
    page = await site.sign_in("", key=key, width=360, height=740, theme="dark")
    links = page.get_by_role("navigation", name="Main").get_by_role("link")
    await expect(links).to_have_count(2)
    await expect(links.nth(0)).to_contain_text("Gates")
    await expect(links.nth(1)).to_contain_text("Chat")
    await expect(page.get_by_text("Answer as ann")).to_be_visible()
    await page.get_by_role("searchbox", name="Search gates").fill(campaign)
    form = page.get_by_role("form", name="Answer Raise the budget?")
    await form.get_by_label("Amount").fill("100")
    await form.get_by_label("Channel").select_option("search")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    await form.get_by_role("button", name="Answer").tap()
    await expect(page.get_by_role("status", name="Answered")).to_contain_text("Raise the budget?")
    await site.go("/runs")
    await expect(page.get_by_text("Nothing is here")).to_be_visible()
