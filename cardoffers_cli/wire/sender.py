"""Deliveries out, outcomes back: many at once, no attempt longer than its deadline.

A receiver is a stranger. Whatever it does, an attempt ends within one deadline over everything
(name, connection, TLS, headers, body), reads a bounded part of the answer, follows nothing,
remembers nothing, and ends in one outcome. Delivered means a 2xx whose answer came in whole, or up
to the cap.

httpx is the interface and aiohttp carries it: the pool of httpx itself slows down as connections
grow. Proxies, netrc and certificates of the environment are not heeded.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from cardoffers_cli import __version__
from cardoffers_cli.domain.addresses import check_url
from cardoffers_cli.domain.errors import ConfigurationError
from cardoffers_cli.domain.retry_after import retry_after_s
from cardoffers_cli.wire.failures import error_of, error_of_status
from cardoffers_cli.wire.resolving import CheckedResolver, Lookup, look_up, open_socket

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

HEADERS = {
    "Content-Type": "application/json",
    "User-Agent": f"cardoffers/{__version__}",
    "Accept": "*/*",
    "Accept-Encoding": "identity",
}
"""What every delivery says beside its signature."""

_MAY_ASK_TO_WAIT = {429, 503}
_IDLE_S = 2.0
"""Seconds an unused connection is kept: receivers that hang up tend to do so after 5."""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One event for one receiver. `sign` makes its headers at the attempt's own Unix second."""

    number: int
    url: str = field(repr=False)
    body: bytes = field(repr=False)
    sign: Callable[[int], Mapping[str, str]] = field(repr=False)
    lane: str


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one attempt ended; `error` is a word of `failures.ERRORS`, or None when delivered."""

    number: int
    http_status: int | None
    error: str | None
    retry_after_s: int | None
    started_at: datetime
    duration_ms: int


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one run of the sender may take. `per_lane` of `at_once` go to one lane at most.

    A lane is what must not hold up others: an institution. `ca_file` holds certificates (PEM) to
    be trusted beside the usual ones; `allow_insecure` lifts https and public addresses.
    """

    deadline_s: float = 15
    body_bytes: int = 64 * 1024
    at_once: int = 64
    per_lane: int = 8
    allow_insecure: bool = False
    ca_file: Path | None = None


def send_all(
    batches: Iterable[Sequence[Delivery]],
    limits: Limits,
    *,
    clock: Callable[[], datetime],
    on_outcome: Callable[[Outcome], None],
    stop: Callable[[], bool] = lambda: False,
    skip: Callable[[Delivery], bool] = lambda _: False,
    lookup: Lookup = look_up,
) -> None:
    """Attempt every delivery once, and tell each outcome as soon as it is there.

    Batches are pulled in another thread, one after the other, and may take their time: what came
    is sent meanwhile, and how much waits is up to who makes them. `clock` is the real one, naive
    UTC: receivers compare the timestamp of the signature with theirs. Once `stop` answers true
    nothing more is started; `skip` is asked of each delivery whose turn has come, and leaves it
    out. What is in flight ends, also when pulling fails; then that failure is raised.
    """
    context = _tls(limits.ca_file)

    async def run() -> None:
        async with _client(limits, context, lookup) as client:
            sender = _Sender(
                client=client,
                limits=limits,
                clock=clock,
                on_outcome=on_outcome,
                stop=stop,
                skip=skip,
            )
            await sender.send(iter(batches))

    asyncio.run(run())


@dataclass(kw_only=True)
class _Sender:
    """One run: a slot for each attempt in flight, and a share of the slots for each lane."""

    client: httpx.AsyncClient
    limits: Limits
    clock: Callable[[], datetime]
    on_outcome: Callable[[Outcome], None]
    stop: Callable[[], bool]
    skip: Callable[[Delivery], bool]

    def __post_init__(self) -> None:
        self.slots = asyncio.Semaphore(self.limits.at_once)
        self.lanes = defaultdict[str, asyncio.Semaphore](
            lambda: asyncio.Semaphore(self.limits.per_lane)
        )

    async def send(self, batches: Iterator[Sequence[Delivery]]) -> None:
        """Attempt every delivery; a failure to pull more waits for what is in flight."""
        failure: Exception | None = None
        async with asyncio.TaskGroup() as attempts:
            try:
                await self._start(batches, attempts)
            except Exception as error:  # noqa: BLE001  raised below
                failure = error
        if failure is not None:
            raise failure

    async def _start(
        self, batches: Iterator[Sequence[Delivery]], attempts: asyncio.TaskGroup
    ) -> None:
        while not self.stop():
            batch = await asyncio.to_thread(next, batches, None)
            if batch is None:
                return
            for delivery in batch:
                attempts.create_task(self._take_turn(delivery))

    async def _take_turn(self, delivery: Delivery) -> None:
        """Wait for the lane first and then for a slot: so slots go round among the lanes."""
        async with self.lanes[delivery.lane], self.slots:
            if not (self.stop() or self.skip(delivery)):
                self.on_outcome(await self._attempt(delivery))

    async def _attempt(self, delivery: Delivery) -> Outcome:
        started_at, begun = self.clock(), time.monotonic()
        status = wait_s = None
        try:
            check_url(delivery.url, allow_insecure=self.limits.allow_insecure)
            signature = delivery.sign(int(started_at.replace(tzinfo=UTC).timestamp()))
            async with (
                asyncio.timeout(self.limits.deadline_s),
                self.client.stream(
                    "POST", delivery.url, content=delivery.body, headers=dict(signature)
                ) as response,
            ):
                status = response.status_code
                wait_s = self._wanted_wait_s(response)
                await self._read(response)
            error = error_of_status(status)
        except Exception as problem:  # noqa: BLE001  one receiver must not end the others
            error = error_of(problem)
        return Outcome(
            number=delivery.number,
            http_status=status,
            error=error,
            retry_after_s=wait_s,
            started_at=started_at,
            duration_ms=round((time.monotonic() - begun) * 1000),
        )

    def _wanted_wait_s(self, response: httpx.Response) -> int | None:
        text = response.headers.get("Retry-After")
        if text is None or response.status_code not in _MAY_ASK_TO_WAIT:
            return None
        return retry_after_s(text, self.clock())

    async def _read(self, response: httpx.Response) -> None:
        """Read the body as it comes, without unpacking it, and not beyond the cap."""
        size = 0
        async for chunk in response.aiter_raw():
            size += len(chunk)
            if size >= self.limits.body_bytes:
                return


async def _mend(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Mend what httpx-aiohttp does: it writes names small, and fails on a reason not in UTF-8."""
    for name in list(request.headers):
        request.headers[name.title()] = request.headers.pop(name)
    response = await handler(request)
    response.reason = None
    return response


def _client(limits: Limits, context: ssl.SSLContext, lookup: Lookup) -> httpx.AsyncClient:
    """Make the client: no proxies, no netrc, no redirects, no cookies, no time of its own."""

    def session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=0,  # the slots are the limit
            ssl=context,
            resolver=CheckedResolver(lookup, allow_insecure=limits.allow_insecure),
            socket_factory=partial(open_socket, allow_insecure=limits.allow_insecure),
            keepalive_timeout=_IDLE_S,
        )
        return aiohttp.ClientSession(
            connector=connector,
            middlewares=(_mend,),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
        )

    return httpx.AsyncClient(
        transport=AiohttpTransport(verify=context, client=session),
        headers=HEADERS,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        timeout=httpx.Timeout(None),  # the deadline is over everything
        follow_redirects=False,
        trust_env=False,
    )


def _tls(ca_file: Path | None) -> ssl.SSLContext:
    """Return the context that verifies receivers: certificate, name, TLS 1.2 or newer."""
    context = httpx.create_ssl_context(trust_env=False)
    if ca_file is not None:
        try:
            context.load_verify_locations(cafile=ca_file)
        except OSError as error:
            raise ConfigurationError(
                f"The certificates in {ca_file} cannot be read: {error.strerror or error}.",
                code="ca_file_unreadable",
                hint="Name a file of certificates in PEM.",
            ) from None
    return context
