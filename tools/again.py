"""Run the tests that failed a second time, one after another: `python -m tools.again`, after a run of pytest.

Tests with real processes, browsers and timers can fail on a machine that stands still for a moment. A few that pass
alone do not fail the run, but each is named: it is a test to mend. More than a few, or one that fails again, do.
"""

import json
import subprocess
import sys
from pathlib import Path

FAILED = Path(__file__).parent.parent / ".pytest_cache/v/cache/lastfailed"
MOST = 6


def main() -> int:
    """Run them. Returns the exit code."""
    try:
        failed = sorted(json.loads(FAILED.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        failed = []
    if not 0 < len(failed) <= MOST:
        print(f"{len(failed)} tests failed: only 1 to {MOST} are run again", file=sys.stderr)
        return 1
    found = subprocess.run([sys.executable, "-m", "pytest", "-n", "0", *failed], check=False).returncode
    if found == 0:
        print("PASSED ONLY WHEN RUN AGAIN, each a test to mend:", *failed, sep="\n  ")
    return found


if __name__ == "__main__":
    sys.exit(main())
