"""A secret that must never be found in anything the suite writes; see `tests/conftest.py`."""

CANARY = "-".join(("canary", "c8f1", "never", "to", "be", "seen"))
