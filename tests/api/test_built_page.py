"""The built page: it is that of the sources, it is small, and it is served as a browser needs it. No Node is needed."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from jeton.api.state import Settings
from tests.api.server import Running, serving, serving_in_thread
from tools.page import DOCUMENT, install, run_tool
from tools.page_stamp import BUILT, stamp_of
from tools.page_types import document_text

KB = 1000
ASSETS = BUILT / "assets"
LOADED = re.compile(r"(?:src|href)=\"/(assets/[\w.-]+)\"")
# what the first view takes besides index.html and what it names
FIRST_VIEW = ("Runs.js", "Runs.css", "Plot.js", "chart.js", "chart.css")
# chunks that are loaded only when they are needed
LATER = {"forms.js": 110, "editor.js": 110}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving_in_thread(tmp_path_factory.mktemp("page") / "store.db") as found:
        yield found


def size_of(*files: Path) -> int:
    return sum(len(gzip.compress(file.read_bytes(), 9, mtime=0)) for file in files)


def test_the_built_page_is_that_of_its_sources() -> None:
    built = json.loads((BUILT / "stamp.json").read_text())["sources"]
    assert built == stamp_of(), "ui/ has changed since the page was built: run `make page`, and commit what it wrote"


def test_the_types_of_the_page_are_those_of_the_routes() -> None:
    assert DOCUMENT.read_text() == document_text(), "routes have changed: run `make page`, and commit what it wrote"


def test_the_page_is_small() -> None:
    index = BUILT / "index.html"
    named = {BUILT / path for path in LOADED.findall(index.read_text())}
    first = {index, *named, *(ASSETS / name for name in FIRST_VIEW)}
    assert size_of(*first) <= 220 * KB
    assert not {ASSETS / name for name in LATER} & first
    sizes = {name: size_of(ASSETS / name) for name in LATER if (ASSETS / name).exists()}
    assert {name: size for name, size in sizes.items() if size > LATER[name] * KB} == {}


@pytest.mark.long
def test_building_again_gives_the_same_bytes(tmp_path: Path) -> None:
    """What is committed is what the sources come to, on this machine too."""
    install()
    assert run_tool("vite", "build", "--outDir", str(tmp_path / "page"), "--emptyOutDir") == 0
    built = {path.relative_to(BUILT).as_posix(): path.read_bytes() for path in BUILT.rglob("*") if path.is_file()}
    again = {path.relative_to(tmp_path / "page").as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert again == set(built) - {"stamp.json"}
    assert [name for name in sorted(again) if (tmp_path / "page" / name).read_bytes() != built[name]] == []


async def test_the_page_is_served_with_its_policy_and_a_nonce_of_its_own(running: Running) -> None:
    first, second = await running.ask("GET", "/"), await running.ask("GET", "/")
    assert first.status == 200
    assert first.headers["content-type"] == "text/html; charset=utf-8"
    assert first.headers["cache-control"] == "no-store"
    nonces = {re.findall(rb'property="csp-nonce" nonce="([\w-]+)"', each.body)[0] for each in (first, second)}
    assert len(nonces) == 2
    nonce = re.findall(rb'property="csp-nonce" nonce="([\w-]+)"', first.body)[0].decode()
    policy = first.headers["content-security-policy"]
    assert f"style-src 'self' 'nonce-{nonce}'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert first.headers["x-content-type-options"] == "nosniff"
    assert b'name="jeton-door" content="key"' in first.body
    assert b"needs JavaScript" in first.body
    assert b"__" not in first.body


async def test_assets_are_kept_by_the_browser_for_as_long_as_they_are_the_same(running: Running) -> None:
    plain = await running.ask("GET", "/assets/index.js")
    assert (plain.status, plain.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert plain.headers["cache-control"] == "no-cache"
    assert plain.body == (ASSETS / "index.js").read_bytes()
    packed = await running.ask("GET", "/assets/index.js", headers=[("Accept-Encoding", "br, gzip")])
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    again = await running.ask("GET", "/assets/index.js", headers=[("If-None-Match", plain.headers["etag"])])
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == plain.headers["etag"]


@pytest.mark.parametrize(
    "path", ["/assets/none.js", "/assets/../index.html", "/assets/%2e%2e/stamp.json", "/assets/a/b"]
)
async def test_nothing_else_is_served_as_an_asset(running: Running, path: str) -> None:
    answer = await running.ask("GET", path)
    assert (answer.status, answer.code) == (404, "unknown_path")


async def test_a_server_without_keys_tells_the_page_so(tmp_path: Path) -> None:
    async with serving(tmp_path / "store.db", Settings(no_auth=True)) as running:
        assert b'name="jeton-door" content="open"' in (await running.ask("GET", "/")).body
