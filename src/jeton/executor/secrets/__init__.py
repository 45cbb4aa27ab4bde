"""Secrets: named in definitions, resolved when a call needs them, and kept out of everything that leaves."""

from jeton.executor.secrets.logs import RedactingFilter, redacted_logs
from jeton.executor.secrets.redactor import RedactingStream, Redactor
from jeton.executor.secrets.secrets import NO_SECRETS, ProjectSecrets, SecretStore
from jeton.executor.secrets.source import SecretRef, SecretUnavailable

__all__ = [
    "NO_SECRETS",
    "ProjectSecrets",
    "RedactingFilter",
    "RedactingStream",
    "Redactor",
    "SecretRef",
    "SecretStore",
    "SecretUnavailable",
    "redacted_logs",
]
