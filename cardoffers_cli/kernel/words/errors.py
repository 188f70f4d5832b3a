"""The errors a run can end with: each has a stable code, a message and what to do next.

Bad input is data (findings); a bad run is one of these exceptions. The doors translate the class to
an exit code (`kernel/cli/exits.py`) or an HTTP status. The class docstring is the default message.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def _words_of(slice_: str) -> Mapping[str, Mapping[str, str]]:
    import tomllib  # noqa: PLC0415  only what ends in an error needs it
    from importlib.resources import files  # noqa: PLC0415

    text = files("cardoffers_cli").joinpath(slice_, "errors.toml").read_text("utf-8")
    return tomllib.loads(text)


class CardoffersError(Exception):
    """The run could not go on."""

    code = "error"

    def __init_subclass__(cls, code: str = "") -> None:
        cls.code = code or cls.code

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

    @classmethod
    def from_table(cls, slice_: str, code: str, **values: Any) -> Self:
        """Return the error with a code in the words of the slice's `errors.toml`.

        The values stand where the words name them, an attribute of one as `{owner.name}`.
        """
        words = _words_of(slice_)[code]
        hint = words.get("hint")
        text = words["text"].format(**values)
        return cls(text, code=code, hint=None if hint is None else hint.format(**values))


class UsageError(CardoffersError, code="usage"):
    """The command was not given what it needs."""


NO_TEXT = "A word that was given is no text in UTF-8."
"""What a program is told that was given bytes of another encoding, or half a character."""


class Refused(CardoffersError, code="refused"):
    """The operation is not allowed in this state."""


class NotFound(CardoffersError, code="not_found"):
    """There is no such thing."""


class NoStore(CardoffersError, code="store_missing"):
    """There is no store here yet."""


class StoreBusy(CardoffersError, code="store_busy"):
    """Another process holds the store."""


class StoreVersion(CardoffersError, code="store_version"):
    """The store was made by another version."""


class StoreDamaged(CardoffersError, code="store_damaged"):
    """The store cannot be read."""


class ConfigurationError(CardoffersError, code="configuration"):
    """The configuration is not valid."""


class FileUnusable(CardoffersError, code="file_unusable"):
    """The file cannot be read at all; nothing of it was taken."""

    def of(self, name: str) -> FileUnusable:
        """Return the error with the name of the file in front, unless its message has it."""
        message = self.message if name in self.message else f"{name}: {self.message}"
        return type(self)(message, code=self.code, hint=self.hint, **self.details)


class FileRefused(FileUnusable, code="file_refused"):
    """The file could be read, and may not be taken; nothing of it was."""


class NetworkFailure(CardoffersError, code="network"):
    """The network could not be reached."""


class EngineFailed(CardoffersError, code="engine_failed"):
    """The engine failed."""


class NoSpace(CardoffersError, code="no_space"):
    """There is no space left on the disk."""


class Interrupted(CardoffersError, code="interrupted"):
    """The work was broken off."""


def history_failure(kind: str, url: str | None = None) -> NetworkFailure:
    """Return the error for an exception of that kind, met where the history is kept."""
    where = f"The history at {url}" if url else "The history"
    if kind in {"PermissionError", "NoCredentialsError", "CredentialRetrievalError"}:
        return NetworkFailure.from_table("kernel/words", "history_denied", where=where)
    if kind == FileNotFoundError.__name__:
        return NetworkFailure.from_table("kernel/words", "history_not_found", where=where)
    return NetworkFailure.from_table("kernel/words", "history_unreachable", where=where, kind=kind)
