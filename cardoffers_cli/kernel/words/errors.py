"""The errors a run can end with: each has a stable code, a message and what to do next.

Bad input is data (findings); a bad run is one of these exceptions. The doors translate the class to
an exit code (`kernel/cli/exits.py`) or an HTTP status. The class docstring is the default message.
"""

from __future__ import annotations

import inspect
from typing import Any


class CardoffersError(Exception):
    """The run could not go on."""

    code = "error"

    def __init__(
        self,
        message: str | None = None,
        *,
        code: str | None = None,
        hint: str | None = None,
        **details: Any,
    ) -> None:
        self.message = message or inspect.getdoc(type(self)) or ""
        self.code = code or type(self).code
        self.hint = hint
        self.details = details
        super().__init__(self.message)


class UsageError(CardoffersError):
    """The command was not given what it needs."""

    code = "usage"


class Refused(CardoffersError):
    """The operation is not allowed in this state."""

    code = "refused"


class NotFound(CardoffersError):
    """There is no such thing."""

    code = "not_found"


class NoStore(CardoffersError):
    """There is no store here yet."""

    code = "store_missing"


class StoreBusy(CardoffersError):
    """Another process holds the store."""

    code = "store_busy"


class StoreVersion(CardoffersError):
    """The store was made by another version."""

    code = "store_version"


class StoreDamaged(CardoffersError):
    """The store cannot be read."""

    code = "store_damaged"


class ConfigurationError(CardoffersError):
    """The configuration is not valid."""

    code = "configuration"


class FileUnusable(CardoffersError):
    """The file cannot be read at all; nothing of it was taken."""

    code = "file_unusable"

    def of(self, name: str) -> FileUnusable:
        """Return the error with the name of the file in front, unless its message has it."""
        message = self.message if name in self.message else f"{name}: {self.message}"
        return type(self)(message, code=self.code, hint=self.hint, **self.details)


class FileRefused(FileUnusable):
    """The file could be read, and may not be taken; nothing of it was."""

    code = "file_refused"


class NetworkFailure(CardoffersError):
    """The network could not be reached."""

    code = "network"


class EngineFailed(CardoffersError):
    """The engine failed."""

    code = "engine_failed"


class NoSpace(CardoffersError):
    """There is no space left on the disk."""

    code = "no_space"


class Interrupted(CardoffersError):
    """The work was broken off."""

    code = "interrupted"


def history_failure(kind: str, url: str | None = None) -> NetworkFailure:
    """Return the error for an exception of that kind, met where the history is kept."""
    where = f"The history at {url}" if url else "The history"
    if kind in {"PermissionError", "NoCredentialsError", "CredentialRetrievalError"}:
        return NetworkFailure(
            f"{where} may not be read or written with the credentials that were found.",
            code="history_denied",
            hint="Give them the right to list, read, write and delete there, then run it again: "
            "everything happens once.",
        )
    if kind == FileNotFoundError.__name__:
        return NetworkFailure(
            f"{where} is not there: there is no such bucket, or something in it is gone.",
            code="history_not_found",
            hint="Make the bucket, fix its name or bring back what is gone, then run it again.",
        )
    return NetworkFailure(
        f"{where} cannot be reached ({kind}).",
        code="history_unreachable",
        hint="Look at the network, the endpoint and the credentials, then run it again: everything "
        "happens once.",
    )
