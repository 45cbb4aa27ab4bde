"""The Chromium of the page's tests: `python -m tools.chromium` prints its path, and installs one if none is there.

Taken in this order: `$JETON_CHROMIUM`; one that is on the PATH; Debian's, installed with apt-get if this is root;
npm's `@sparticuz/chromium`, which needs no root.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.page import node, npm

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FOLDER = Path(__file__).parent.parent / ".venv" / "chromium"  # removed together with the environment
PACKAGE = "@sparticuz/chromium@153.0.0"
UNPACK = (
    "import('@sparticuz/chromium').then((found) => found.default.executablePath()).then((path) => console.log(path))"
)


def find() -> str | None:
    """The path of a Chromium that is there already."""
    if named := os.environ.get("JETON_CHROMIUM"):
        return named
    for name in NAMES:
        if found := shutil.which(name):
            return found
    kept = FOLDER / "path"
    if kept.exists() and Path(path := kept.read_text(encoding="utf-8").strip()).exists():
        return path
    return None


def find_or_install() -> str | None:
    """The path of a Chromium, after installing one if none is there. None: it could not be."""
    return find() or _by_apt() or _by_npm()


def _by_apt() -> str | None:
    if os.name != "posix" or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return None
    print("installing Debian's chromium for the tests of the page", file=sys.stderr, flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
    for command in (install, ["apt-get", "update", "-qq"], install):
        done = subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if command is install and done.returncode == 0:
            break
    return find()


def _by_npm() -> str | None:
    print("installing npm's chromium for the tests of the page", file=sys.stderr, flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "package.json").write_text('{"private": true, "type": "module"}\n', encoding="utf-8")
    if npm("install", "--no-audit", "--no-fund", "--loglevel=error", PACKAGE, folder=FOLDER, quiet=True) != 0:
        return None
    # it unpacks its libraries for the systems that it knows, and says nothing elsewhere
    told = subprocess.run(
        [str(node()), "--input-type=module", "-e", UNPACK], cwd=FOLDER, capture_output=True, text=True, check=False
    )
    path = told.stdout.strip().splitlines()[-1] if told.returncode == 0 and told.stdout.strip() else ""
    if not path or not Path(path).exists():
        return None
    kept = FOLDER / "chromium"
    shutil.copy2(path, kept)  # it unpacks into the folder for temporary files
    (FOLDER / "path").write_text(f"{kept}\n", encoding="utf-8")
    return str(kept)


if __name__ == "__main__":
    found = find_or_install()
    if found is None:
        print(
            "NO CHROMIUM: the tests of the page in a browser will be skipped. Name one with $JETON_CHROMIUM, or install"
            " it (Debian and Ubuntu: apt install chromium).",
            file=sys.stderr,
        )
        sys.exit(1 if os.environ.get("CI") == "true" else 0)
    print(found)
