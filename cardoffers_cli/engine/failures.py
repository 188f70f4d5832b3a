"""What Spark raises, as one of our errors: its own texts may quote data, and are not passed on."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import EngineFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

UNREACHABLE = "engine_unreachable"
_THEIRS = {"grpc", "py4j", "pyspark"}
_GONE = {"UNAVAILABLE", "DEADLINE_EXCEEDED"}
_LOUD = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Loggers that write failed statements to stderr, with what is in them."""


def silence() -> None:
    """Let the client write nothing to stderr of what it raises."""
    from pyspark.logger import PySparkLogger  # noqa: PLC0415 - heavy, and an extra

    for name in _LOUD:
        PySparkLogger.getLogger(name).disabled = True


@contextmanager
def guarded(endpoint: str) -> Iterator[None]:
    """Raise what the client of an engine raises as `EngineFailed`, named by the endpoint."""
    try:
        with warnings.catch_warnings(action="ignore"):  # what matters of them is raised in the end
            yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in _THEIRS:
            raise
        raise _ours(endpoint, error) from error


def _ours(endpoint: str, error: Exception) -> EngineFailed:
    """Return what an exception of a client means."""
    if _status(error) in _GONE:
        return unreachable(endpoint)
    condition = getattr(error, "getCondition", lambda: None)()
    return EngineFailed(
        f"The engine at {endpoint} failed ({condition or type(error).__name__}).",
        hint="Nothing of this was kept: look into the engine's log, then run it again.",
        endpoint=endpoint,
    )


def unreachable(endpoint: str) -> EngineFailed:
    """Return the error of an engine that nothing is heard of."""
    return EngineFailed(
        f"The engine at {endpoint} cannot be reached.",
        code=UNREACHABLE,
        hint="Look whether it runs and lets this machine in, then run it again.",
        endpoint=endpoint,
    )


def _status(error: Exception) -> str:
    """Return the gRPC status of an error; empty where it has none."""
    status = getattr(error, "getGrpcStatusCode", None) or getattr(error, "code", None)
    return status().name if callable(status) else ""
