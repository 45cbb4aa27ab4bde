"""What every store of memories does, in memory and in SQLite."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from jeton.executor.memory import Memory, MemoryScope, NewMemory, Source, Written
from jeton.executor.memory.contents import INLINE_BYTES, MAX_BYTES, PREVIEW_LENGTH
from jeton.model.failure import Refused
from tests.executor.memory.given import ANN, BEGIN_MS, BOB, DAY_MS, KINDS, Bench, Time, of_user, opened

ALL = MemoryScope("bob", "all")


@pytest.fixture(params=KINDS)
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Bench]:
    time = Time()
    async with opened(request.param, tmp_path, time) as store:
        yield Bench(store, time)


# writing


async def test_what_was_written_is_read_with_all_that_was_said_of_it(bench: Bench) -> None:
    source = Source("c1", 3, tainted=True)
    written = await bench.write(
        "Anna lives in Oslo", of_user("u1"), significance=0.9, metadata={"b": [1, None], "a": "x"}, source=source
    )
    assert not written.known
    assert await bench.store.read(of_user("u1"), written.id) == Memory(
        id=written.id,
        agent="bob",
        type="fact",
        content="Anna lives in Oslo",
        significance=0.9,
        created_at=BEGIN_MS,
        updated_at=BEGIN_MS,
        metadata={"b": [1, None], "a": "x"},
        source=source,
        user="u1",
        scope="user",
    )


async def test_what_one_call_writes_is_written_once(bench: Bench) -> None:
    first = await bench.write("Anna lives in Oslo", key="k")
    assert await bench.write("Anna lives in Oslo", key="k") == first
    assert await bench.write("something else", key="k") == first, "the key says which call it was"
    assert await bench.listed() == ["Anna lives in Oslo"]


async def test_a_call_that_is_repeated_after_its_memory_was_deleted_writes_nothing(bench: Bench) -> None:
    first = await bench.write("Anna lives in Oslo", key="k")
    await bench.store.delete(BOB, [first.id])
    assert await bench.write("Anna lives in Oslo", key="k") == first
    assert await bench.listed() == []


@pytest.mark.parametrize(
    ("scope", "type", "content", "known"),
    [
        pytest.param(BOB, "fact", "Anna lives in Oslo", True, id="the same type and content is known"),
        pytest.param(BOB, "wish", "Anna lives in Oslo", False, id="another type is not"),
        pytest.param(BOB, "fact", "Anna lives in Oslo.", False, id="nor is other content"),
        pytest.param(ANN, "fact", "Anna lives in Oslo", False, id="nor what another agent knows"),
        pytest.param(of_user("u1"), "fact", "Anna lives in Oslo", False, id="nor what another scope has"),
    ],
)
async def test_known(bench: Bench, scope: MemoryScope, type: str, content: str, known: bool) -> None:
    first = await bench.write("Anna lives in Oslo")
    second = await bench.write(content, scope, type=type)
    assert (second.known, second.id == first.id) == (known, known)
    assert len(await bench.listed(scope)) == (1 if known or scope != BOB else 2)


# superseding


async def test_what_is_superseded_can_be_read_and_is_not_found(bench: Bench) -> None:
    old = await bench.write("Anna lives in Oslo")
    bench.time.now += DAY_MS
    new = await bench.write("Anna lives in Bergen", supersedes=old.id)
    assert not new.known
    assert await bench.found("Anna lives") == ["Anna lives in Bergen"]
    assert await bench.found("Oslo") == []
    assert await bench.listed() == ["Anna lives in Bergen"]
    assert await bench.listed(superseded=True) == ["Anna lives in Bergen", "Anna lives in Oslo"]
    read = await bench.store.read(BOB, old.id)
    assert read is not None
    assert (read.superseded_by, read.created_at, read.updated_at) == (new.id, BEGIN_MS, BEGIN_MS + DAY_MS)


async def test_what_was_superseded_is_not_known_and_can_be_true_again(bench: Bench) -> None:
    oslo = await bench.write("Anna lives in Oslo")
    bergen = await bench.write("Anna lives in Bergen", supersedes=oslo.id)
    again = await bench.write("Anna lives in Oslo", supersedes=bergen.id)
    assert not again.known
    assert again.id != oslo.id
    assert await bench.listed() == ["Anna lives in Oslo"]


async def test_a_known_memory_can_supersede_another(bench: Bench) -> None:
    one, other = await bench.write("Anna lives in Oslo"), await bench.write("Anna lives in Bergen")
    assert await bench.write("Anna lives in Bergen", supersedes=one.id) == Written(other.id, known=True)
    assert await bench.listed() == ["Anna lives in Bergen"]


async def test_a_memory_does_not_supersede_itself(bench: Bench) -> None:
    one = await bench.write("Anna lives in Oslo")
    assert await bench.write("Anna lives in Oslo", supersedes=one.id) == Written(one.id, known=True)
    assert await bench.listed() == ["Anna lives in Oslo"]


async def test_what_supersedes_is_written_with_what_it_supersedes_or_not_at_all(bench: Bench) -> None:
    theirs = await bench.write("Anna lives in Oslo", ANN)
    old = await bench.write("Anna lives in Oslo")
    new = await bench.write("Anna lives in Bergen", supersedes=old.id)
    for id, code in (("mnone", "unknown_memory"), (theirs.id, "unknown_memory"), (old.id, "memory_superseded")):
        with pytest.raises(Refused) as refused:
            await bench.write("Anna lives in Rome", supersedes=id)
        assert refused.value.code == code
    assert new.id in refused.value.problem, "it says which one to supersede instead"
    assert await bench.listed() == ["Anna lives in Bergen"]
    assert await bench.listed(ANN) == ["Anna lives in Oslo"]


# searching


async def test_the_memory_with_more_and_rarer_words_of_the_query_is_first(bench: Bench) -> None:
    for content in ("Anna likes tea", "Anna likes the sea at Oslo", "Anna has a dog", "Ben lives in Oslo"):
        await bench.write(content)
    assert (await bench.found("Does Anna like Oslo, or the dog?"))[0] == "Anna likes the sea at Oslo"
    assert await bench.found("dog") == ["Anna has a dog"]
    assert await bench.found("cat") == []
    assert await bench.found("") == []


async def test_significance_and_recency_decide_between_equals(bench: Bench) -> None:
    await bench.write("Anna likes red", significance=0.1)
    await bench.write("Anna likes blue", significance=1.0)
    assert await bench.found("Anna") == ["Anna likes blue", "Anna likes red"]
    bench.time.now += 60 * DAY_MS
    await bench.write("Anna likes green", significance=0.9)
    assert await bench.found("Anna") == ["Anna likes green", "Anna likes blue", "Anna likes red"]


async def test_scores_are_told(bench: Bench) -> None:
    await bench.write("Anna likes red", significance=0.25)
    bench.time.now += 30 * DAY_MS
    (hit,) = await bench.hits("ANNA!")
    assert (hit.scores.significance, hit.scores.recency, hit.scores.vector) == (0.25, 0.5, None)
    assert hit.scores.text == pytest.approx(1 / 2.2, abs=1e-5), "one word of one, in a memory of the usual length"
    assert hit.scores.total == pytest.approx(hit.scores.text * (2 + 0.25 + 0.5) / 4, abs=1e-5)


async def test_a_search_has_a_limit_and_a_type(bench: Bench) -> None:
    for number in range(5):
        await bench.write(f"Anna said {number}", type="fact" if number % 2 else "wish")
    assert len(await bench.found("Anna", limit=3)) == 3
    assert sorted(await bench.found("Anna", type="fact")) == ["Anna said 1", "Anna said 3"]
    assert await bench.found("Anna", type="other") == []


@pytest.mark.parametrize(
    ("content", "query"),
    [
        pytest.param("Café au lait", "CAFE", id="accents and case"),
        pytest.param("Straße", "strasse", id="sharp s"),
        pytest.param("ﬁne", "FINE", id="ligatures"),
        pytest.param("私は東京に住んでいます", "東京", id="Japanese, which has no spaces"),
        pytest.param("안녕하세요 세계", "세계", id="Korean"),
        pytest.param("नमस्ते दुनिया", "दुनिया", id="Hindi, with marks"),
        pytest.param("Ελλάδα", "ελλαδα", id="Greek"),
        pytest.param("snake_case-words", "case", id="punctuation"),
        pytest.param("x" * 100, "x" * 100, id="a word that is too long"),
    ],
)
async def test_words_of_all_scripts_are_found(bench: Bench, content: str, query: str) -> None:
    await bench.write(content)
    assert await bench.found(query) == [content]


@pytest.mark.parametrize(
    "query",
    [
        '"', "'", '""', "AND", "a AND", "NOT", "NEAR(", "*", "oslo*", "words:", "place : x", "(", ")", "-", "^", "{}",
        "a OR NOT b", "\0", "%", ";drop table memories", "words : oslo", '" OR place : "a', "+", "\\",
    ],
)  # fmt: skip
async def test_operators_of_a_query_are_words(bench: Bench, query: str) -> None:
    await bench.write("nothing of that sort")
    await bench.write("what is AND, OR, NOT and NEAR, and a drop of place words", ANN)
    assert set(await bench.found(query)) <= {"nothing of that sort"}


async def test_a_search_for_a_word_that_nearly_all_have_finds_the_rest_of_the_query(bench: Bench) -> None:
    texts = [f"the {number}" for number in range(1300)]
    await asyncio.gather(*map(bench.write, [*texts[:200], "the whale", *texts[200:]]))
    assert (await bench.found("the whale", limit=2))[0] == "the whale"


# listing


async def test_a_list_is_read_page_by_page(bench: Bench) -> None:
    for number in range(5):
        await bench.write(str(number))
    found: list[str] = []
    after: str | None = None
    while page := await bench.store.list(BOB, after=after, limit=2):
        found += [memory.content for memory in page]
        after = page[-1].id
    assert found == ["4", "3", "2", "1", "0"]
    assert await bench.listed(type="other") == []
    assert await bench.listed(after="mnone") == []


# long content


async def test_long_content_is_found_by_its_first_part_and_read_whole(bench: Bench) -> None:
    content = "Whales sing. " + "filler " * 2000 + "The end is near."
    assert len(content) > INLINE_BYTES
    written = await bench.write(content)
    (hit,) = await bench.hits("whales")
    assert hit.memory.content == content[:PREVIEW_LENGTH]
    assert hit.memory.artifact is not None
    assert hit.memory.artifact.size == len(content)
    assert await bench.found("near") == []
    read = await bench.store.read(BOB, written.id)
    assert read is not None
    assert read.content == content
    assert await bench.write(content) == Written(written.id, known=True)
    assert [memory.content async for memory in bench.store.export(BOB)] == [content]
    await bench.store.delete(BOB, [written.id])
    assert await bench.found("whales") == []


async def test_content_is_bounded(bench: Bench) -> None:
    with pytest.raises(Refused) as refused:
        await bench.write("é" * (MAX_BYTES // 2 + 1))
    assert refused.value.code == "memory_too_large"
    assert await bench.listed() == []


# deleting


async def test_what_is_deleted_is_gone_and_where_it_was_told_is_said(bench: Bench) -> None:
    kept = await bench.write("Anna likes tea")
    gone = await bench.write("Anna lives in Oslo", source=Source("c1", 2))
    deleted = await bench.store.delete(BOB, [gone.id, "mnone"])
    assert [(each.id, each.conversations) for each in deleted] == [(gone.id, ("c1",))]
    assert await bench.store.delete(BOB, [gone.id]) == []
    assert await bench.store.read(BOB, gone.id) is None
    assert await bench.found("Oslo Anna") == ["Anna likes tea"]
    assert [memory.id async for memory in bench.store.export(BOB)] == [kept.id]
    assert not (await bench.write("Anna lives in Oslo")).known, "it may be learned again"


async def test_what_superseded_can_be_deleted_without_bringing_back_the_old(bench: Bench) -> None:
    old = await bench.write("Anna lives in Oslo")
    new = await bench.write("Anna lives in Bergen", supersedes=old.id)
    await bench.store.delete(BOB, [new.id])
    assert await bench.found("Anna") == []
    await bench.store.delete(BOB, [old.id])
    assert await bench.listed(superseded=True) == []


# scopes


async def test_nobody_sees_the_memories_of_others(bench: Bench) -> None:
    scopes = [BOB, ANN, of_user("u1"), of_user("u2"), of_user(None), of_user("u1", "ann"), of_user("")]
    for scope in scopes:
        await bench.write(f"a secret of {scope.agent} {scope.of} {scope.user}", scope)
    for scope in scopes:
        mine = f"a secret of {scope.agent} {scope.of} {scope.user}"
        assert await bench.found("a secret of bob ann u1 u2 user agent None") == [await _only(bench, BOB)]
        assert await bench.found("a secret of bob ann u1 u2 user agent None", scope) == [mine]
        assert await bench.listed(scope) == [mine]
        assert [memory.content async for memory in bench.store.export(scope)] == [mine]
        for other in scopes:
            (theirs,) = await bench.store.list(other)
            seen = await bench.store.read(scope, theirs.id)
            assert (seen is not None) == (scope == other)
            if scope != other:
                assert await bench.store.delete(scope, [theirs.id]) == []


async def _only(bench: Bench, scope: MemoryScope) -> str:
    (memory,) = await bench.store.list(scope)
    return memory.content


async def test_a_score_tells_nothing_of_what_others_remember(bench: Bench) -> None:
    await bench.write("Anna lives in Oslo")
    await bench.write("Ben lives in Rome")
    before = await bench.hits("Anna lives")
    for number in range(20):
        await bench.write(f"Anna {number}", of_user(f"u{number}"))
        await bench.write(f"lives {number}", ANN)
    assert await bench.hits("Anna lives") == before


async def test_those_who_look_after_an_agent_see_all_of_it(bench: Bench) -> None:
    for scope in (BOB, of_user("u1"), of_user(None), ANN):
        await bench.write(f"it {scope.agent} {scope.of} {scope.user}", scope)
    mine = {"it bob agent None", "it bob user u1", "it bob user None"}
    assert set(await bench.found("it", ALL)) == mine
    assert set(await bench.listed(ALL)) == mine
    (memory, *_) = await bench.store.list(ALL, limit=1)
    assert len(await bench.store.delete(ALL, [memory.id])) == 1


async def test_an_agent_that_is_not_deployed_has_no_policy(bench: Bench) -> None:
    assert await bench.store.policy("bob") is None


async def test_new_memories_are_plain_values() -> None:
    assert NewMemory("k", BOB, "fact", "x").significance == 0.5
