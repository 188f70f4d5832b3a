"""Starting and stopping: signals, and the thread that works behind the port."""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.routing import Router

from cardoffers_cli.contract.service import Service
from cardoffers_cli.http.access_log import AccessLog
from cardoffers_cli.http.door import Door
from cardoffers_cli.http.limits import Limits
from cardoffers_cli.http.listening import Place, listener_at, tls_of
from cardoffers_cli.http.protocol import HEAD_MOST_BYTES, STATE, Protocol, Shared
from cardoffers_cli.http.worker import Worker

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import AsyncIterator, Callable, Iterator
    from datetime import datetime

    from cardoffers_cli.jobs.job import Job

_KEEP_ALIVE_S = 15
_AFTERWARDS_S = 5
"""What a stop may take beyond the longest wait of a call that was taken in."""


class Server(uvicorn.Server):
    """uvicorn's server, which ends well when it is asked to end."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept, and say so."""
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGTERM and SIGINT; a second one does not wait for anybody.

        uvicorn raises the signal again when all is done, and the process would not end with 0.
        """
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        for number in before:
            signal.signal(number, self._stop)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, _number: int, _frame: Any) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


def serve(
    job: Job,
    place: Place,
    *,
    clock: Callable[[], datetime],
    log: Callable[[str], None],
    ready: Callable[[str, int], None],
    limits: Limits | None = None,
) -> None:
    """Answer requests until a signal says to stop; what was taken in is answered first.

    `log` takes the lines of the access log, from any thread; `ready` is told URL and port once
    connections are accepted. Raises `UsageError`, `ConfigurationError` or `NetworkFailure` where it
    cannot listen as it was told to.
    """
    tls = tls_of(place)
    with listener_at(place, is_plain=tls is None) as listener:
        port = listener.getsockname()[1]
        url = f"{'https' if tls else 'http'}://{place.host_in_url}:{port}"
        app = _app(job, clock, AccessLog(log), limits or Limits())
        config = _config(app, tls, stop_s=job.settings.request_wait_s + _AFTERWARDS_S)
        server = Server(config, lambda: ready(url, port))
        asyncio.run(server.serve([listener]))


def _app(job: Job, clock: Callable[[], datetime], log: AccessLog, limits: Limits) -> Router:
    service = Service(job, clock=clock, on_fault=log.fault)
    wait_s = job.settings.request_wait_s
    worker = Worker(service, limits, wait_s=wait_s, on_fault=log.fault)

    @asynccontextmanager
    async def life(_app: Any) -> AsyncIterator[dict[str, Shared]]:
        asyncio.get_running_loop().set_exception_handler(_teller(log))
        worker.start()
        yield {STATE: Shared(limits, log)}
        await asyncio.to_thread(worker.stop, wait_s + _AFTERWARDS_S)

    return Router(default=Door(worker, log, limits), lifespan=life)


def _teller(log: AccessLog) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """Return a handler of what no request is answered with; its message could hold anything."""

    def tell(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is not None and not isinstance(error, OSError):  # clients come and go
            log.outside(error)

    return tell


def _config(app: Any, tls: ssl.SSLContext | None, *, stop_s: float) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Protocol,
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="critical",  # its lines are not ours, and quote what clients sent
        access_log=False,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=HEAD_MOST_BYTES,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=round(stop_s),
        ssl_context_factory=(lambda _config, _default: tls) if tls else None,
    )
