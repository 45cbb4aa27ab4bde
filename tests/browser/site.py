"""The page in a browser: signing in, and watching for whatever goes wrong."""

import json
import urllib.request
from typing import Any, Literal

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect

from tests.api.server import Running
from tools.page_stamp import UI

__all__ = ["Site", "ask", "expect"]

# What the browser says by itself of an answer that refuses. The page shows the refusal: that is what tests look at.
AXE = UI / "node_modules" / "axe-core" / "axe.min.js"
REFUSALS = ("400", "409", "422")
Theme = Literal["light", "dark", "no-preference"]


class Site:
    """One person's browser on one server. `complaints` has what must not be: errors, warnings, requests elsewhere."""

    def __init__(self, browser: Browser, server: Running) -> None:
        self.browser = browser
        self.server = server
        self.complaints: list[str] = []
        self._contexts: list[BrowserContext] = []
        self.page: Page

    async def open(
        self,
        path: str = "/",
        *,
        width: int = 1280,
        height: int = 800,
        theme: Theme = "light",
        reduced_motion: bool = False,
        script: bool = True,
    ) -> Page:
        """A browser window of its own at a path of the server."""
        context = await self.browser.new_context(
            base_url=self.server.url,
            viewport={"width": width, "height": height},
            color_scheme=theme,
            reduced_motion="reduce" if reduced_motion else "no-preference",
            has_touch=width < 720,
            java_script_enabled=script,
            permissions=["clipboard-read", "clipboard-write"],
        )
        self._contexts.append(context)
        page = await context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        page.on("request", self._asked)
        await page.goto(path)
        self.page = page
        return page

    async def sign_in(self, place: str = "/runs", *, key: str | None = None, width: int = 1280, **options: Any) -> Page:
        """Sign in by a link, and go to a place of the page: `/runs?q=…`."""
        page = await self.open(f"/#key={key or self.server.key}", width=width, **options)
        await expect(page.get_by_role("status", name="Connection")).to_be_visible()
        if place:
            await self.go(place)
        return page

    async def go(self, place: str) -> None:
        """Go to a place of the page."""
        await self.page.evaluate("(place) => { window.location.hash = place }", f"#{place}")

    async def accessibility(self) -> list[str]:
        """What axe-core finds serious or critical in the page as it is: rule and place."""
        source = AXE.read_text(encoding="utf-8")
        # the policy lets no script in but the page's own; the protocol of the browser may still run one
        await self.page.evaluate(source)
        found = await self.page.evaluate("axe.run({resultTypes: ['violations']})")
        serious = [each for each in found["violations"] if each["impact"] in ("serious", "critical")]
        return [
            f"{each['id']}: {node['target']} {node['failureSummary']}" for each in serious for node in each["nodes"]
        ]

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Ask the server beside the page, with its key for everything."""
        return ask(self.server, method, path, body)

    async def close(self) -> None:
        for context in self._contexts:
            await context.close()

    def _heard(self, message: ConsoleMessage) -> None:
        left = "WebSocket is closed before the connection is established"  # the browser's remark when a view is left
        if message.type not in ("error", "warning") or left in message.text:
            return
        if message.text.startswith("Failed to load resource") and any(
            f"status of {code}" in message.text for code in REFUSALS
        ):
            return
        self.complaints.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.server.url, self.server.url.replace("http", "ws", 1), "data:", "blob:")):
            self.complaints.append(f"a request left: {request.url}")


def ask(server: Running, method: str, path: str, body: object = None) -> Any:
    """Ask a server for something, with its key for everything."""
    content = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.url}{path}", content, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as answer:
        raw = answer.read()
    return json.loads(raw) if raw else None
