"""Starting and stopping: signals, and the threads that work behind the port."""

from __future__ import annotations

import asyncio
import resource
import signal
import sys
from contextlib import AsyncExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cardoffers_cli.http import listening
from cardoffers_cli.http.access_log import AccessLog, LogWriter
from cardoffers_cli.http.arrivals import Arrivals, TrustedProxies, WrongKeys
from cardoffers_cli.http.contract.messages import busy
from cardoffers_cli.http.contract.service import Service
from cardoffers_cli.http.handler import ApiKeys, Connection, MetricsHandler, RequestHandler
from cardoffers_cli.http.wire import Bodies, HttpConnection, RequestCounts, as_bytes
from cardoffers_cli.http.worker import Worker
from cardoffers_cli.night.metrics import build_info, exposition, gauge

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from cardoffers_cli.http.arrivals import ConnectionSlot
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.settings import Settings

_AFTERWARDS_S = 5
"""What a stop may take beyond the longest wait of a call that was taken in."""
_ACCEPTED_AT_ONCE = 8
"""Connections accepted before those that are open have their turn: in a flood of new ones the key
of each is looked at before it can be the oldest."""
_SWITCH_S = 0.0005
_OTHER_FILES = 64
"""Files that a server has open beside its connections."""


def serve(
    job: Job,
    place: listening.ListeningPlace,
    *,
    clock: Callable[[], datetime],
    log: Callable[[str], None],
    ready: Callable[[str, int], None],
    limits: listening.ServerLimits | None = None,
) -> None:
    """Answer requests until a signal says to stop; what was taken in is answered first.

    `log` writes a line of the access log, in a thread of its own: it may wait for a reader, and it
    may fail. `ready` is told URL and port once connections are accepted. Raises `UsageError`,
    `ConfigurationError` or `NetworkFailure` where it cannot listen as it was told to.
    """
    tls = listening.tls_of(place)
    limits = limits or limits_of(job.settings)
    with (
        listening.listener_at(place, is_plain=tls is None) as listener,
        LogWriter(log, most_lines=limits.log_lines, end_s=limits.log_s) as writer,
    ):
        port = listener.getsockname()[1]
        url = f"{'https' if tls else 'http'}://{place.host_in_url}:{port}"
        server = Server(job, clock, writer, limits, tls, place=place)
        with _quick_switches():
            asyncio.run(server.run(listener, lambda: ready(url, port)))


def limits_of(settings: Settings) -> listening.ServerLimits:
    """Return the limits with what the operator set, and no more connections than can be open."""
    connections = settings.serve_connections
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY:
        connections = max(1, min(connections, files - _OTHER_FILES))
    return listening.ServerLimits(
        connections=connections,
        unauthenticated=(connections + 1) // 2,
        connections_per_address=settings.serve_connections_per_address,
        wrong_keys_per_minute=settings.serve_wrong_keys_per_minute,
    )


class Server:
    """Everything behind the port, from the first connection to the last answer."""

    def __init__(
        self,
        job: Job,
        clock: Callable[[], datetime],
        write: Callable[[str], None],
        limits: listening.ServerLimits,
        tls: ssl.SSLContext | None,
        *,
        place: listening.ListeningPlace,
    ) -> None:
        self._place = place
        is_counted = place.has_metrics or place.metrics_socket is not None
        self._counts = RequestCounts() if is_counted else None
        self._log = log = AccessLog(write, self._counts)
        self._limits = limits
        wait_s = job.settings.request_wait_s
        self._stop_s = wait_s + _AFTERWARDS_S
        service = Service(job, clock=clock, on_fault=log.fault, keeps_open=True)
        self._worker = Worker(
            service, limits, wait_s=wait_s, on_fault=log.fault, on_fault_outside=log.outside
        )
        proxies = TrustedProxies.of(job.settings.serve_trusted_proxies)
        self._door = RequestHandler(
            self._worker,
            log,
            known_keys=ApiKeys(self._worker.read_keyring, clock, wait_s=wait_s),
            wrong_keys=WrongKeys(limits),
            bodies=Bodies(limits),
            proxies=proxies,
            metrics=self._metrics if place.has_metrics else None,
        )
        refusal = as_bytes(busy().answer(str(uuid4())))
        self._arrivals = Arrivals(partial(self._serve, self._door), limits, proxies, tls, refusal)
        local = partial(self._serve, MetricsHandler(self._metrics))
        self._local_arrivals = Arrivals(local, limits, TrustedProxies(), None, refusal)

    async def run(self, listener: socket.socket, ready: Callable[[], None]) -> None:
        """Accept connections until a signal comes; a second one does not wait for anybody."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._tell)
        stop, stop_now = asyncio.Event(), asyncio.Event()

        def note() -> None:
            (stop_now if stop.is_set() else stop).set()

        def ask(_number: int, _frame: Any) -> None:
            loop.call_soon_threadsafe(note)

        async with AsyncExitStack() as stack:
            stack.enter_context(_on_signals(ask))
            if path := self._place.metrics_socket:
                local = stack.enter_context(listening.local_socket(path))
                await loop.create_unix_server(self._local_arrivals.protocol, sock=local)
            self._worker.start()
            server = await loop.create_server(
                self._arrivals.protocol, sock=listener, backlog=_ACCEPTED_AT_ONCE
            )
            listener.listen(listening.BACKLOG)
            ready()
            await stop.wait()
            server.close()
            ends = [loop.create_task(coroutine) for coroutine in (self._end(), stop_now.wait())]
            await asyncio.wait(ends, timeout=self._stop_s, return_when=asyncio.FIRST_COMPLETED)

    async def _end(self) -> None:
        """Answer what was taken in."""
        await self._arrivals.end()
        await self._local_arrivals.end()
        self._worker.stop(within_s=0)
        await asyncio.wrap_future(self._worker.ended)

    def _metrics(self) -> str:
        """Return the metrics of this server."""
        says = "1 while this server has the store open, 0 while it does not."
        return exposition(
            [
                build_info(),
                *(self._counts.families() if self._counts else ()),
                gauge("http_connections", "Connections that are open.", self._arrivals.open),
                gauge("http_queue_length", "Requests that wait.", self._worker.waiting),
                gauge("http_store_held", says, int(self._worker.has_store)),
            ]
        )

    async def _serve(
        self,
        door: RequestHandler | MetricsHandler,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        slot: ConnectionSlot,
    ) -> None:
        """Serve one connection to its end."""
        arrivals = self._arrivals if door is self._door else self._local_arrivals
        wire = HttpConnection(reader, writer, self._limits)
        connection = Connection(wire, slot, arrivals, door=door, log=self._log, limits=self._limits)
        try:
            await connection.serve()
        except Exception as fault:  # noqa: BLE001  the other connections go on
            self._log.outside(fault)
        finally:
            writer.close()

    def _tell(self, _loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """Log what no request is answered with; its message could hold anything."""
        error = context.get("exception")
        if error is not None and not isinstance(error, OSError):  # clients come and go
            self._log.outside(error)


@contextmanager
def _quick_switches() -> Iterator[None]:
    """Let the thread that has the store go on soon where connections keep the other one busy.

    It asks for Python's lock again after every statement of the engine, and waits this long each
    time: in a flood of connections an event was answered a third sooner than with the usual time.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def _on_signals(act: Callable[[int, Any], None]) -> Iterator[None]:
    """Call `act` on SIGTERM and SIGINT for the length of the block."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, act)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
