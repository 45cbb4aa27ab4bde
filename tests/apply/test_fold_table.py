from typing import get_args

from jeton.apply.fold_run import FOLDS
from jeton.model.decision import Decision


def test_every_decision_can_be_folded() -> None:
    assert set(FOLDS) == set(get_args(Decision))
