"""Secrets: named in definitions, resolved when a call needs them, and redacted from all that an action returns."""

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
