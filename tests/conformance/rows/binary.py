"""Bytes between functions: a run's state, its journal and its events have references, and functions have contents."""

from base64 import b64encode
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from tests.conformance.case import Case, Data, Outcome, to, workflow
from tests.conformance.flow_nodes import case, flow, node, wire
from tests.conformance.rows.flow import both, failed_with, outputs, statuses

SHEEP = b"sheep" * 100
TWO_PAGES = (b"page" * 2, b"page" * 3)


def reference(content: bytes) -> Data:
    id = f"sha256:{sha256(content).hexdigest()}"
    return {"id": id, "media_type": "application/octet-stream", "size": len(content)}


PICTURE = reference(SHEEP)
PAGES = [{"scan": reference(page)} for page in TWO_PAGES]
GONE = {**PICTURE, "id": f"sha256:{sha256(b'nobody has it').hexdigest()}"}
INLINE = b64encode(b"in text").decode()


def only_references(seen: Outcome) -> None:
    """Nothing of a content is in what the run left behind, neither as it is nor as text."""
    shown = seen.journal + msgspec.json.encode([seen.events, seen.output, seen.views])
    assert PICTURE["id"].encode() in shown
    for content in (b"sheepsheep", b"pagepage"):
        assert content not in shown
        for begin in range(3):
            assert b64encode(content[begin:])[:8] not in shown


def draws(type: str = "draws", **inputs: Any) -> Data:
    return flow(
        {"a": node(type, animal="sheep", times=100), "b": node("measures", **inputs)},
        wire("a", "b", "picture", "picture"),
        wire("a", "b", "pages", "pages"),
    )


def measures(picture: Any) -> Data:
    return flow({"b": node("measures", picture=picture)})


CASES = [
    case(
        "D17 one node makes a picture and the next measures it",
        draws(),
        output={
            "picture": PICTURE,
            "length": 500,
            "first": "sheep",
            "pages": [8, 12],
        },
        also=both(only_references, outputs(a={"picture": PICTURE, "pages": PAGES})),
    ),
    case(
        "D17 what a step made is kept as a reference, and given again as bytes",
        draws("draws_once"),
        output={"picture": PICTURE, "kind": "bytes", "length": 500, "first": "sheep", "pages": []},
        also=only_references,
    ),
    case(
        "D17 bytes may still be given as text",
        measures(INLINE),
        output={"length": 7, "first": "in te", "pages": []},
    ),
    case(
        "D17 an artifact that is not there fails the node that asks for it",
        measures(GONE),
        status="failed",
        error="not_found",
        also=both(statuses(b="failed"), failed_with("b", "input 'picture': there is no artifact 'sha256:")),
    ),
    case(
        "D17 an object that is no reference is no content",
        flow({"b": node("measures")}),
        overrides={"b": {"picture": {"id": "5", "size": 5}}},  # as a literal it is refused
        status="failed",
        error="input_invalid",
        also=failed_with("b", "input 'picture'"),
    ),
    Case(
        "D17 bytes in a token graph",
        workflow(
            {
                "a": {
                    "action": "draws",
                    "input_mapping": {"animal": "input.animal", "times": 100},
                    "output_mapping": {"state.p": "result"},
                },
                "b": {
                    "action": "measures",
                    "input_mapping": {"picture": "state.p.picture", "pages": "state.p.pages"},
                    "output_mapping": {"output.length": "result.length", "output.size": "state.p.picture.size"},
                },
            },
            to("a", "b"),
        ),
        {"animal": "sheep"},
        output={"length": 500, "size": 500},
        also=only_references,
    ),
]

ROWS = [pytest.param(case, id=case.id) for case in CASES]
