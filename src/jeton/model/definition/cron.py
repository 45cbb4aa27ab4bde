"""Cron lines of five fields: minute, hour, day of month, month, day of week."""

import re
from collections.abc import Mapping
from datetime import date

import msgspec

ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MONTHS = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
    "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
WEEKDAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
LONGEST_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
PART = re.compile(r"(?P<all>\*)?(?P<first>\w+)?(?:-(?P<last>\w+))?(?:/(?P<step>\d{1,4}))?", re.ASCII)


class BadCron(Exception):
    """A text that is not a cron line: the problem and a remedy."""

    def __init__(self, problem: str, remedy: str) -> None:
        self.problem, self.remedy = problem, remedy
        super().__init__(f"{problem} ({remedy})")


class Cron(msgspec.Struct, frozen=True):
    """A parsed cron line. Weekdays count from Sunday, 0, to Saturday, 6."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool  # both kinds of day are restricted, and either may match

    @property
    def every_hour(self) -> bool:
        """Whether it fires in every hour, and so follows elapsed time rather than the hour on the clock."""
        return len(self.hours) == 24

    def on(self, day: date) -> bool:
        """Whether it fires on this day."""
        if day.month not in self.months:
            return False
        by_month, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return by_month or by_week if self.either_day else by_month and by_week


class _Field(msgspec.Struct, frozen=True):
    name: str
    least: int
    most: int
    names: Mapping[str, int] = {}


FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, MONTHS),
    _Field("day of week", 0, 7, WEEKDAYS),
)


def parse_cron(text: str) -> Cron:
    """Parse a cron line. Raises BadCron if it is malformed or can never fire."""
    line = text.strip().lower()
    if line.startswith("@") and line not in ALIASES:
        raise BadCron(f"there is no '{line}'", f"write one of {', '.join(ALIASES)}")
    parts = ALIASES.get(line, line).split()
    if len(parts) != len(FIELDS):
        names = ", ".join(field.name for field in FIELDS)
        raise BadCron(f"has {len(parts)} fields, and a cron line has five", f"write {names}: '30 6 * * mon-fri'")
    minutes, hours, days, months, weekdays = (_values(part, f) for part, f in zip(parts, FIELDS, strict=True))
    cron = Cron(
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=frozenset(days),
        months=frozenset(months),
        weekdays=frozenset(day % 7 for day in weekdays),
        either_day=not parts[2].startswith("*") and not parts[4].startswith("*"),
    )
    if not cron.either_day and min(days) > max(LONGEST_MONTHS[month - 1] for month in months):
        raise BadCron(f"never fires: no such month has a day {min(days)}", "write a day that the months have")
    return cron


def _values(text: str, field: _Field) -> set[int]:
    found: set[int] = set()
    for part in text.split(","):
        found |= _stretch(part, field)
    return found


def _stretch(part: str, field: _Field) -> set[int]:
    """The values of `*`, `5` or `1-5`, each with an optional step; `5/15` is every fifteenth from 5 on."""
    read = PART.fullmatch(part)
    if read is None or (read["all"] is None) == (read["first"] is None) or (read["all"] and read["last"]):
        wanted = f"a number from {field.least} to {field.most}, '*', '1-5', '*/15', or several with commas"
        raise BadCron(f"the {field.name} '{part}' is none", f"write {wanted}")
    first, last = field.least, field.most
    if read["first"] is not None:
        first = _number(read["first"], field)
        last = _number(read["last"], field) if read["last"] else field.most if read["step"] else first
    if last < first:
        raise BadCron(f"the {field.name} '{part}' ends before it begins", f"write '{first}-{field.most}' and a comma")
    step = int(read["step"] or 1)
    if step == 0:
        raise BadCron(f"the {field.name} '{part}' has a step of 0", "write a step of 1 or more")
    return set(range(first, last + 1, step))


def _number(text: str, field: _Field) -> int:
    value = field.names.get(text, int(text) if text.isdigit() and len(text) <= 4 else -1)
    if not field.least <= value <= field.most:
        names = f" or one of {', '.join(field.names)}" if field.names else ""
        raise BadCron(f"there is no {field.name} '{text}'", f"write a number from {field.least} to {field.most}{names}")
    return value
