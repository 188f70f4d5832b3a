"""The bytes of one connection: HTTP/1.1 as h11 reads and writes it, and bodies within their limits.

h11 is lenient where older clients were not exact: it takes a bare line feed for the end of a line,
folded lines, two equal lengths, a length beside chunks. A proxy in front may read those otherwise
and take part of a body for the next request, so here each of them is refused, and the connection is
closed with the refusal.

Memory of bodies is counted as bytes come and not as they are announced, for each institution and
for all, so who announces much and sends nothing takes nothing from anybody.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from contextlib import contextmanager, suppress
from email.utils import formatdate
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import h11

from cardoffers_cli.http.contract.gate import BODY_BYTES, body_too_large, headers_too_large
from cardoffers_cli.http.contract.messages import Problem, busy
from cardoffers_cli.night.metrics import Family, MetricSample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

    from cardoffers_cli.http.contract.messages import Answer
    from cardoffers_cli.http.listening import ServerLimits


READ_BYTES = 64 << 10
_PIECES_AT_ONCE = 100
"""Pieces of a body after which other connections have their turn: small chunks take long."""
_BARE = re.compile(rb"\r(?!\n)|(?<!\r)\n")
_END = b"\r\n\r\n"
_VERSIONS = (b"1.0", b"1.1")
_CONTINUE = h11.InformationalResponse(status_code=HTTPStatus.CONTINUE, headers=[])


class HttpConnection:
    """One connection as requests and answers, one after the other."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limits: ServerLimits
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._limits = limits
        self._h11 = h11.Connection(h11.SERVER, limits.head_bytes)
        self._latest = b""
        """What came last, after as much of before as trailers may have."""
        self._received = self._framing_bytes = self._pieces = self._trailers = 0
        self._is_chunked = self._is_broken = False
        self._method = b""
        # An answer is on its way when all of it is, so that a slow reader is seen as one.
        writer.transport.set_write_buffer_limits(0)

    @property
    def is_begun(self) -> bool:
        """Whether something of the next head is here already."""
        return bool(self._unread)

    @property
    def is_read(self) -> bool:
        """Whether nothing of the request is left to read, its body included."""
        return self._h11.their_state not in {h11.SEND_BODY, h11.ERROR} and not self._is_broken

    @property
    def _unread(self) -> bytes:
        return self._h11.trailing_data[0]

    async def begin(self) -> bool:
        """Wait for the first byte of a head; return False where the client leaves instead."""
        return self.is_begun or await self._more()

    async def head(self) -> h11.Request | None:
        """Return the next head, or None where the client leaves; raises `Problem`."""
        raw = bytearray(self._unread)
        while (event := self._event()) is h11.NEED_DATA:
            if await self._more():
                raw += self._latest[-self._received :]
        if not isinstance(event, h11.Request):
            return None
        del raw[len(raw) - len(self._unread) :]
        if not is_exact(bytes(raw)) or event.http_version not in _VERSIONS:
            raise self._broken()
        self._method = event.method
        self._framing_bytes = len(self._unread)
        self._is_chunked = any(name == b"transfer-encoding" for name, _ in event.headers)
        if told_bytes(event) == 0 and not self._is_chunked:
            self._event()  # the end of a body that is none
        return event

    async def piece(self) -> bytes:
        """Return the next piece of the body, nothing at its end; raises `Problem`."""
        if self._h11.they_are_waiting_for_100_continue:
            self._writer.write(self._h11.send(_CONTINUE) or b"")
        while not self.is_read:
            event = self._event()
            if isinstance(event, h11.EndOfMessage):
                self._trailers = len(event.headers)
            if isinstance(event, h11.Data):
                self._framing_bytes -= len(event.data)
                self._pieces += 1
                if self._pieces % _PIECES_AT_ONCE == 0:
                    await asyncio.sleep(0)
                return bytes(event.data)
            if event is h11.NEED_DATA:
                await self._more()
                self._framing_bytes += self._received
                if self._framing_bytes > self._limits.framing_bytes:
                    raise Problem(413, "body_too_large", "The body comes in too small chunks.")
        # Chunks end with exact trailers and an empty line, as heads do; h11 is lenient here too.
        # Of folded trailers one line at least is among the last, as many as there are trailers.
        consumed = self._latest[: len(self._latest) - len(self._unread)]
        lines = consumed.removesuffix(_END).rsplit(b"\r\n", self._trailers)[1:]
        is_exact_end = consumed.endswith(_END) and not any(map(_is_loose, lines))
        if self._is_chunked and not is_exact_end:
            raise self._broken()
        return b""

    async def send(self, answer: Answer, *, is_last: bool) -> bool:
        """Send an answer in one piece; return whether another request may follow.

        Raises `ConnectionError` where the client does not take it in time.
        """
        if self._writer.is_closing():
            return False
        is_last = is_last or not self.is_read
        is_bare = self._method == b"HEAD"
        self._writer.write(as_bytes(answer, self._h11, is_last=is_last, is_bare=is_bare))
        await self._written()
        if self._h11.states != {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}:
            return False
        self._h11.start_next_cycle()
        if not self.is_begun:
            self._latest = b""
        return True

    async def hear_out(self) -> None:
        """Read what is left of a refused request, for a moment, and keep nothing of it.

        A connection closed on a sender who still sends is reset, and the answer is lost with it.
        """
        if self.is_read or self._writer.is_closing():
            return
        with suppress(TimeoutError, OSError):
            if self._writer.can_write_eof():
                self._writer.write_eof()
            async with asyncio.timeout(self._limits.drop_s):
                remaining = self._limits.drop_bytes
                while remaining > 0 and (data := await self._reader.read(READ_BYTES)):
                    remaining -= len(data)

    async def _written(self) -> None:
        try:
            async with asyncio.timeout(self._limits.answer_s):
                await self._writer.drain()
        except TimeoutError:
            self._writer.transport.abort()
            raise ConnectionAbortedError from None

    async def _more(self) -> bool:
        """Read on; return False at the end of what the client sends."""
        data = await self._reader.read(READ_BYTES)
        self._received = len(data)
        self._latest = self._latest[-self._limits.head_bytes :] + data
        self._h11.receive_data(data)
        return bool(data)

    def _event(self) -> Any:
        is_body = self._h11.their_state is h11.SEND_BODY
        try:
            return self._h11.next_event()
        except h11.RemoteProtocolError as error:
            if error.error_status_hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
                raise headers_too_large() from None
            if is_body and self._h11.trailing_data[1]:
                raise Problem(400, "body_cut_off", "The body ended before its end.") from None
            raise self._broken() from None

    def _broken(self) -> Problem:
        """Refuse what cannot be read further."""
        self._is_broken = True
        return Problem(400, "malformed", "The request is not HTTP/1.1.")


def as_bytes(
    answer: Answer,
    connection: h11.Connection | None = None,
    *,
    is_last: bool = True,
    is_bare: bool = False,
) -> bytes:
    """Return an answer as it is sent; a bare one without its body, which its head tells of."""
    connection = connection or h11.Connection(h11.SERVER)
    headers = {
        "date": formatdate(usegmt=True),
        **answer.headers,
        "content-length": str(len(answer.body)),
        **({"connection": "close"} if is_last else {}),
    }
    events: list[h11.Response | h11.Data | h11.EndOfMessage] = [
        h11.Response(
            status_code=answer.status,
            headers=list(headers.items()),
            reason=HTTPStatus(answer.status).phrase,
        ),
        h11.Data(data=b"" if is_bare else answer.body),
        h11.EndOfMessage(),
    ]
    return b"".join(connection.send(event) for event in events)


def is_exact(head: bytes) -> bool:
    """Say whether everybody reads a head in the same way (RFC 9112: 2.2, 5.2, 6.1, 6.3)."""
    first, *lines = head.removesuffix(_END).split(b"\r\n")
    fields = [line.partition(b":") for line in lines]
    lengths = [value.strip() for name, _, value in fields if name.lower() == b"content-length"]
    is_coded = any(name.lower() == b"transfer-encoding" for name, _, _ in fields)
    return (
        head.endswith(_END)
        and not any(map(_is_loose, (first, *lines)))
        and len(lengths) + is_coded <= 1
        and all(length.isdigit() for length in lengths)
        and not (is_coded and first.endswith(b"/1.0"))
    )


def _is_loose(line: bytes) -> bool:
    """Say whether a line of a head or of trailers is folded, or has bare line ends in it."""
    return line.startswith((b" ", b"\t")) or _BARE.search(line) is not None


def told_bytes(head: h11.Request) -> int:
    """Return the length of a body as its head tells it, 0 where it tells none."""
    return next((int(value) for name, value in head.headers if name == b"content-length"), 0)


class Bodies:
    """The calls in hand, and what of their bodies came."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._calls: Counter[UUID] = Counter()
        self._bytes: Counter[UUID] = Counter()

    @contextmanager
    def entered(self, owner: UUID) -> Iterator[Callable[[int], None]]:
        """Count a call of an institution for the length of the block.

        Gives what counts bytes of its body. Both raise `Problem` 503 where it would be too much.
        """
        if self._calls[owner] >= self._limits.calls_per_institution:
            raise busy()
        byte_count = 0

        def take(count: int) -> None:
            nonlocal byte_count
            if (
                self._bytes[owner] + count > self._limits.held_bytes_per_institution
                or self._bytes.total() + count > self._limits.held_bytes
            ):
                raise busy()
            self._bytes[owner] += count
            byte_count += count

        self._calls[owner] += 1
        try:
            yield take
        finally:
            self._calls[owner] -= 1
            self._bytes[owner] -= byte_count
            if not self._calls[owner]:
                del self._calls[owner], self._bytes[owner]


class Body:
    """The body of one request, which comes over a wire."""

    def __init__(self, wire: HttpConnection, limits: ServerLimits, told_bytes: int) -> None:
        self._wire = wire
        self._limits = limits
        self._told_bytes = told_bytes

    def check(self) -> None:
        """Raise `Problem` 413 where its own head says that it is too large."""
        if self._told_bytes > BODY_BYTES:
            raise body_too_large()

    async def read(self, take: Callable[[int], None]) -> bytes:
        """Return the whole body; raises `Problem` where it is too large, too slow or cut off."""
        limits, loop = self._limits, asyncio.get_running_loop()
        began = loop.time()
        body = bytearray()
        try:
            async with asyncio.timeout(min(limits.body_s, limits.body_grace_s)) as deadline:
                while piece := await self._wire.piece():
                    if len(body) + len(piece) > BODY_BYTES:
                        raise body_too_large()
                    take(len(piece))
                    body += piece
                    due_s = limits.body_grace_s + len(body) / limits.body_bytes_per_s
                    deadline.reschedule(began + min(limits.body_s, due_s))
        except TimeoutError:
            raise Problem(
                408,
                "body_too_slow",
                f"A body has {limits.body_s:g} seconds, and {limits.body_bytes_per_s:g} bytes in"
                " each at least.",
            ) from None
        return bytes(body)


# What a server counts of its requests, for who runs it: by endpoint, never by institution.


BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Durations are counted up to each of these, and those beyond."""
OTHER = "other"
"""Paths that are none of ours, and methods that HTTP does not know: they are the client's words."""


class RequestCounts:
    """Requests by method, endpoint and status, and how long their answers took by endpoint."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS_S) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, method: str | None, route: str | None, status: int, seconds: float) -> None:
        """Count an answer; called for each, in the thread of the connections."""
        place = route or OTHER
        self._requests[method or OTHER, place, status] += 1
        self._buckets[place][bisect_left(BUCKETS_S, seconds)] += 1
        self._seconds[place] += seconds

    def families(self) -> Iterator[Family]:
        """Yield the metrics."""
        yield Family(
            "http_requests_total",
            "counter",
            "Requests that were answered, by endpoint.",
            [
                MetricSample(count, {"method": method, "route": route, "status": str(status)})
                for (method, route, status), count in sorted(self._requests.items())
            ],
        )
        yield Family(
            "http_request_duration_seconds",
            "histogram",
            "From the end of the head of a request to the end of its answer, by endpoint.",
            [sample for route in sorted(self._buckets) for sample in self._histogram(route)],
        )

    def _histogram(self, route: str) -> Iterator[MetricSample]:
        total = 0
        for most, count in zip((*map(str, BUCKETS_S), "+Inf"), self._buckets[route], strict=True):
            total += count
            yield MetricSample(total, {"route": route, "le": most}, "_bucket")
        yield MetricSample(self._seconds[route], {"route": route}, "_sum")
        yield MetricSample(total, {"route": route}, "_count")
