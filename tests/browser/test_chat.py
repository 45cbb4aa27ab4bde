"""Chat: an agent answers, asks before it pays, and is stopped."""

import pytest

from tests.api.server import Running
from tests.browser.site import Site, ask, expect

TALK = """
model_profiles:
  shop:
    provider: scripted
    script:
      - when: "message.contains('refund') && moves == 0"
        text: Let me see.
        tool_calls: [{name: refund, input: {order: A-17, amount: 20}}]
      - {when: "message == 'again'", tool_calls: [{name: refund, input: {order: A-18, amount: 30}}]}
      - {when: "tool_results.exists(each, has(each.error))", text: "I may not do that."}
      - {when: "size(tool_results) > 0", text: "Done <b>A-17</b>"}
      - {text: "How can I help?"}
tasks:
  pay: {steps: [{ref: pay, action: {kind: mock, implementation: {output: {receipt: r-1}}}}]}
tools:
  refund:
    description: Refund an order.
    input_schema:
      type: object
      required: [order, amount]
      properties: {order: {type: string}, amount: {type: integer}}
    task: pay
    needs_approval: {title: "Refund {{ input.amount }} for {{ input.order }}?"}
personas:
  clerk: {instructions: Help., model_profile: shop, tools: [refund], budget: {conversation: 50}}
agents:
  clerk: {persona: clerk}
"""


@pytest.fixture(scope="module", autouse=True)
def deployed(server: Running) -> None:
    ask(server, "POST", "/v1/definitions", {"files": [{"name": "talk.yaml", "text": TALK}]})


async def test_an_agent_is_talked_to_and_its_tool_approved_with_another_input(site: Site) -> None:
    page = await site.sign_in("/chat")
    await page.get_by_role("button", name="New conversation").click()
    log = page.get_by_role("log", name="Messages")
    message = page.get_by_role("textbox", name="Message")
    await message.fill("Hello")
    await page.get_by_role("button", name="Send").click()
    await expect(log).to_contain_text("How can I help?")
    await message.fill("A refund please")
    await message.press("Enter")
    tool = log.get_by_role("article", name="Tool refund")
    await expect(tool).to_contain_text("waiting")
    approval = tool.get_by_role("group", name="Approval for refund")
    await approval.get_by_label("amount").fill("5")
    await approval.get_by_role("button", name="Edit and approve").click()
    await expect(log).to_contain_text("Done <b>A-17</b>")
    await expect(tool).to_contain_text("done")
    await expect(page.get_by_role("list", name="Conversations").get_by_role("link")).to_have_count(1)
    identity = page.url.rpartition("/")[2]
    turns = site.ask("GET", f"/v1/conversations/{identity}")["turns"]
    assert turns[1]["moves"][0]["tool_calls"][0]["edited"] == {"order": "A-17", "amount": 5}


async def test_a_tool_is_refused_with_a_reason_and_a_turn_is_stopped(site: Site) -> None:
    identity = site.ask("POST", "/v1/agents/clerk/conversations", {})["conversation_id"]
    page = await site.sign_in(f"/chat/{identity}")
    log = page.get_by_role("log", name="Messages")
    message = page.get_by_role("textbox", name="Message")
    await message.fill("refund this")
    await message.press("Enter")
    approval = log.get_by_role("group", name="Approval for refund")
    await approval.get_by_label("Reason").fill("too much")
    await approval.get_by_role("button", name="Refuse").click()
    await expect(log).to_contain_text("I may not do that.")
    await expect(log.get_by_role("article", name="Tool refund")).to_contain_text("too much")
    await message.fill("again")
    await message.press("Enter")
    await expect(approval).to_be_visible()
    await page.get_by_role("button", name="Stop turn").click()
    dialog = page.get_by_role("dialog", name="Stop turn")
    await dialog.get_by_label("Reason").fill("enough")
    await expect(dialog.locator("code")).to_contain_text(f"jeton cancel {identity} --turn 2 --reason enough")
    await dialog.get_by_role("button", name="Confirm").click()
    await expect(log.get_by_role("alert")).to_contain_text("enough")
    await expect(page.get_by_role("button", name="Stop turn")).to_have_count(0)
