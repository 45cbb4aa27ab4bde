"""`csv`: the rows of a CSV text. A whole plugin: the fields are what an author may write under `implementation`."""

import csv
import io
from collections.abc import Iterator

from jeton.executor import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem
from jeton.model.codes import CustomFailure
from jeton.model.json import Json

MOST_ROWS = 10_000

__all__ = ["Csv"]


class Csv(Kind, frozen=True):
    """Reads `text` from the input; gives `{rows}`, each an object with the first line's names as keys."""

    delimiter: str = ","
    columns: tuple[str, ...] = ()

    def problems(self) -> Iterator[KindProblem]:
        """Asked for at load, after the shape has been looked at; nothing is run."""
        if len(self.delimiter) != 1:
            yield KindProblem("delimiter", f"has {len(self.delimiter)} letters", 'write one letter, such as ";"')

    def prepare(self) -> ActionHandler:
        async def act(call: ActionCall) -> Json | ActionFailed:
            text = call.input.get("text") if isinstance(call.input, dict) else None
            if not isinstance(text, str):
                return ActionFailed("input_invalid", "needs 'text'")
            rows: list[Json] = []
            for row in csv.DictReader(io.StringIO(text), delimiter=self.delimiter, restkey="rest"):
                if len(rows) == MOST_ROWS:
                    return ActionFailed("too_large", f"the text has more than {MOST_ROWS} rows, which is the most")
                missing = [column for column in self.columns if row.get(column) is None]
                if missing:
                    return ActionFailed(CustomFailure("bad_row"), f"row {len(rows) + 1} has no {', '.join(missing)}")
                rows.append({str(name): value for name, value in row.items()})
            return {"rows": rows}

        return act
