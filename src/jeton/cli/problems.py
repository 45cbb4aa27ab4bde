"""Errors from below, of SQLite and of the operating system, as refusals that say what to do."""

import errno
import resource

from jeton.model.codes import RefusalCode
from jeton.model.failure import Refused

FEW_FILES = 256
MAYBE_TOO_FEW_FILES: frozenset[RefusalCode] = frozenset({"no_store", "store_failed", "too_many_files"})


def refusal_of(error: Exception) -> Refused | None:
    """The refusal for an error that is not a bug; None for any other."""
    if isinstance(error, Refused):
        return _with_limit(error)
    if type(error).__module__.split(".")[0] == "apsw":  # by name, because apsw need not be loaded
        return _with_limit(_of_sqlite(error))
    if isinstance(error, OSError):
        return _with_limit(_of_system(error))
    return None


def _of_sqlite(error: Exception) -> Refused:
    match type(error).__name__:
        case "CorruptError" | "NotADBError":
            problem = f"the store is damaged: {error}"
            return Refused("store_damaged", problem, "see what `jeton verify` finds, and restore a backup")
        case "FullError":
            return Refused("store_full", f"the disk is full: {error}", "make room, and try again")
        case name:
            return Refused(
                "store_failed", f"the store could not be used: {name}: {error}", "check the disk and the path"
            )


def _of_system(error: OSError) -> Refused:
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return Refused("too_many_files", f"no more files can be opened: {error}", "close other programs")
    return Refused("os_error", f"the operating system refused: {error}", "check the path, who may use it, and the disk")


def _with_limit(refused: Refused) -> Refused:
    """Name the limit on open files where it may be the cause: SQLite does not say why it cannot open a file."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if refused.code not in MAYBE_TOO_FEW_FILES or not 0 <= limit < FEW_FILES:
        return refused
    few = f"this process may open only {limit} files: raise the limit with `ulimit -n 1024`"
    return Refused(refused.code, refused.problem, f"{refused.remedy}; {few}")
