"""Search memories: the index finds those that have a word, and the rank is computed from them."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from jeton.executor.memory import Hit, Memory, MemoryScope, Query, Vector
from jeton.executor.memory.contents import agent_word, scope_word, type_word
from jeton.executor.memory.ranking import Statistics, query_words
from jeton.executor.memory.search import LEAST_SIMILARITY, ranked
from jeton.executor.memory.vectors import similarities
from jeton.hosts.sql.connection import Connection, Value
from jeton.hosts.sql.mirrors.memory.rows import MEMORY_COLUMNS, memory_of, within

MOST_CANDIDATES = 400
ROWS_PER_QUERY = 500


def search_memories(db: Connection, query: Query, now: int) -> list[Hit]:
    """The memories that answer a query best."""
    where, values = _searched(query)
    counted = {word: db.dialect.count_memories(db, _places(query), word) for word in query_words(query.text)}
    count, length = next(iter(db.execute(f"select count(*), sum(length) from memories where {where}", values)))
    vectors = {} if query.vector is None else _similar(db, query.vector, where, values)
    close = [number for number in sorted(vectors, key=vectors.__getitem__) if vectors[number] >= LEAST_SIMILARITY]
    chosen = {*_rarest(db, query, counted), *close[-MOST_CANDIDATES:]}
    candidates = list(_rows(db, chosen, query.scope))
    similar = {memory.id: vectors[number] for number, memory, _ in candidates if number in vectors}
    found = Statistics(count, length or 0, counted)
    return ranked(query, [(memory, words) for _, memory, words in candidates], found, similar, now)


def _searched(query: Query) -> tuple[str, tuple[Value, ...]]:
    """The condition that a memory is searched at all."""
    where, values = within(query.scope)
    if query.type is not None:
        where, values = f"{where} and type = ?", (*values, query.type)
    return f"{where} and superseded_by is null", values


def _places(query: Query) -> list[str]:
    """What the index is asked for besides a word: memories of the scope and the type."""
    scope = query.scope
    places = [agent_word(scope.agent) if scope.of == "all" else scope_word(scope)]
    return places if query.type is None else [*places, type_word(query.type)]


def _rarest(db: Connection, query: Query, counted: Mapping[str, int]) -> set[int]:
    """Memories that have the words that the fewest have, until there are enough: they decide the rank."""
    chosen: set[int] = set()
    for word in sorted(counted, key=counted.__getitem__):
        if len(chosen) < MOST_CANDIDATES:
            chosen.update(db.dialect.find_memories(db, _places(query), word, MOST_CANDIDATES))
    return chosen


def _similar(db: Connection, query: Vector, where: str, values: Sequence[Value]) -> dict[int, float]:
    """How close in meaning the memories are, by number."""
    select = f"select number, vector from memory_vectors join memories using(number) where model = ? and {where}"
    rows = db.execute(select, (query.model, *values))
    return similarities(query, [(number, Vector(query.model, vector)) for number, vector in rows])


def _rows(db: Connection, numbers: Collection[int], scope: MemoryScope) -> Iterator[tuple[int, Memory, list[str]]]:
    """Memories by number, each with its words."""
    where, values = within(scope)  # the index goes by hashes: what it finds is checked
    wanted = sorted(numbers)
    for first in range(0, len(wanted), ROWS_PER_QUERY):
        some = wanted[first : first + ROWS_PER_QUERY]
        marks = ", ".join("?" * len(some))
        query = f"select number, words, {MEMORY_COLUMNS} from memories where number in ({marks}) and {where}"
        for number, words, *row in db.execute(query, (*some, *values)):
            yield number, memory_of(tuple(row)), words.split(" ")
