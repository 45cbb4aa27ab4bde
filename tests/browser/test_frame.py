"""The frame: signing in, what a key may see, keys and palette, themes, and what happens without a server."""

from pathlib import Path

from tests.api.door.test_commands import served
from tests.api.server import Running
from tests.browser.fill import LIBRARY
from tests.browser.site import Site, ask, expect


async def test_a_link_signs_in_and_leaves_no_key_behind(site: Site) -> None:
    page = await site.sign_in("")
    await expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    assert await page.evaluate("location.href") == f"{site.server.url}/#/runs"
    kept = await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert "jtn_" not in kept
    await page.reload()
    await expect(page.get_by_role("status", name="Connection")).to_have_text("live")
    await page.go_back()
    assert "key=" not in await page.evaluate("location.href")


async def test_a_key_is_asked_for_and_a_wrong_one_refused_in_place(site: Site) -> None:
    page = await site.open("/")
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    await page.get_by_role("textbox", name="Key").fill("jtn_wrong")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_contain_text("key")
    site.complaints = [each for each in site.complaints if "status of 401" not in each]  # the browser's own word for it
    await page.get_by_role("textbox", name="Key").fill(site.server.key or "")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


async def test_what_a_key_may_not_do_is_not_shown(site: Site) -> None:
    key = site.ask("POST", "/v1/keys", {"name": "reader", "scopes": ["read"]})["key"]
    page = await site.sign_in(key=key)
    await expect(page.get_by_role("table", name="Runs")).to_be_visible()
    await expect(page.get_by_role("button", name="Start run")).to_have_count(0)
    await expect(page.get_by_role("checkbox")).to_have_count(0)
    answering = site.ask("POST", "/v1/keys", {"name": "answerer", "scopes": ["answer"]})["key"]
    page = await site.sign_in("", key=answering)
    await expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Runs")).to_have_count(0)


async def test_themes_keys_and_commands(site: Site) -> None:
    page = await site.sign_in()
    html = page.locator("html")
    for name in ("Dark", "Light", "System"):
        await page.get_by_role("button", name="Theme").click()
        await page.get_by_role("menuitem", name=name).click()
        await expect(html).to_have_attribute("data-theme", name.lower())
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("Go to Runs")
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Commands").click()
    palette = page.get_by_role("dialog", name="Commands")
    await palette.get_by_role("combobox", name="Command").fill("search")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("searchbox", name="Search runs")).to_be_focused()
    await site.go("/nowhere")
    await expect(page.get_by_role("heading", name="Nothing is here")).to_be_visible()
    await page.get_by_role("main").click()
    await page.keyboard.press("g")
    await page.keyboard.press("r")
    await expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()


async def test_a_browser_without_scripts_is_told_what_to_do(site: Site) -> None:
    page = await site.open("/", script=False)
    await expect(page.get_by_role("heading", name="This page needs JavaScript")).to_be_visible()


async def test_the_page_outlives_its_server(site: Site, tmp_path: Path) -> None:
    """It keeps what it shows, says that it is away, and is live again by itself."""
    (tmp_path / "library.yaml").write_text(LIBRARY)
    store = tmp_path / "store.db"
    with served(store, str(tmp_path / "library.yaml")) as (running, process):
        here = Site(site.browser, running)
        key = here.ask("POST", "/v1/keys", {"name": "ours", "scopes": ["admin"]})["key"]
        here.ask("POST", "/v1/runs", {"workflow": "hold"})
        page = await here.sign_in(key=key)
        rows = page.get_by_role("table", name="Runs").get_by_role("row")
        connection = page.get_by_role("status", name="Connection")
        await expect(rows).to_have_count(2)
        await expect(connection).to_have_text("live")
        process.kill()
        process.wait()
    await expect(connection).to_have_text("reconnecting")
    await expect(rows).to_have_count(2)
    with served(store, port=running.port):
        ask(Running(running.url, key, store), "POST", "/v1/runs", {"workflow": "hold"})
        await expect(connection).to_have_text("live", timeout=15_000)
        await page.get_by_role("button", name="1 new").click()
        await expect(rows).to_have_count(3)
    await here.close()
