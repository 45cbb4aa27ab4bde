"""References to definitions: what can be read, and how it is written again."""

import pytest

from jeton.model.failure import Refused
from jeton.model.reference import Reference, name_of, parse_reference


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        pytest.param("panel", Reference("panel"), id="a name alone has no version"),
        pytest.param("panel@1", Reference("panel", 1), id="a name with its first version"),
        pytest.param("panel@999999999999999999", Reference("panel", 999999999999999999), id="a version of 18 digits"),
        pytest.param("", Reference(""), id="a name is not checked"),
    ],
)
def test_a_reference_is_read_and_written(text: str, reference: Reference) -> None:
    assert parse_reference(text) == reference
    assert str(reference) == text
    assert name_of(text) == reference.name


@pytest.mark.parametrize(
    "version", ["", "0", "01", "-1", "1.0", "v1", "1 ", "٣", "1@2", "9" * 19, "9" * 5000], ids=lambda v: repr(v[:20])
)
def test_what_follows_the_at_sign_is_a_version(version: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_reference(f"panel@{version}")
    assert refused.value.code == "bad_reference"
    assert refused.value.remedy == "write 'panel' or 'panel@3'"
