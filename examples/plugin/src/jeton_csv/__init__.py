"""`csv`: the rows of a CSV text. The fields of the class are the keys allowed under `implementation`."""

import csv
import io
from collections.abc import Iterator

from jeton.plugins import ActionCall, ActionFailed, ActionHandler, Json, Kind, KindProblem

MAX_ROWS = 10_000

__all__ = ["Csv"]


class Csv(Kind, frozen=True):
    """Reads `text` from the input; gives `{rows}`, objects with the names in the first line as keys."""

    delimiter: str = ","
    columns: tuple[str, ...] = ()

    def problems(self) -> Iterator[KindProblem]:
        """Called when a definition is checked, after its shape."""
        if len(self.delimiter) != 1:
            yield KindProblem("delimiter", f"has {len(self.delimiter)} characters", 'write one character, such as ";"')

    def prepare(self) -> ActionHandler:
        async def act(call: ActionCall) -> Json | ActionFailed:
            text = call.input.get("text") if isinstance(call.input, dict) else None
            if not isinstance(text, str):
                return ActionFailed("input_invalid", "needs 'text', a string")
            rows: list[Json] = []
            for row in csv.DictReader(io.StringIO(text), delimiter=self.delimiter, restkey="rest"):
                if len(rows) == MAX_ROWS:
                    return ActionFailed("too_large", f"the text has more than {MAX_ROWS} rows")
                missing = [column for column in self.columns if row.get(column) is None]
                if missing:
                    return ActionFailed("bad_row", f"row {len(rows) + 1} has no {', '.join(missing)}")
                rows.append({str(name): value for name, value in row.items()})
            return {"rows": rows}

        return act
