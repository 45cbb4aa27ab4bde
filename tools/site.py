"""Builds the documentation into site/: `python -m tools.site`.

The pages lie in docs/ and link to each other, to examples and to files of the repository. A site has only pages, so
this copies all of it into build/site-pages first: files of code become pages with a block of code, and links follow.
MkDocs then checks every link strictly."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "site-pages"
LANGUAGES = {".yaml": "yaml", ".py": "python", ".toml": "toml", ".json": "json", ".service": "ini", "": "dockerfile"}
LEFT_OUT = ("__pycache__", "py.typed", ".db", ".lock")

# code comes first where it begins first: a link in code is none, and a link may have code in its text
_LINK = re.compile(r"`[^`\n]*`|(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^()\s]+)\)")
_CODE = re.compile(r"(^(?:```|~~~).*?^(?:```|~~~)\s*?$)", re.MULTILINE | re.DOTALL)


def sources() -> Iterator[Path]:
    """Every file that the site shows, from the root of the repository."""
    for folder in ("docs", "examples", "deploy"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not any(part.endswith(LEFT_OUT) for part in path.parts):
                yield path.relative_to(ROOT)
    yield from (
        Path(name) for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "RELEASING.md", "ui/README.md")
    )


def place_of(path: Path) -> str:
    """Where a file of the repository is in the site: docs/ is its root, and code is a page of its own."""
    text = path.as_posix()
    if text == "ui/README.md":
        return "project/ui.md"
    if len(path.parts) == 1:
        return f"project/{text}"
    place = text.removeprefix("docs/")
    return place if path.suffix in (".md", ".png", ".svg") else f"{place}.md"


def follow(text: str, path: Path, known: dict[str, str]) -> str:
    """The page with links as the site has them. What the site does not have is named and not linked."""

    def link(found: re.Match[str]) -> str:
        before, target = found.groups()
        if target is None or target.startswith("#") or re.match(r"[a-z]+:", target):
            return found[0]
        file, mark, anchor = target.partition("#")
        aimed = os.path.normpath(path.parent / file)
        place = known.get(aimed) or known.get(f"{aimed}/README.md")
        if place is None:
            return before[before.index("[") + 1 : -2]
        return f"{before}{os.path.relpath(place, Path(place_of(path)).parent)}{mark}{anchor})"

    parts = _CODE.split(text)
    return "".join(part if number % 2 else _LINK.sub(link, part) for number, part in enumerate(parts))


def prepare(pages: Path = PAGES) -> None:
    """Write the pages of the site into a folder, which is emptied first."""
    shutil.rmtree(pages, ignore_errors=True)
    known = {path.as_posix(): place_of(path) for path in sources() if (ROOT / path).exists()}
    for name, place in known.items():
        path, target = Path(name), pages / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in (".png", ".svg"):
            shutil.copyfile(ROOT / path, target)
        elif path.suffix == ".md":
            target.write_text(follow((ROOT / path).read_text(encoding="utf-8"), path, known), encoding="utf-8")
        else:
            code = (ROOT / path).read_text(encoding="utf-8").rstrip()
            language = LANGUAGES.get(path.suffix, "text")
            target.write_text(f"# {path.name}\n\n`{name}`\n\n````{language}\n{code}\n````\n", encoding="utf-8")


def main() -> int:
    """Build the site. Fails if a page links to nothing, or is not in the navigation."""
    prepare()
    return subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict"], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
