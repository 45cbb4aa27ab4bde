"""Signatures of webhooks: what fits, and that nothing else does."""

import base64
import hashlib
import hmac
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.executor.secrets.signatures import delivery_in, fits, signed

# the example of the Standard Webhooks libraries
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"test": 2432232314}'
AT = 1614265330
STANDARD = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": str(AT),
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
PLAIN = "a plain secret"
OF_BODY = {"x-jeton-signature": "sha256=" + hmac.new(PLAIN.encode(), BODY, hashlib.sha256).hexdigest()}


def changed(**headers: str) -> Mapping[str, str]:
    return {**STANDARD, **{name.replace("_", "-"): value for name, value in headers.items()}}


def plainly(at: str = str(AT)) -> Mapping[str, str]:
    """Signed with a secret that is any text."""
    made = hmac.new(PLAIN.encode(), f"d1.{at}.".encode() + BODY, hashlib.sha256).digest()
    signature = "v1," + base64.b64encode(made).decode()
    return {"webhook-id": "d1", "webhook-timestamp": at, "webhook-signature": signature}


def test_what_is_sent_is_signed_as_other_libraries_sign() -> None:
    assert signed(SECRET, STANDARD["webhook-id"], AT, BODY) == STANDARD
    assert signed(PLAIN, "d1", AT, BODY) == plainly()
    with pytest.raises(ValueError, match="base64"):
        signed("whsec_?", "d1", AT, BODY)


@pytest.mark.parametrize(
    ("secret", "headers"),
    [
        pytest.param(SECRET, STANDARD, id="as other libraries sign"),
        pytest.param(SECRET, changed(webhook_signature=f"v1,AAAA v2,x {STANDARD['webhook-signature']}"), id="several"),
        pytest.param(PLAIN, plainly(), id="a secret without a prefix is its own bytes"),
        pytest.param(PLAIN, OF_BODY, id="over the body"),
        pytest.param(PLAIN, {"x-hub-signature-256": OF_BODY["x-jeton-signature"]}, id="over the body, of a hub"),
        pytest.param(PLAIN, {**STANDARD, **OF_BODY}, id="over the body, beside another"),
    ],
)
def test_a_signature_that_fits(secret: str, headers: Mapping[str, str]) -> None:
    assert fits(secret, BODY, headers, AT)


@pytest.mark.parametrize(
    ("secret", "headers"),
    [
        pytest.param(SECRET, {}, id="none"),
        pytest.param(SECRET, changed(webhook_id="msg_another"), id="of another delivery"),
        pytest.param(SECRET, changed(webhook_timestamp=str(AT + 1)), id="of another time"),
        pytest.param(SECRET, changed(webhook_signature=STANDARD["webhook-signature"][3:]), id="of no version"),
        pytest.param(SECRET, changed(webhook_signature="v1,"), id="empty"),
        pytest.param(SECRET, changed(webhook_signature="v1,é"), id="no base64"),
        pytest.param(SECRET, {k: v for k, v in STANDARD.items() if k != "webhook-id"}, id="without an id"),
        pytest.param(PLAIN, STANDARD, id="with another secret"),
        pytest.param("whsec_not base64", STANDARD, id="with a secret that cannot be read"),
        pytest.param(SECRET, {**STANDARD, "x-jeton-signature": "sha256=00"}, id="beside one that does not fit"),
        pytest.param(PLAIN, {"x-jeton-signature": OF_BODY["x-jeton-signature"][7:]}, id="without its kind"),
        pytest.param(PLAIN, plainly("１６１４２６５３３０"), id="a time in other digits"),
        pytest.param(PLAIN, plainly("-1614265330"), id="a negative time"),
        pytest.param(PLAIN, plainly("9" * 5000), id="a time of 5,000 digits"),
        pytest.param(PLAIN, plainly("nan"), id="no time"),
    ],
)
def test_a_signature_that_does_not_fit(secret: str, headers: Mapping[str, str]) -> None:
    assert not fits(secret, BODY, headers, AT)


@pytest.mark.parametrize(("away", "taken"), [(0, True), (300, True), (-300, True), (301, False), (-301, False)])
def test_a_request_is_taken_within_five_minutes(away: int, taken: bool) -> None:
    assert fits(SECRET, BODY, STANDARD, AT + away) is taken


@given(st.binary(max_size=60).filter(lambda body: body != BODY))
def test_a_signature_fits_no_other_body(body: bytes) -> None:
    assert not fits(SECRET, body, STANDARD, AT)
    assert not fits(PLAIN, body, OF_BODY, AT)


@pytest.mark.parametrize(
    ("headers", "delivery"),
    [
        ({}, None),
        ({"x-github-delivery": "g"}, "g"),
        ({"x-jeton-delivery": "j", "x-github-delivery": "g"}, "j"),
        ({"webhook-id": "w"}, "w"),
        ({**STANDARD, "x-jeton-delivery": "not signed"}, STANDARD["webhook-id"]),
        ({**STANDARD, **OF_BODY, "x-jeton-delivery": "j"}, "j"),
    ],
)
def test_the_id_of_a_delivery_is_the_one_that_was_signed_if_any_was(
    headers: Mapping[str, str], delivery: str | None
) -> None:
    assert delivery_in(headers) == delivery
