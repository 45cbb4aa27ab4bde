"""Pages with sessions at a terminal: what a reader copies is run, and what is shown is what it prints.

A block with a title is a file that the reader saves: ```yaml title="shop.yaml". A `console` block has commands behind a
`$`, each with what it prints. `python -m tests.docs.session PAGE…` runs pages and writes down what was printed;
pages given together share a folder, as the parts of the tutorial do."""

import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

from tests.docs.markdown import ROOT

BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
DRAWN = re.compile(r"\b1[0-9a-z]{19}\b|\bjtn_[\w-]+|127\.0\.0\.1:\d+")
VARIES = [
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DAY"),
    (re.compile(r"\b\d\d:\d\d:\d\d\.\d+"), "TIME"),
    (re.compile(r"\b\d+(\.\d+)? (s|ms|min)\b"), "A WHILE"),
    (re.compile(r"\b\d+\.\d+s\b"), "A WHILE"),
    (re.compile(r" {2,}"), "  "),
    (re.compile(r" +$", re.MULTILINE), ""),
]
SEQUENCE = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])")


def settled(text: str) -> str:
    """A text without what is drawn or measured, so that two sessions can be compared."""
    for pattern, name in VARIES:
        text = pattern.sub(name, text)
    return DRAWN.sub(lambda found: "KEY" if found[0].startswith("jtn_") else "ID", text).strip()


def screen(printed: str) -> str:
    """What a terminal shows in the end: a live view writes over its lines."""
    lines, row, column, at = [""], 0, 0, 0
    while at < len(printed):
        sequence = SEQUENCE.match(printed, at)
        if sequence is not None:
            at = sequence.end()
            if sequence[2] == "A":
                row = max(0, row - int(sequence[1] or 1))
            elif sequence[2] == "K":
                lines[row] = ""
            continue
        sign, at = printed[at], at + 1
        if sign == "\r":
            column = 0
        elif sign == "\n":
            row, column = row + 1, 0
            if row == len(lines):
                lines.append("")
        else:
            lines[row] = lines[row][:column].ljust(column) + sign + lines[row][column + 1 :]
            column += 1
    return "\n".join(line.rstrip() for line in lines).rstrip()


@dataclass
class Session:
    """A folder, a terminal, and what ids and keys of the page are called here."""

    folder: Path
    bin: Path
    known: dict[str, str] = field(default_factory=dict[str, str])
    drawn: list[str] = field(default_factory=list[str])
    servers: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    def run(self, command: str) -> str:
        """Run a command as a reader would, and give what the terminal shows then."""
        for shown, here in self.known.items():
            command = command.replace(shown, here)
        serves = command.startswith("jeton serve ")
        if serves:  # a port that nobody has, since others may try this page too
            command = f"exec {command} --port 0"
        ours, theirs = pty.openpty()
        ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 60, 140, 0, 0))
        started = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self._environment(),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        if serves:
            self.servers.append(started)
        printed = b""
        while chunk := _read(ours):
            printed += chunk
            if serves and b"\n" in printed:
                break
        if not serves:
            os.close(ours)
            started.wait()
        return screen(printed.decode())

    def learn(self, shown: str, printed: str) -> None:
        """Note which of our ids stands for which of the page's."""
        for old, new in zip(DRAWN.findall(shown), DRAWN.findall(printed), strict=False):
            self.known.setdefault(old, new)
        self.drawn.extend(each for each in DRAWN.findall(printed) if each not in self.drawn)

    def close(self) -> None:
        """Stop the servers of the page."""
        for server in self.servers:
            server.send_signal(signal.SIGTERM)
            server.wait()

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("JETON_", "PYTEST_"))}
        path = f"{self.bin}{os.pathsep}{kept.get('PATH', '')}"
        return {**kept, "PATH": path, "TERM": "xterm", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # on Linux, the other side is closed
        return b""


@dataclass(frozen=True)
class Ran:
    """A command of a page, what the page shows, and what was printed."""

    command: str
    shown: str
    printed: str


def play(text: str, session: Session) -> tuple[str, list[Ran]]:
    """Save the files and run the commands of a page, in order. Gives the page as it should be, too."""
    ran: list[Ran] = []

    def run(found: re.Match[str]) -> str:
        command, shown = str(found[1]), str(found[2])
        for number, each in enumerate(session.drawn, 1):  # in a draft, @1 is the first id that was printed
            command = command.replace(f"@{number}", each)
        printed = session.run(command)
        session.learn(shown, printed)
        ran.append(Ran(command, shown, printed))
        if settled(shown) != settled(printed):
            shown = f"{printed}\n" if printed else ""
        return f"$ {command}\n{shown}"

    def block(found: re.Match[str]) -> str:
        language, title, content = found.groups()
        if title:
            target = session.folder / str(title)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(str(content), encoding="utf-8")
        elif language == "console":
            return found[0].replace(str(content), COMMAND.sub(run, str(content)))
        return found[0]

    return BLOCK.sub(block, text), ran


def record(pages: list[Path]) -> None:
    """Run pages in one folder, and write what was printed into them."""
    folder = Path(tempfile.mkdtemp())
    session = Session(folder, Path(sys.executable).parent)
    try:
        for page in pages:
            text, _ = play(page.read_text(encoding="utf-8"), session)
            page.write_text(text, encoding="utf-8")
    finally:
        session.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    record([ROOT / page for page in sys.argv[1:]])
