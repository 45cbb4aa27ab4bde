"""What a terminal shows after it was sent some text: lines, cursor movements up, and erased lines."""

import re

_PARTS = re.compile(r"\x1b\[\??([0-9;]*)([A-Za-z])|\x1b.|[\r\n]|[^\x1b\r\n]+")


def screen(sent: str) -> list[str]:
    """The lines on a terminal that is wide and high enough."""
    lines, row, column = [""], 0, 0
    for part in _PARTS.finditer(sent):
        text, count, command = part[0], part[1], part[2]
        if text == "\r":
            column = 0
        elif text == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif command == "A":
            row = max(row - int(count or 1), 0)
        elif command == "K":
            lines[row] = ""
        elif not text.startswith("\x1b"):
            here = lines[row].ljust(column)
            lines[row] = here[:column] + text + here[column + len(text) :]
            column += len(text)
    return [line.rstrip() for line in lines]
