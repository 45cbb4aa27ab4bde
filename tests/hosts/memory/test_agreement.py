"""Whatever is written and asked, nobody finds what is not theirs, and every store finds the same."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from jeton.executor.memory import Hit, InMemoryStore, Memory, MemoryScope, MemoryStore, NewMemory, Query
from jeton.hosts.sqlite import SqliteHost

SCOPES = (
    MemoryScope("bob"),
    MemoryScope("ann"),
    MemoryScope("bob", "user", "u1"),
    MemoryScope("bob", "user", "u2"),
    MemoryScope("bob", "user", None),
    MemoryScope("bob", "user", ""),
)
WORDS = ("Oslo", "tea", "the", "é", "東京", "ﬁ", "x_y", "bob", "u1", "place", "words")
OPERATORS = (
    *("AND", "OR", "NOT", "NEAR", "NEAR(", ")", "(", '"', '""', "'", "*", "^", "+", "-", ":", "place :", "words:"),
    *("{", "}", "\\", "%", ";", "--", "\0"),
)

Write: TypeAlias = tuple[MemoryScope, str, str]
Played: TypeAlias = tuple[list[list[Hit]], list[list[Memory]]]

texts = st.lists(st.sampled_from((*WORDS, *OPERATORS)) | st.text(st.characters(codec="utf-8"), max_size=6), max_size=8)
sentences = texts.map(" ".join) | texts.map("".join)
writes = st.lists(st.tuples(st.sampled_from(SCOPES), st.sampled_from(["fact", "wish"]), sentences), max_size=12)


@settings(max_examples=60, deadline=None)
@given(writes, st.lists(sentences, min_size=1, max_size=4), st.sets(st.integers(0, 11)))
def test_nobody_finds_what_is_not_theirs_and_stores_agree(
    written: list[Write], queries: list[str], deleted: set[int]
) -> None:
    asyncio.run(_compare(written, queries, deleted))


async def _compare(written: Sequence[Write], queries: Sequence[str], deleted: set[int]) -> None:
    with TemporaryDirectory() as folder:
        host = await SqliteHost.open(Path(folder) / "store.db", workers=None, durability="normal", clock=lambda: 0)
        try:
            in_memory = await _play(InMemoryStore(lambda: 0), written, queries, deleted)
            in_sqlite = await _play(host.memory, written, queries, deleted)
        finally:
            await host.close(0.0)
    assert in_sqlite == in_memory


async def _play(store: MemoryStore, written: Sequence[Write], queries: Sequence[str], deleted: set[int]) -> Played:
    for number, (scope, type, content) in enumerate(written):
        done = await store.write(NewMemory(f"r:{number}:1:s", scope, type, content))
        if number in deleted:
            await store.delete(scope, [done.id])
    hits: list[list[Hit]] = []
    lists: list[list[Memory]] = []
    for scope in SCOPES:
        mine = {content for owner, _, content in written if owner == scope}
        lists.append(await store.list(scope))
        for query in queries:
            hits.append(await store.search(Query(scope, query)))
            hits.append(await store.search(Query(scope, query, type="fact")))
            found = [hit.memory for hit in (*hits[-1], *hits[-2])]
            assert {memory.content for memory in found} <= mine
            assert all(memory in lists[-1] for memory in found)
    return hits, lists
