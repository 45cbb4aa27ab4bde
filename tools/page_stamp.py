"""Which sources the built page was made from: a hash over `ui/`, kept beside what was built."""

import hashlib
import json
from pathlib import Path

ROOT = Path(__file__).parent.parent
UI = ROOT / "ui"
BUILT = ROOT / "src" / "jeton" / "api" / "page"
# what changes a built file: not the tests, and not the types, which are gone once it is built
CONFIGURED = ("index.html", "package.json", "package-lock.json", "vite.config.ts", "tsconfig.json")


def sources() -> list[Path]:
    """The files that the built page depends on, in order."""
    found = [file for file in (UI / "src").rglob("*") if file.is_file() and not _leaves_no_trace(file)]
    return sorted([*found, *(UI / name for name in CONFIGURED)])


def stamp_of() -> str:
    """A hash over the sources: their names and bytes."""
    found = hashlib.sha256()
    for file in sources():
        found.update(file.relative_to(UI).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


def write_stamp() -> None:
    """Say what the built page was made from."""
    text = json.dumps({"sources": stamp_of()})
    (BUILT / "stamp.json").write_text(f"{text}\n", encoding="utf-8")


def _leaves_no_trace(file: Path) -> bool:
    return file.name.endswith((".test.ts", ".test.tsx", ".d.ts")) or file.name == "openapi.json"
