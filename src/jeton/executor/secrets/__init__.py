"""Secrets: named in definitions, resolved when a call needs them, and kept out of everything that leaves."""

from jeton.executor.secrets.logs import RedactingFilter, redacted_logs
from jeton.executor.secrets.redactor import Redactor, TextStream
from jeton.executor.secrets.secrets import NO_SECRETS, Secrets, SecretStore
from jeton.executor.secrets.source import SecretRef, SecretUnavailable

__all__ = [
    "NO_SECRETS",
    "RedactingFilter",
    "Redactor",
    "SecretRef",
    "SecretStore",
    "SecretUnavailable",
    "Secrets",
    "TextStream",
    "redacted_logs",
]
