"""Scenarios of runs and of conversations through a server: its client shows what the engine shows.

All of those in which people act, in which runs call, fire or pay, and one in five of the others, which differ in what
is planned and not in what is seen. All of them: `make served`. None of those in which somebody has to act before a
timer rings."""

import os
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio

from tests.conformance.case import Case
from tests.conformance.play import play
from tests.conformance.served import Listening, listening, served
from tests.conformance.talk import TalkCase, play_talk
from tests.conformance.talks.test_talks import ROWS as TALK_ROWS
from tests.conformance.talks.test_talks import check_talk
from tests.conformance.test_scenarios import ROWS, check_outcome

ALL = os.environ.get("JETON_SERVED") == "all"
ONE_IN = 5


def _is_seen(case: Case | TalkCase) -> bool:
    if isinstance(case, TalkCase):
        return bool(case.acts)
    return bool(case.acts or case.triggers or case.others or case.overrides or case.credits is not None)


def _hurries(case: Case | TalkCase) -> bool:
    return isinstance(case, Case) and case.hurries


def _chosen(rows: list[Any]) -> list[Any]:
    """The rows, each of which is a parameter with one case."""
    chosen = [row for number, row in enumerate(rows) if ALL or number % ONE_IN == 0 or _is_seen(row.values[0])]
    return [row for row in chosen if not _hurries(row.values[0])]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def listens() -> AsyncGenerator[Listening, None]:
    async with listening() as found:
        yield found


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case", _chosen(ROWS))
async def test_scenario_through_a_server(case: Case, listens: Listening) -> None:
    async with served(listens) as opened:
        outcome = await play(case, opened)
    check_outcome(case, outcome)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case", _chosen(TALK_ROWS))
async def test_talk_through_a_server(case: TalkCase, listens: Listening) -> None:
    async with served(listens) as opened:
        seen = await play_talk(case, opened)
    check_talk(case, seen)
