"""What stops a night, and what is one file's own failure.

A file can bring about no more than an import that fails: that is a finding, by the class of its
error alone, because a message could hold a value. What no file can bring about ends the night, and
the next one goes on where it stopped: a full disk and every other error of the system, a store that
is gone, held, damaged or of another version, a setting, an engine, a network.
"""

from __future__ import annotations

from cardoffers_cli.domain.errors import (
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
from cardoffers_cli.files.sources import unusable

_FAULTS = (
    *(ConfigurationError, EngineFailed, Interrupted, NetworkFailure, NoSpace, NoStore),
    *(OSError, StoreBusy, StoreDamaged, StoreVersion),
)
_FORESEEN = (FileUnusable, NotFound, Refused)


def failure_of(error: Exception) -> CardoffersError:
    """Return what an error says of the file that was worked on; raise it if it says more."""
    if isinstance(error, _FAULTS):
        raise error
    if isinstance(error, _FORESEEN):
        return error
    kind = type(error.__cause__ or error).__name__
    return unusable("import_failed", f"The import ended in an error that nobody foresaw ({kind}).")
