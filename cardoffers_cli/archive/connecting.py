"""A session of Spark: of Spark Connect, answered within seconds or given up, or of spark-submit.

Left alone the client tries for ten minutes to reach a server, and for ever one that accepts a
connection and says nothing. What it raises becomes one of our errors: its own texts may quote data,
and are not passed on.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from cardoffers_cli.kernel.words.errors import EngineFailed, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client import DefaultChannelBuilder

HERE = "session"
"""Named in the place of an address: the session of the process itself."""
UNREACHABLE = "engine_unreachable"
_THEIRS = {"grpc", "py4j", "pyspark"}
_GONE = {"UNAVAILABLE", "DEADLINE_EXCEEDED"}
_EXTRA = {"google", "grpc", "grpc_status", "numpy", "pandas", "pyspark"}
_ANSWER_S = 10
_RETRIES: Mapping[str, Any] = {  # five seconds in all: a server that restarts has lost the session
    "max_retries": 6,
    "initial_backoff": 100,
    "backoff_multiplier": 2.0,
    "max_backoff": 2000,
    "jitter": 100,
}
_CHANNEL = [
    # Says that a server is gone which never closed the connection. Servers turn away who asks more
    # often than every five minutes.
    ("grpc.keepalive_time_ms", 300_000),
    ("grpc.keepalive_timeout_ms", 20_000),
]


def connect(url: str) -> tuple[SparkSession, str]:
    """Return a session at `sc://host:port`, and its endpoint as it may be shown.

    Raises `EngineFailed` where nobody answers, and `UsageError` for an address that is none.
    """
    builder = _builder(url)
    endpoint = f"sc://{builder.endpoint}"
    from pyspark.sql.connect import session as connect_session  # noqa: PLC0415 - heavy, and an extra
    from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415 - the same

    with guarded(endpoint):
        _await_answer(builder, endpoint)
        session = connect_session.SparkSession(builder)
        session.client.set_retry_policies([DefaultPolicy(**_RETRIES)])
        return cast("SparkSession", session), endpoint  # the same methods, by a class of its own


def session_here() -> SparkSession:
    """Return the session of this process, as spark-submit or a notebook made it."""
    with _extra_named():
        from pyspark.sql import SparkSession  # noqa: PLC0415 - heavy, and an extra
    with guarded(HERE):
        return SparkSession.builder.getOrCreate()


def disconnect(session: SparkSession, *, release: bool) -> None:
    """End a session of `connect`; with `release` the server is told, if it still answers."""
    session.release_session_on_close = release  # type: ignore[attr-defined]
    session.stop()


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
    status = getattr(error, "getGrpcStatusCode", None) or getattr(error, "code", None)
    if callable(status) and status().name in _GONE:
        return _unreachable(endpoint)
    condition = getattr(error, "getCondition", lambda: None)()
    return EngineFailed(
        f"The engine at {endpoint} failed ({condition or type(error).__name__}).",
        hint="Nothing of this was kept: look into the engine's log, then run it again.",
        endpoint=endpoint,
    )


def _unreachable(endpoint: str) -> EngineFailed:
    """Return the error of an engine that nothing is heard of."""
    return EngineFailed(
        f"The engine at {endpoint} cannot be reached.",
        code=UNREACHABLE,
        hint="Look whether it runs and lets this machine in, then run it again.",
        endpoint=endpoint,
    )


def _builder(url: str) -> DefaultChannelBuilder:
    with _extra_named():
        from pyspark.errors import PySparkValueError  # noqa: PLC0415 - heavy, and an extra
        from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415 - the same
    try:
        return DefaultChannelBuilder(url, _CHANNEL)
    except (PySparkValueError, ValueError):
        # The address itself is not repeated: it may hold a token.
        raise UsageError(
            "This is no address of an engine.", hint="Give it as sc://host:port."
        ) from None


@contextmanager
def _extra_named() -> Iterator[None]:
    """Say which extra is missing, where one of its packages is."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of newer versions of its own packages
            yield
    except ImportError as missing:
        if missing.name and missing.name.partition(".")[0] not in _EXTRA:
            raise
        raise UsageError(
            "An engine needs the extra spark.",
            code="extra_missing",
            hint="pip install 'cardoffers-cli[spark]'",
        ) from None


def _await_answer(builder: DefaultChannelBuilder, endpoint: str) -> None:
    """Wait until a server speaks HTTP/2 there."""
    import grpc  # noqa: PLC0415 - heavy, and an extra

    channel = builder.toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=_ANSWER_S)
    except grpc.FutureTimeoutError:
        raise _unreachable(endpoint) from None
    finally:
        channel.close()
