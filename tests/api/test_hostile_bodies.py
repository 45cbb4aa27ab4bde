"""Bodies with more problems than can be told: the answer is small, and says the first of them."""

import json

import httpx2
import pytest

from tests.api.listed import code

LARGEST_ANSWER = 64 * 1024
BODIES = {
    "numbers instead of runs": ("runs/actions", b'{"action": "cancel", "runs": [' + b"1," * 300_000 + b"1]}"),
    "fields that there are not": ("runs", json.dumps({f"k{n}": 1 for n in range(60_000)}).encode()),
    "keys that are there twice": (
        "runs",
        b'{"input": {' + b",".join(b'"%d":1' % (n // 2) for n in range(60_000)) + b"}}",
    ),
    "what are no numbers": ("runs", b'{"input": [' + b"NaN," * 150_000 + b"1]}"),
    "numbers that are too large": ("runs", b'{"input": [' + b"99999999999999999999," * 40_000 + b"1]}"),
    "half characters": ("runs", b'{"input": [' + b'"\\ud800",' * 100_000 + b"1]}"),
    "a name that is long": ("runs", json.dumps({"workflow": "x" * 1_000_000}).encode()),
    "a list of names": ("runs", json.dumps({"workflow": ["x"] * 200_000}).encode()),
}


@pytest.mark.parametrize(("path", "body"), BODIES.values(), ids=BODIES)
def test_however_many_problems_a_body_has_the_answer_is_small(client: httpx2.Client, path: str, body: bytes) -> None:
    answer = client.post(f"/v1/{path}", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 404)
    assert code(answer)[1] in ("bad_argument", "bad_json", "unknown_workflow")
    assert len(answer.content) < LARGEST_ANSWER
