"""Without a pointer, and without motion."""

from playwright.async_api import Locator, Page

from tests.browser.site import Site, expect

MOST_STEPS = 80


async def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until something has the focus, which is visible wherever it is on the way."""
    await expect(wanted).to_be_visible()
    for _ in range(MOST_STEPS):
        await page.keyboard.press("Tab")
        if await wanted.evaluate("(each) => each === document.activeElement"):
            ring = await wanted.evaluate(
                "(each) => [each, each.parentElement].some((part) => getComputedStyle(part).outlineStyle !== 'none'"
                " || getComputedStyle(part).boxShadow !== 'none')"
            )
            assert ring, "what has the focus does not show it"
            return
    raise AssertionError("it is out of reach")


async def test_a_gate_is_answered_and_a_run_explained_by_keyboard_alone(site: Site) -> None:
    judges = {"workflow": "panel", "input": {"judges": ["ada", "ben", "cleo"]}}
    run = site.ask("POST", "/v1/runs?wait_ms=500", judges)["run_id"]
    page = await site.sign_in("")
    await expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    await page.keyboard.press("g")
    await page.keyboard.press("g")
    await expect(page.get_by_role("heading", name="Gates", level=1)).to_be_visible()
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox", name="Search gates")).to_be_focused()
    await page.keyboard.type(run)
    form = page.get_by_role("form", name="Answer Appeal a?")
    await expect(form).to_have_count(1)
    await tab_to(page, form.get_by_role("radio", name="yes"))
    await page.keyboard.press("Space")
    await expect(form.get_by_role("radio", name="yes")).to_be_checked()
    await tab_to(page, form.get_by_role("textbox", name="Note"))
    await page.keyboard.type("by hand")
    await tab_to(page, form.get_by_role("button", name="Answer", exact=True))
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("status", name="Answered")).to_contain_text("Appeal a?")
    await page.keyboard.press("Control+k")
    await page.keyboard.type(run)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name=f"Run {run}", level=1)).to_be_visible()
    await page.keyboard.press("e")
    explain = page.get_by_role("complementary", name="Explain")
    await expect(explain.get_by_role("list", name="Considered")).to_contain_text("→ appeal: matched")
    await page.keyboard.press("[")
    await expect(page.get_by_role("status", name="Time travel")).to_contain_text("entry")
    await page.keyboard.press(".")
    await expect(page.get_by_role("status", name="Time travel")).to_have_text("live")


async def test_a_yes_or_no_is_not_guessed(site: Site) -> None:
    """A gate that was not answered sends no "no"."""
    judges = {"workflow": "panel", "input": {"judges": ["ada", "ben"]}}
    run = site.ask("POST", "/v1/runs?wait_ms=500", judges)["run_id"]
    page = await site.sign_in(f"/gates?q={run}")
    form = page.get_by_role("form", name="Answer Appeal a?")
    choice = form.get_by_role("radiogroup", name="Approve")
    await expect(choice.get_by_role("radio")).to_have_count(2)
    for name in ("yes", "no"):
        await expect(choice.get_by_role("radio", name=name)).not_to_be_checked()
    await form.get_by_role("button", name="Answer", exact=True).click()
    await expect(form).to_contain_text("is needed")
    await choice.get_by_role("radio", name="no").check()
    await expect(form.get_by_role("code")).to_contain_text('{"ok":false}')


async def test_nothing_moves_where_motion_is_not_welcome(site: Site) -> None:
    page = await site.sign_in("/runs", reduced_motion=True)
    await expect(page.get_by_role("table", name="Runs")).to_be_visible()
    await page.evaluate("window.moves = 0; addEventListener('animationstart', () => { window.moves += 1 }, true)")
    await page.evaluate("addEventListener('transitionrun', () => { window.moves += 1 }, true)")
    await page.get_by_role("button", name="Start run").click()
    dialog = page.get_by_role("dialog", name="Start run")
    await expect(dialog).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    run = site.ask("POST", "/v1/runs?wait_ms=500", {"workflow": "panel", "input": {"judges": ["a", "b"]}})["run_id"]
    await site.go(f"/runs/{run}")
    await expect(page.get_by_role("button", name="Node appeal, gate, 1 waiting")).to_be_visible()
    await page.get_by_role("button", name="First entry").click()
    await expect(page.get_by_role("status", name="Time travel")).to_contain_text("entry 0")
    lasting = "document.getAnimations().filter((each) => each.effect.getComputedTiming().activeDuration > 1).length"
    assert await page.evaluate(lasting) == 0
