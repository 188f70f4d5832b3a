"""A receiver of our own: verifies what it is sent, keeps it, says what came, misbehaves on request.

It is what the demo, `webhook listen` and the tests post to. It runs in a thread, on a port of this
machine, for the length of a `with` block.
"""

from __future__ import annotations

import asyncio
import os
import re
import select
import signal
import ssl
import subprocess
import tempfile
import time
from collections import Counter
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

from cardoffers_cli.intake.documents import JsonFault, parse
from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.words.errors import ConfigurationError, NetworkFailure
from cardoffers_cli.kernel.words.ids import mask
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.kernel.words.signing import check_signature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path


_AMOUNT = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,10})?", re.ASCII)
_SHOWN = ("event", "redemption_id", "institution_id", "offer_id", "occurred_at", "reason")


class ReceivedEvent(
    Record,
    sheet="number received_at event redemption_id institution_payout_amount amount reason"
    " cardholder_token_masked copy verified faults status path",
):
    """One request that came, and what may be shown of its event; None of what it did not have.

    `verified` is None where nothing is verified; `copy` counts the same event of one subject.
    `amount` is what the reversal of a redemption takes back, or what a statement or a payment comes
    to; of these there are the id and the number, as `subject`.
    """

    number: int
    received_at: datetime
    path: str = shown(gives_way=3)
    verified: bool | None
    faults: Sequence[str] = shown(gives_way=1)
    status: int
    copy: int
    event: str | None = shown(gives_way=4)
    redemption_id: str | None
    institution_id: str | None
    offer_id: str | None
    occurred_at: str | None
    cardholder_token_masked: str | None = shown("cardholder", gives_way=2)
    institution_payout_amount: Decimal | None = shown("amount")
    amount: Decimal | None = shown("back", gives_way=2)
    reason: str | None = shown(gives_way=3)
    subject_id: str | None = if_any()
    subject: str | None = if_any()


@dataclass(frozen=True, kw_only=True)
class Listener:
    """Where webhooks are received, and what comes there: `rows` waits for each, and never ends."""

    url: str
    rows: Iterator[ReceivedEvent]


@contextmanager
def listening(
    secrets: Sequence[str],
    *,
    host: str,
    port: int,
    certificate: Path | None,
    status: int | None,
    fail: int,
    delay_s: float,
) -> Iterator[Listener]:
    """Receive webhooks for the length of a block, over TLS where a certificate is given.

    The answers are those of `wire/receiver.Behaviour`; without secrets nothing is verified.
    """
    came: SimpleQueue[Received] = SimpleQueue()
    receiver = Receiver(
        clock=real_now,
        secrets=secrets,
        behaviour=Behaviour(status=status, fail=fail, delay_s=delay_s),
        host=host,
        port=port,
        tls=server_tls(certificate) if certificate else None,
        on_received=came.put,
    )
    with receiver:
        yield Listener(url=receiver.url, rows=_rows(came, is_verified=bool(secrets)))


def _rows(came: SimpleQueue[Received], *, is_verified: bool) -> Iterator[ReceivedEvent]:
    copies = Counter[tuple[str, str]]()
    while True:
        received = came.get()
        event = _event(received.body)
        same = (str(event["event"]), str(event["redemption_id"] or event.get("subject_id")))
        copies[same] += 1
        yield ReceivedEvent(
            number=received.number,
            received_at=received.at,
            path=received.path,
            verified=not received.faults if is_verified else None,
            faults=received.faults,
            status=received.status,
            copy=copies[same],
            **event,
        )


def _event(body: bytes) -> Mapping[str, Any]:
    """Return what may be shown of an event; whatever else came is None all over."""
    try:
        document = parse(body)
    except JsonFault:
        document = None
    event = document if isinstance(document, dict) else {}
    others = {"subject_id": f"{str(event.get('event')).partition('.')[0]}_id", "subject": "number"}
    others = {} if "redemption_id" in event else others
    token, masked = event.get("cardholder_token"), event.get("cardholder_token_masked")
    return {
        **{name: _text(event, name) for name in _SHOWN},
        "cardholder_token_masked": mask(token) if isinstance(token, str) else _masked(masked),
        "institution_payout_amount": _amount(event.get("institution_payout_amount")),
        "amount": _amount(event.get("amount", event.get("payable"))),
        **{name: _text(event, field) for name, field in others.items()},
    }


def _text(event: Mapping[str, Any], name: str) -> str | None:
    return value if isinstance(value := event.get(name), str) else None


def _masked(token: Any) -> str | None:
    """Return a token that came masked, unless there is more to it than that."""
    return token if isinstance(token, str) and len(token) <= len(mask("x" * 9)) else None


def _amount(value: Any) -> Decimal | None:
    return Decimal(text) if _AMOUNT.fullmatch(text := str(value)) else None


_LONGEST_BODY = 1024 * 1024
_PATIENCE_S = 1.0
"""Seconds beyond their delay that requests in flight get to end when the receiver stops."""
_SETTLING_S = 0.02


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """How a receiver answers: the first `fail` requests, or all, with `status`; else 200."""

    status: int | None = None
    fail: int = 0
    delay_s: float = 0

    def status_of(self, number: int) -> int:
        """Return the status for the request of this number, counted from 1."""
        if self.fail:
            return (self.status or 500) if number <= self.fail else 200
        return self.status or 200


@dataclass(frozen=True, kw_only=True)
class Received:
    """One request, what its signature lacks (codes of `signing.RULES`), and the answer."""

    number: int
    at: datetime
    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    faults: list[str]
    status: int


class Receiver:
    """Listens while its `with` block runs; `received` holds all that came, oldest first.

    Without secrets nothing is verified; with them, what does not verify is answered 401. `clock`
    is the real one, naive UTC. `on_received` is called from the receiver's thread.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], datetime],
        secrets: Sequence[str] = (),
        behaviour: Behaviour | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        on_received: Callable[[Received], None] | None = None,
    ) -> None:
        self.received: list[Received] = []
        self._clock = clock
        self._secrets = secrets
        self._behaviour = behaviour or Behaviour()
        self._host = host
        self._port = port
        self._tls = tls
        self._on_received = on_received or (lambda _: None)
        self._stop = asyncio.Event()
        self._started: Future[int] = Future()
        self._thread = Thread(target=self._run, name="receiver", daemon=True)

    @property
    def url(self) -> str:
        """The URL to post to."""
        return f"{'https' if self._tls else 'http'}://{self._host}:{self._port}/"

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._port = self._started.result()
        except OSError as error:
            raise NetworkFailure(
                f"Cannot listen on {self._host}, port {self._port}: {error.strerror}.",
                code="cannot_listen",
                hint="Name another one with --port; 0 takes any that is free.",
            ) from None
        return self

    def __exit__(self, *_raised: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except OSError as error:
            self._started.set_exception(error)

    async def _serve(self) -> None:
        app = web.Application(client_max_size=_LONGEST_BODY)
        app.router.add_post("/{path:.*}", self._answer)
        runner = web.AppRunner(
            app,
            access_log=None,
            handler_cancellation=True,  # nobody waits for who has left
            shutdown_timeout=self._behaviour.delay_s + _PATIENCE_S,
        )
        await runner.setup()
        try:
            self._loop = asyncio.get_running_loop()
            protocol: Any = runner.server  # there is one, once it is set up
            server = await self._loop.create_server(protocol, self._host, self._port, ssl=self._tls)
            self._started.set_result(server.sockets[0].getsockname()[1])
            await self._stop.wait()
            await self._accept_no_more(server)
        finally:
            await _end(runner)

    async def _accept_no_more(self, server: asyncio.Server) -> None:
        """Let what was accepted just now get to its handler, which closes it; then close the port.

        A server of asyncio that is closed in between loses the connection, and leaves it open.
        """
        for listener in server.sockets:
            self._loop.remove_reader(listener.fileno())
        await asyncio.sleep(_SETTLING_S)
        server.close()

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.read()
        received = self._take(request, body)
        self._on_received(received)
        await asyncio.sleep(self._behaviour.delay_s)
        return web.Response(status=received.status)

    def _take(self, request: web.Request, body: bytes) -> Received:
        at = self._clock()
        number = len(self.received) + 1
        faults = self._faults(body, request.headers, at) if self._secrets else []
        status = 401 if faults else self._behaviour.status_of(number)
        received = Received(
            number=number,
            at=at,
            path=request.path,
            headers=dict(request.headers),
            body=body,
            faults=faults,
            status=status,
        )
        self.received.append(received)
        return received

    def _faults(self, body: bytes, headers: Mapping[str, str], at: datetime) -> list[str]:
        now_s = int(at.replace(tzinfo=UTC).timestamp())
        return check_signature(body, headers, self._secrets, now_s)


async def _end(runner: web.AppRunner) -> None:
    """Close every connection, also one whose client stays and does not answer the end of TLS.

    Closing it is to wait for that answer, and when the loop ends it would be open still.
    """
    transports = [peer.transport for peer in runner.server.connections] if runner.server else []
    await runner.cleanup()
    for transport in transports:
        if transport is not None:
            transport.abort()


def server_tls(certificate: Path) -> ssl.SSLContext:
    """Return the context of a server, from a PEM file that holds its certificate and its key."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate)
    except OSError as error:
        raise ConfigurationError(
            f"The certificate {certificate} cannot be used: {error.strerror or error}.",
            code="certificate_unusable",
            hint="Name a PEM file that holds the certificate, its chain and its key.",
        ) from None
    return context


# A command of the operator's that is told something on its input, in bounded time and output.
#
# It is started without a shell, in a session of its own, with an environment that holds no secret.
# When it has ended, or its time is over, what it started and left running is killed with it.


_PASSED_ON = re.compile(r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR")
"""What a command gets of the environment; anything else may be a secret."""
_READ_BYTES = 64 * 1024
_GLANCE_S = 0.05
"""How often it is looked whether a command has ended whose output somebody else still has open."""


@dataclass(frozen=True, kw_only=True)
class CommandOutcome:
    """How a command ended; `error` is None where its exit code was 0.

    `output` is the beginning of what it wrote to both streams, as far as that is kept.
    """

    error: str | None
    output: str = field(default="", repr=False)


def run_command(
    words: Sequence[str],
    content: bytes,
    *,
    deadline_s: float,
    variables: Mapping[str, str],
    output_bytes: int = 4096,
) -> CommandOutcome:
    """Run a command with `content` on its input, and `variables` beside what it is passed on."""
    passed_on = {name: text for name, text in os.environ.items() if _PASSED_ON.fullmatch(name)}
    with tempfile.TemporaryFile() as stdin:
        stdin.write(content)
        stdin.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - what the operator configured, and no shell
                words,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**passed_on, **variables},
                start_new_session=True,
            )
        except OSError as error:
            return CommandOutcome(error=f"it cannot be started: {error.strerror}")
    with process:
        try:
            output, has_ended = _hear(process, time.monotonic() + deadline_s, output_bytes)
        finally:
            with suppress(ProcessLookupError):  # its number is its own until it is waited for
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
    return CommandOutcome(
        error=_error(code) if has_ended else f"it did not end within {deadline_s:g} s",
        output=output.decode(errors="replace"),
    )


def _hear(process: subprocess.Popen[bytes], deadline: float, most: int) -> tuple[bytes, bool]:
    """Return the beginning of the output, and whether the command ended in time."""
    output, is_open, has_ended = b"", True, False
    pipe = process.stdout.fileno() if process.stdout else -1
    while (left_s := deadline - time.monotonic()) > 0:
        wait_s = 0.0 if has_ended else min(left_s, _GLANCE_S)
        if is_open and select.select([pipe], [], [], wait_s)[0]:
            data = os.read(pipe, _READ_BYTES)
            output, is_open = output + data[: most - len(output)], bool(data)
            continue
        if has_ended:
            return output, True
        if not is_open:
            time.sleep(wait_s)
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        has_ended = os.waitid(os.P_PID, process.pid, options) is not None
    return output, False


def _error(code: int) -> str | None:
    if code < 0:
        return f"it was killed by signal {-code}"
    return f"it ended with exit code {code}" if code else None
