"""What stops a night, and what is one file's own failure.

A file can bring about no more than an import that fails: that is a finding, by the class of its
error alone, because a message could hold a value. What no file can bring about ends the night, and
the next one goes on where it stopped: a full disk and every other error of the system, a store that
is gone, held, damaged or of another version, a setting, an engine, a network.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.errors import (
    CardoffersError,
    ConfigurationError,
    EngineFailed,
    FileUnusable,
    Interrupted,
    NetworkFailure,
    NoSpace,
    NoStore,
    NotFound,
    Refused,
    StoreBusy,
    StoreDamaged,
    StoreVersion,
)
from cardoffers_cli.kernel.words.findings import unusable

if TYPE_CHECKING:
    from collections.abc import Iterator

_FAULTS = (
    *(ConfigurationError, EngineFailed, Interrupted, NetworkFailure, NoSpace, NoStore),
    *(StoreBusy, StoreDamaged, StoreVersion),
)
_FORESEEN = (FileUnusable, NotFound, Refused)
_OF_THE_DISK = frozenset({"IOException"})
"""What DuckDB raises when it cannot read or write, which is files of ours only."""
_FULL_OR_BROKEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})


def failure_of(error: Exception) -> CardoffersError:
    """Return what an error says of the file that was worked on; raise it if it says more."""
    if isinstance(error, _FORESEEN):
        return error
    if isinstance(error, OSError) or any(map(_is_fault, _chain(error))):
        raise error
    kind = type(error.__cause__ or error).__name__
    return unusable("import_failed", f"The import ended in an error that nobody foresaw ({kind}).")


def _is_fault(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _FULL_OR_BROKEN
    return isinstance(error, _FAULTS) or type(error).__name__ in _OF_THE_DISK


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it came of: a full disk often ends as an error of something else."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
