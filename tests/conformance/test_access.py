"""Keys, sessions and saved queries, on every host."""

from collections.abc import AsyncGenerator

import msgspec
import pytest

from jeton.actor.access.keys import ApiKey, SavedQuery, Session
from jeton.actor.access.store import AccessStore
from tests.conformance.hosts import postgres, simulated, sqlite

HOSTS = [
    pytest.param(sqlite, id="sqlite"),
    pytest.param(postgres, id="postgres"),
    pytest.param(simulated, id="simulated"),
]
CI = ApiKey("key00001", "hash 1", "ci, 'nightly' 🌙", ("read", "run"), "anna", 10, 1_000)
ADMIN = ApiKey("key00002", "hash 2", "admin", ("admin",), None, 20)


@pytest.fixture(params=HOSTS)
async def access(request: pytest.FixtureRequest) -> AsyncGenerator[AccessStore, None]:
    async with request.param() as opened:
        yield opened.engine.access


async def test_keys_are_listed_as_they_were_added_oldest_first(access: AccessStore) -> None:
    assert await access.keys() == []
    for key in (CI, ADMIN):
        await access.add_key(key)
    assert await access.keys() == [CI, ADMIN]


async def test_a_revoked_key_stays_on_the_list_and_keeps_its_first_time(access: AccessStore) -> None:
    for key in (CI, ADMIN):
        await access.add_key(key)
    revoked = msgspec.structs.replace(CI, revoked_at=30)
    assert await access.revoke_key(CI.id, 30) == revoked
    assert await access.revoke_key(CI.id, 40) == revoked
    assert await access.revoke_key("key00003", 30) is None
    assert await access.keys() == [revoked, ADMIN]


async def test_sessions_end_with_their_key_and_no_others(access: AccessStore) -> None:
    for key in (CI, ADMIN):
        await access.add_key(key)
    own, another = Session("cookie 1", CI.id, 50, 90), Session("cookie 2", ADMIN.id, 50, 90)
    for session in (own, another):
        await access.add_session(session)
    assert await access.sessions() == [own, another]
    await access.revoke_key(CI.id, 60)
    assert await access.sessions() == [another]


async def test_a_session_is_ended_once_and_others_stay(access: AccessStore) -> None:
    await access.add_key(CI)
    own, another = Session("cookie 1", CI.id, 50, 90), Session("cookie 2", CI.id, 50, 90)
    for session in (own, another):
        await access.add_session(session)
    for _ in range(2):
        await access.end_session(own.hash)
    assert await access.sessions() == [another]


async def test_a_new_session_removes_those_that_have_expired_by_then(access: AccessStore) -> None:
    await access.add_key(CI)
    old, still = Session("cookie 1", CI.id, 50, 90), Session("cookie 2", CI.id, 50, 91)
    new = Session("cookie 3", CI.id, 90, 130)
    for session in (old, still, new):
        await access.add_session(session)
    assert await access.sessions() == [still, new]


async def test_queries_are_saved_replaced_and_removed_by_name(access: AccessStore) -> None:
    for query in (SavedQuery("b", "x", 1), SavedQuery("a", "y", 2), SavedQuery("b", "z", 3)):
        await access.save_query(query)
    assert await access.queries() == [SavedQuery("a", "y", 2), SavedQuery("b", "z", 3)]
    assert [await access.remove_query("b") for _ in range(2)] == [True, False]
    assert await access.queries() == [SavedQuery("a", "y", 2)]


async def test_a_reader_finds_its_last_place_and_no_other_readers(access: AccessStore) -> None:
    assert await access.place("telemetry") is None
    for place in ("p1", "p2"):
        await access.keep_place("telemetry", place)
    assert (await access.place("telemetry"), await access.place("sink")) == ("p2", None)
