"""A real server, a real browser, and a page that forgives nothing.

One server and one browser for a test process; each test has a context of its own. Playwright's async interface is used,
on one event loop for the session: its other interface would leave a loop running under every other test.
"""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.api.door.test_commands import served
from tests.api.server import Running
from tests.browser.fill import LIBRARY, fill
from tests.browser.site import Site
from tools.chromium import find

HERE = Path(__file__).parent
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
MISSING = (
    "NO CHROMIUM: nothing of the page was tested in a browser. Run `make chromium`, or name one with $JETON_CHROMIUM."
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder share one event loop, which the browser lives on."""
    for item in items:
        if HERE in item.path.parents and item.get_closest_marker("asyncio") is not None:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    path = find()
    if path is None:
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    async with async_playwright() as playwright:
        found = await playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield found
        await found.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """`jeton serve` with definitions and some runs of each status."""
    folder = tmp_path_factory.mktemp("page")
    library = folder / "library.yaml"
    library.write_text(LIBRARY)
    with served(folder / "store.db", str(library)) as (running, _):
        fill(running)
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def site(browser: Browser, server: Running) -> AsyncIterator[Site]:
    """The page, signed in as whoever `site.sign_in` names; whatever it complains about fails the test."""
    found = Site(browser, server)
    yield found
    await found.close()
    assert found.complaints == []
