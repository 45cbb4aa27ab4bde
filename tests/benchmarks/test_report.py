"""The page that figures are written into."""

from pathlib import Path

import pytest

from benchmarks.report import PAGE, write_section


def test_a_section_is_replaced_and_the_rest_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a -->\nold\n<!-- /a -->\nbetween\n<!-- b -->\n<!-- /b -->\n")
    for text in ("first\n", "new\n"):
        write_section("a", text, page)
    assert page.read_text() == "before\n<!-- a -->\n\nnew\n\n<!-- /a -->\nbetween\n<!-- b -->\n<!-- /b -->\n"


def test_a_page_without_the_section_is_left_as_it_is(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- a -->\nno end\n")
    with pytest.raises(ValueError, match="has no section <!-- a -->"):
        write_section("a", "new\n", page)
    assert page.read_text() == "<!-- a -->\nno end\n"


@pytest.mark.parametrize("name", ["measured", "peers", "where", "growth"])
def test_the_page_has_every_section(name: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text())
    write_section(name, "here it is\n", page)
    assert f"<!-- {name} -->\n\nhere it is\n\n<!-- /{name} -->\n" in page.read_text()
