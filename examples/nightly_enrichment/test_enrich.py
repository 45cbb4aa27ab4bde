"""A night costs what it used, and ends when there is nothing left."""

from pathlib import Path

import companies as companies  # its functions register themselves
import yaml

import jeton

ENRICH = Path(__file__).with_name("enrich.yaml")


def test_a_night_is_paid_for(tmp_path: Path) -> None:
    with jeton.open_sync(tmp_path / "runs.db") as engine:
        engine.deploy(ENRICH)
        firing = engine.fire("night", delivery_id="monday")
        again = engine.fire("night", delivery_id="monday")
        engine.idle()
        assert firing.run_id is not None
        assert again.run_id == firing.run_id
        assert engine.get(firing.run_id).output == {"enriched": 3, "people": 1700}
        assert engine.credits().balance == 100 - 3 * 4


def test_an_account_that_is_used_up_ends_the_night(tmp_path: Path) -> None:
    library = yaml.safe_load(ENRICH.read_text())
    library["project"]["settings"]["credits"]["balance"] = 6
    with jeton.open_sync(tmp_path / "runs.db") as engine:
        engine.deploy(library)
        assert engine.start("enrich").result().status == "exhausted"
        left = engine.credits().balance
        assert left is not None
        assert left >= 0
