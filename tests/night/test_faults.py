"""What is one file's own failure, and what is nobody's and stops the night."""

from __future__ import annotations

import errno

import duckdb
import pytest

from cardoffers_cli.kernel.words.errors import (
    CardoffersError,
    ConfigurationError,
    EngineFailed,
    FileUnusable,
    NetworkFailure,
    NoSpace,
    NotFound,
    Refused,
    StoreBusy,
    StoreDamaged,
)
from cardoffers_cli.night.findings import failure_of


def of(cause: Exception) -> CardoffersError:
    """Return an error of the store with its cause, as the store raises it."""
    error = CardoffersError("The store refused a statement.", code="store_error")
    error.__cause__ = cause
    return error


def meanwhile(context: Exception) -> Exception:
    """Return an error that came of another one."""
    error = ValueError("it ends early")
    error.__context__ = context
    return error


@pytest.mark.parametrize(
    ("error", "code", "named"),
    [
        (FileUnusable(code="file_corrupt"), "file_corrupt", ""),
        (Refused(code="plan_not_allowed"), "plan_not_allowed", ""),
        (NotFound(code="institution_not_found"), "institution_not_found", ""),
        (ZeroDivisionError("a value"), "import_failed", "ZeroDivisionError"),
        (MemoryError("a value"), "import_failed", "MemoryError"),
        (RecursionError("a value"), "import_failed", "RecursionError"),
        (of(duckdb.ConstraintException("a value")), "import_failed", "ConstraintException"),
        (of(duckdb.OutOfMemoryException("a value")), "import_failed", "OutOfMemoryException"),
        (of(duckdb.ConversionException("a value")), "import_failed", "ConversionException"),
        (meanwhile(KeyError("a value")), "import_failed", "ValueError"),
        (meanwhile(FileNotFoundError(2, "a value")), "import_failed", "ValueError"),
    ],
)
def test_what_a_file_can_bring_about_is_its_own(error: Exception, code: str, named: str) -> None:
    failure = failure_of(error)
    assert code == failure.code
    assert named in failure.message
    assert "a value" not in failure.message


@pytest.mark.parametrize(
    "error",
    [
        NoSpace(),
        StoreBusy(),
        StoreDamaged(),
        ConfigurationError(),
        EngineFailed(),
        NetworkFailure(),
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EIO, "Input/output error"),
        of(duckdb.IOException("Could not write")),
        meanwhile(OSError(errno.ENOSPC, "No space left on device")),
    ],
)
def test_what_no_file_can_bring_about_stops_the_night(error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        failure_of(error)
    assert error is raised.value
