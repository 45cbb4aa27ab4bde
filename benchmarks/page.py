"""Does the page cost the same when there is more to show? CPU time of the browser's renderer, large beside small.

The server is real, and so are the definitions that it lays out. What a run of that size would answer (counts, entries,
what each changed, events) is made here, so that nothing but the page is measured.

usage: python -m benchmarks.page [--rounds N] [--write]
"""

import argparse
import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

from playwright.async_api import Browser, CDPSession, Page, Route, async_playwright, expect

from benchmarks.report import Claim, table, write_section
from tools.chromium import find_or_install

FEW_NODES, MANY_NODES = 50, 2_000
FEW_TOKENS, MANY_TOKENS = 250, 10_000
FEW_EVENTS, MANY_EVENTS = 1_000, 100_000
ENTRIES, CHANGES = 60, 200
CHAINS = 10
STEPS = 60
PATIENCE_MS = 60_000
AT = "2026-01-01T00:00:00.000Z"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
CLAIMS = (
    Claim("panning 2,000 nodes beside 50", "pan_many_ms", "pan_few_ms", 5, most=True),
    Claim("zooming 2,000 nodes beside 50", "zoom_many_ms", "zoom_few_ms", 5, most=True),
    Claim("200 changes of 2,000 nodes beside 50 of 50", "changes_many_ms", "changes_few_ms", 5, most=True),
    Claim("scrolling 100,000 events beside 1,000", "scroll_many_ms", "scroll_few_ms", 2, most=True),
)


def workflow(nodes: int) -> dict[str, Any]:
    """Chains side by side, which begin at the same gate."""
    names = [f"n{number}" for number in range(nodes - 1)]
    transitions = [{"from": "begin", "to": name} for name in names[:CHAINS]]
    transitions += [{"from": one, "to": names[at + CHAINS]} for at, one in enumerate(names[:-CHAINS])]
    begin: dict[str, Any] = {"begin": {"gate": {"title": "Begin?"}}}
    return {"initial_node": "begin", "nodes": begin | {name: {} for name in names}, "transitions": transitions}


class Large:
    """The answers about a run as if it had had so many tokens and events."""

    def __init__(self, nodes: int, tokens: int, events: int) -> None:
        self._names = ["begin", *(f"n{number}" for number in range(nodes - 1))]
        self._tokens = tokens
        self._events = events

    async def answer(self, route: Route) -> None:
        """Answer a request about the run; what is not known here is asked of the server."""
        address = urlsplit(route.request.url)
        query = {name: int(values[0]) for name, values in parse_qs(address.query).items() if values[0].isdigit()}
        made: dict[str, Callable[[dict[str, int]], Any]] = {
            "graph": self._graph, "entries": self._entries, "deltas": self._deltas, "events": self._page_of_events,
        }  # fmt: skip
        what = address.path.rpartition("/")[2]
        if what in made:
            await route.fulfill(json=made[what](query))
        else:
            await route.continue_()

    def _graph(self, query: dict[str, int]) -> Any:
        each = self._tokens // len(self._names)
        nodes = {name: {**NOTHING, "active": each // 2, "done": each - each // 2} for name in self._names}
        return {"entry": ENTRIES - 1, "live": "at" not in query, "nodes": nodes, "groups": []}

    def _entries(self, query: dict[str, int]) -> Any:
        after = query.get("after", -1)
        numbers = range(after + 1, min(ENTRIES, after + 1 + query.get("limit", 100)))
        per = max(1, self._events // ENTRIES)
        entries: list[Any] = [
            {"number": at, "at": AT, "first_event": at * per, "messages": [], "decisions": [], "text": "changes"}
            for at in numbers
        ]
        return {"entries": entries, "next": None}

    def _deltas(self, query: dict[str, int]) -> Any:
        some = min(CHANGES, len(self._names))
        found: list[Any] = []
        for entry in range(query["from"], query["to"] + 1):
            chosen = [self._names[(entry * 37 + step) % len(self._names)] for step in range(some)]
            found.append({"entry": entry, "at": AT, "nodes": {name: {"done": 1} for name in chosen}, "context": []})
        return {"deltas": found}

    def _page_of_events(self, query: dict[str, int]) -> Any:
        first = query.get("after", -1) + 1
        last = min(self._events, first + query.get("limit", 100))
        events = [
            {"run_id": "r", "seq": seq, "at": AT, "type": "token.completed", "token": seq} for seq in range(first, last)
        ]
        return {"events": events, "next": None if last >= self._events else last - 1}


NOTHING = {"active": 0, "waiting": 0, "done": 0, "failed": 0, "stopped": 0, "skipped": 0}


@asynccontextmanager
async def serving(folder: str) -> AsyncGenerator[tuple[str, str]]:
    """A server with the two definitions. Gives its address and its key."""
    library = Path(folder, "library.json")
    library.write_text(json.dumps({"workflows": {"few": workflow(FEW_NODES), "many": workflow(MANY_NODES)}}))
    command = [
        sys.executable,
        "-m",
        "jeton.cli.main",
        "serve",
        str(library),
        "--store",
        f"{folder}/s.db",
        "--port",
        "0",
    ]
    process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        told = json.loads(await asyncio.to_thread(process.stdout.readline))
        yield told["serving"], told["key"]
    finally:
        process.terminate()
        process.wait()


def start(url: str, key: str, name: str) -> str:
    """Start a run, which waits at its gate."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with urlopen(Request(f"{url}/v1/runs?wait_ms=300", json.dumps({"workflow": name}).encode(), headers)) as answer:
        return str(json.load(answer)["run_id"])


async def cpu_ms(system: CDPSession) -> float:
    """CPU time of all renderers so far."""
    send = cast("Callable[[str], Awaitable[Any]]", system.send)  # pyright: ignore[reportUnknownMemberType] - untyped
    found = await send("SystemInfo.getProcessInfo")
    return float(sum(each["cpuTime"] for each in found["processInfo"] if each["type"] == "renderer")) * 1000


async def pan(page: Page) -> None:
    await page.mouse.move(500, 430)
    await page.mouse.down()
    for step in range(STEPS):
        await page.mouse.move(500 + step % 20 * 6, 430 - step % 15 * 6)
        await picture(page)
    await page.mouse.up()


async def zoom(page: Page) -> None:
    await page.mouse.move(500, 430)
    for step in range(STEPS):
        await page.mouse.wheel(0, -60 if step % 20 < 10 else 60)
        await picture(page)


async def changes(page: Page) -> None:
    await page.get_by_role("button", name="First entry").click()
    for _ in range(ENTRIES - 2):
        await page.keyboard.press("]")
        await picture(page)


async def scroll(page: Page) -> None:
    await page.get_by_role("log", name="Events").hover()
    for step in range(STEPS):  # up and down again: the small list must not end before the large one
        await page.mouse.wheel(0, -400 if step < STEPS // 2 else 400)
        await picture(page)


async def picture(page: Page) -> None:
    """Wait for the next picture, so that no step is left out."""
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


async def measured(browser: Browser, url: str, key: str, name: str) -> dict[str, float]:
    """CPU time of each thing that is done, with one of the two sizes."""
    large = name == "many"
    run = start(url, key, name)
    answers = Large(
        *((MANY_NODES, MANY_TOKENS, MANY_EVENTS) if large else (FEW_NODES, FEW_TOKENS, FEW_EVENTS)),
    )
    context = await browser.new_context(base_url=url, viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.route(re.compile(f"/v1/runs/{run}/"), answers.answer)
    system = await browser.new_browser_cdp_session()
    await page.goto(f"/#key={key}&to=/runs/{run}")
    await expect(page.get_by_role("button", name="First entry")).to_be_visible(timeout=PATIENCE_MS)
    await expect(page.get_by_role("region", name=f"Graph of {name}")).to_be_visible(timeout=PATIENCE_MS)
    found: dict[str, float] = {}
    steps: list[tuple[str, Callable[[Page], Awaitable[None]]]] = [
        ("pan", pan), ("zoom", zoom), ("changes", changes), ("scroll", scroll),
    ]  # fmt: skip
    for what, act in steps:
        if what == "scroll":
            await page.evaluate("(place) => { location.hash = place }", f"#/runs/{run}?tab=events")
            await expect(page.get_by_text(f"{answers_events(large):,} events")).to_be_visible(timeout=PATIENCE_MS)
        await page.wait_for_load_state("networkidle")
        await act(page)  # once to warm up
        before = await cpu_ms(system)
        await act(page)
        found[f"{what}_{name}_ms"] = await cpu_ms(system) - before
    await context.close()
    return found


def answers_events(large: bool) -> int:
    return MANY_EVENTS if large else FEW_EVENTS


async def measure(rounds: int) -> dict[str, float]:
    """The medians of some rounds, large and small by turns."""
    path = find_or_install()
    if path is None:
        raise SystemExit("benchmarks.page: there is no Chromium: name one with $JETON_CHROMIUM")
    found: dict[str, list[float]] = {}
    with TemporaryDirectory() as folder:
        async with serving(folder) as (url, key), async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=path, args=FLAGS)
            for _ in range(rounds):
                for name in ("few", "many"):
                    for figure, value in (await measured(browser, url, key, name)).items():
                        found.setdefault(figure, []).append(value)
            await browser.close()
    return {figure: median(values) for figure, values in found.items()}


def main() -> int:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    text = table(asyncio.run(measure(options.rounds)), CLAIMS)
    print(text)
    if options.write:
        write_section("page", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
