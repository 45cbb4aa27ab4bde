"""The page on HTTP is as the table of routes has it."""

from jeton.api.routes.table import ROUTES
from tests.docs.http_api import PAGE, http_api_page


def test_the_page_is_made_from_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == http_api_page(), "run make docs"


def test_every_route_is_on_the_page() -> None:
    page = http_api_page()
    for route in ROUTES:
        assert f"**`{route.method} {route.path}`**" in page
        assert route.summary.endswith("."), route.path
        assert len(route.summary) < 130, route.path
