"""A process is killed while a model streams; `python -m tests.crash.sweep` does it with every protocol."""

import pytest

from tests.crash.streamed import problems_of_streams


@pytest.mark.long
async def test_a_stream_that_a_crash_cut_is_made_again_once_and_leaves_nothing() -> None:
    assert await problems_of_streams(["openai"]) == []
