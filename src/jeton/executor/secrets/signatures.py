"""Signatures of webhooks: over the body alone, or as Standard Webhooks has them, over id, time and body."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping

OF_BODY = ("x-jeton-signature", "x-hub-signature-256")
STANDARD = ("webhook-id", "webhook-timestamp", "webhook-signature")
DELIVERIES = ("x-jeton-delivery", "x-github-delivery")
ENCODED = "whsec_"  # what follows is the secret in base64
TOLERANCE_S = 5 * 60


def fits(secret: str, body: bytes, headers: Mapping[str, str], now_s: int) -> bool:
    """Whether a request was signed with the secret. Names of headers are in lower case.

    A signature over the body alone is looked at first; if there is one, it must fit, whatever else there is."""
    given = next((headers[name] for name in OF_BODY if name in headers), None)
    if given is not None:
        wanted = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        return _same(wanted, given.strip())
    if is_standard(headers):
        return _fits_standard(secret, body, headers, now_s)
    return False


def is_standard(headers: Mapping[str, str]) -> bool:
    """Whether a request is signed as Standard Webhooks has it."""
    return not any(name in headers for name in OF_BODY) and all(headers.get(name) for name in STANDARD)


def delivery_in(headers: Mapping[str, str]) -> str | None:
    """The id that the sender gave the delivery.

    The id that a signature covers comes first: another header could be changed by whoever sends the request again."""
    if is_standard(headers):
        return headers["webhook-id"]
    return next((headers[name] for name in (*DELIVERIES, "webhook-id") if headers.get(name)), None)


def signing(headers: Mapping[str, str]) -> str:
    """How to sign, for whoever did not do so as it should be."""
    if is_standard(headers):
        return "webhook-signature: v1,… over id.timestamp.body, within five minutes of its timestamp,"
    return f"{OF_BODY[0]}: sha256=… over the body,"


def signed(secret: str, name: str, at_s: int, body: bytes) -> dict[str, str]:
    """The headers of a request that is signed as Standard Webhooks has it. Raises ValueError for a broken secret."""
    key = _key(secret)
    if key is None:
        raise ValueError(f"what follows {ENCODED} is not base64")
    return dict(zip(STANDARD, (name, str(at_s), _standard(key, name, str(at_s), body)), strict=True))


def _standard(key: bytes, name: str, at: str, body: bytes) -> str:
    made = hmac.new(key, f"{name}.{at}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(made).decode()


def _fits_standard(secret: str, body: bytes, headers: Mapping[str, str], now_s: int) -> bool:
    name, at, signatures = (headers[each] for each in STANDARD)
    if not (at.isascii() and at.isdigit() and len(at) <= 12) or abs(int(at) - now_s) > TOLERANCE_S:
        return False
    key = _key(secret)
    if key is None:
        return False
    wanted = _standard(key, name, at, body)
    return any(_same(wanted, given) for given in signatures.split(" "))


def _key(secret: str) -> bytes | None:
    if not secret.startswith(ENCODED):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(ENCODED), validate=True)
    except binascii.Error:
        return None


def _same(wanted: str, given: str) -> bool:
    """In a time that says nothing about how much of it is the same."""
    return hmac.compare_digest(wanted.encode(), given.encode())
