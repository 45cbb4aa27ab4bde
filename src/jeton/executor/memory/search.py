"""Rank the memories that a store has found for a query."""

from collections.abc import Iterable, Mapping, Sequence

from jeton.executor.memory.ranking import Statistics, scores, text_score
from jeton.executor.memory.store import Hit, Memory, Query

LEAST_SIMILARITY = 0.3  # of a memory that has no word of the query


def ranked(
    query: Query,
    candidates: Iterable[tuple[Memory, Sequence[str]]],
    found: Statistics,
    similar: Mapping[str, float],
    now: int,
) -> list[Hit]:
    """The best of some memories, each given with its words. `similar` is how close some are in meaning, by id."""
    hits: list[Hit] = []
    for memory, having in candidates:
        if memory.id == query.without:
            continue
        text = text_score(having, found)
        vector = similar.get(memory.id)
        if text > 0 or (vector is not None and vector >= LEAST_SIMILARITY):
            hits.append(Hit(memory, scores(text, vector, memory.significance, now - memory.updated_at)))
    hits.sort(key=lambda hit: (-hit.scores.total, -hit.memory.created_at, hit.memory.id))
    return hits[: query.limit]
