"""Processes that a test starts and kills."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


def child(*words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start `python -m tests.hosts.child …`, with its output as a pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.hosts.child", *words],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        text=True,
    )


def line(process: subprocess.Popen[str]) -> list[str]:
    """The words of its next line of output."""
    assert process.stdout is not None
    return process.stdout.readline().split()


def kill(process: subprocess.Popen[str]) -> list[list[str]]:
    """Kill it as `kill -9` does. Returns the rest of its output."""
    process.kill()
    assert process.stdout is not None
    said = [spoken.split() for spoken in process.stdout.read().splitlines()]
    process.stdout.close()
    process.wait()
    return said
