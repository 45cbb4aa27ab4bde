"""A secret that must never be found in anything the suite writes.

Every test about secrets uses it, and `tests/conftest.py` looks for it in all that a whole run of the suite left.
"""

import base64
from collections.abc import Iterator
from pathlib import Path

CANARY = "-".join(("canary", "c8f1", "never", "to", "be", "seen"))  # in pieces, so that this file is none of the finds

FORMS = (CANARY.encode(), base64.b64encode(CANARY.encode())[:-4], CANARY.encode().hex().encode())


def found_in(folder: Path) -> Iterator[Path]:
    """The files in which it stands, plain or encoded."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            if any(form in content for form in FORMS):
                yield path
