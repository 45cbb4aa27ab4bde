"""Consecutive creations become one decision; order is kept; anything between them splits the batch."""

import pytest

from jeton.apply.batch import batch_creations
from jeton.model.decision import CreateToken, CreateTokens, Decision, RouteToken
from jeton.model.ids import TokenId

A, B, C = (CreateToken(TokenId(i), "n", "root") for i in range(3))
OTHER = RouteToken(TokenId(9), "n", "completed")


@pytest.mark.parametrize(
    ("decisions", "then"),
    [
        pytest.param([A, B, C], [CreateTokens((A, B, C))], id="three in a row are one"),
        pytest.param(
            [A, OTHER, B, C], [A, OTHER, CreateTokens((B, C))], id="another decision between splits the batch"
        ),
        pytest.param([A], [A], id="a single one stays as it is"),
        pytest.param([OTHER], [OTHER], id="others are left alone"),
        pytest.param([], [], id="nothing is nothing"),
    ],
)
def test_batching(decisions: list[Decision], then: list[Decision]) -> None:
    assert batch_creations(decisions) == then
