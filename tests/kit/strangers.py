"""Receivers that nobody would write, on real sockets: each answers in its own bad way.

`STRANGERS` is the table: what each does, and the status and the error word of an attempt at it.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter
Behave = Callable[[Reader, Writer], Awaitable[None]]

FOR_EVER_S = 3600
OK = b"HTTP/1.1 200 OK"
CHUNKED = b"Transfer-Encoding: chunked"


@contextmanager
def listening(*behaves: Behave, tls: ssl.SSLContext | None = None) -> Iterator[list[int]]:
    """Let each behave on a port of its own, in a thread, for the length of the block."""
    loop = asyncio.new_event_loop()
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in behaves]

    async def serve() -> None:
        for listener, behave in zip(listeners, behaves, strict=True):
            await asyncio.start_server(_guarded(behave), sock=listener, ssl=tls)
        await asyncio.Event().wait()

    main = loop.create_task(serve())

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner, suppress(asyncio.CancelledError):
            runner.run(_waited(main))

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield [listener.getsockname()[1] for listener in listeners]
    finally:
        loop.call_soon_threadsafe(main.cancel)
        thread.join()
        for listener in listeners:
            listener.close()


async def _waited(task: asyncio.Task[None]) -> None:
    await task


def _guarded(behave: Behave) -> Behave:
    async def serve(reader: Reader, writer: Writer) -> None:
        try:
            with suppress(OSError):
                await behave(reader, writer)
            writer.transport.abort() if writer.transport.is_closing() else writer.close()
        except asyncio.CancelledError:  # at the end; what was not sent yet would keep it open
            writer.transport.abort()

    return serve


async def request(reader: Reader) -> bytes:
    """Read one request, headers and body; b"" when there is no more."""
    with suppress(asyncio.IncompleteReadError):
        head = await reader.readuntil(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-len")]
        return head + await reader.readexactly(int(lengths[0].split(b":")[1]))
    return b""


def head(*lines: bytes) -> bytes:
    return b"\r\n".join(lines) + b"\r\n\r\n"


def answers(*pieces: bytes, asked: list[bytes] | None = None) -> Behave:
    """Answer every request of a connection, and note what was asked."""

    async def behave(reader: Reader, writer: Writer) -> None:
        while received := await request(reader):
            if asked is not None:
                asked.append(received)
            for piece in pieces:
                writer.write(piece)
                await writer.drain()

    return behave


def status(code: int, *headers: str) -> Behave:
    """Answer every request with a status, headers and no body."""
    lines = [f"HTTP/1.1 {code} As it is", *headers, *([] if code == 204 else ["Content-Length: 0"])]
    return answers(head(*(line.encode() for line in lines)))


def says(*pieces: bytes, last: bytes = b"", pause_s: float = 0) -> Behave:
    """Say the pieces once, then the last one for ever (or hang up), with pauses between."""

    async def behave(reader: Reader, writer: Writer) -> None:
        await request(reader)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)
        while last:
            writer.write(last)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return behave


def resets(*pieces: bytes, unread: bool = False) -> Behave:
    """Reset the connection, before a request is read or after the pieces were said."""

    async def behave(reader: Reader, writer: Writer) -> None:
        if not unread:
            await request(reader)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.05)  # so that it arrives before the reset
        nobody_waits = (1).to_bytes(4, "little") + bytes(4)  # struct linger
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, nobody_waits)
        writer.transport.abort()

    return behave


async def _silent(_reader: Reader, _writer: Writer) -> None:
    await asyncio.sleep(FOR_EVER_S)


async def _never_reads(_reader: Reader, writer: Writer) -> None:
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    await asyncio.sleep(FOR_EVER_S)


def _headers(count: int) -> list[bytes]:
    return [b"x-%d: y" % number for number in range(count)]


def _bytes(text: bytes) -> list[bytes]:
    return [bytes([byte]) for byte in text]


_BOMB = gzip.compress(bytes(200_000_000), compresslevel=1)
_MEGABYTE = b"x" * 1_000_000
_NOISE = os.urandom(100_000)
_SLOW_S = 0.5

STRANGERS: dict[str, tuple[Behave, int | None, str | None]] = {
    "silent": (_silent, None, "timeout"),
    "never reads": (_never_reads, None, "timeout"),
    "hangs up at once": (says(), None, "connection_reset"),
    "hangs up in the headers": (says(OK, b"\r\nConte"), None, "connection_reset"),
    "hangs up in the body": (
        says(head(OK, b"Content-Length: 9"), b"123"),
        200,
        None,
    ),
    "hangs up in the body of a failure": (
        says(head(b"HTTP/1.1 500 Oh", b"Content-Length: 9"), b"123"),
        500,
        "connection_reset",
    ),
    "hangs up in a chunk": (says(head(OK, CHUNKED), b"5\r\n123"), 200, None),
    "resets before the request": (resets(unread=True), None, "connection_reset"),
    "resets before the headers": (resets(), None, "connection_reset"),
    "resets in the headers": (resets(OK, b"\r\nConte"), None, "connection_reset"),
    "resets in the body": (
        resets(head(OK, b"Content-Length: 9"), b"123"),
        200,
        None,
    ),
    "a byte of headers per half second": (
        says(*_bytes(head(OK, b"Content-Length: 0")), pause_s=_SLOW_S),
        None,
        "timeout",
    ),
    "a byte of body per half second": (
        says(head(OK, b"Content-Length: 99"), *_bytes(b"x" * 99), pause_s=_SLOW_S),
        200,
        None,
    ),
    "600 MB of body": (
        says(head(OK, b"Content-Length: 600000000"), *[_MEGABYTE] * 600),
        200,
        None,
    ),
    "600 MB of an error page": (
        says(head(b"HTTP/1.1 500 No", b"Content-Length: 600000000"), *[_MEGABYTE] * 600),
        500,
        "http_error",
    ),
    "a body without an end": (says(head(OK, CHUNKED), last=b"1\r\nx\r\n" * 10_000), 200, None),
    "a gzip bomb": (
        says(head(OK, b"Content-Encoding: gzip", b"Content-Length: %d" % len(_BOMB)), _BOMB),
        200,
        None,
    ),
    "a bomb that is not even gzip": (
        says(head(OK, b"Content-Encoding: gzip, br, zstd", b"Content-Length: 5"), b"12345"),
        200,
        None,
    ),
    "endless 1xx": (says(last=head(b"HTTP/1.1 100 Continue") * 1000), None, "timeout"),
    "endless slow 1xx": (
        says(last=head(b"HTTP/1.1 102 Processing"), pause_s=0.1),
        None,
        "timeout",
    ),
    "endless fat 1xx": (
        says(last=head(b"HTTP/1.1 103 Early Hints", *_headers(100))),
        None,
        "timeout",
    ),
    "another protocol": (
        says(head(b"HTTP/1.1 101 On", b"Upgrade: x", b"Connection: upgrade"), last=_MEGABYTE),
        101,
        "http_error",
    ),
    "garbage": (says(_NOISE), None, "protocol"),
    "text that is not HTTP": (says(b"<html>ok</html>\r\n\r\n"), None, "protocol"),
    "HTTP/2": (says(head(b"HTTP/2 200 OK", b"Content-Length: 0")), None, "protocol"),
    "a status of two digits": (says(head(b"HTTP/1.1 20 OK")), None, "protocol"),
    "a status nobody knows": (
        says(head(b"HTTP/1.1 999 ?", b"Content-Length: 0")),
        999,
        "http_error",
    ),
    "two lengths": (
        says(head(OK, b"Content-Length: 1", b"Content-Length: 2") + b"xx"),
        None,
        "protocol",
    ),
    "a NUL in a header": (says(head(OK, b"x: a\0b", b"Content-Length: 0")), None, "protocol"),
    "a reason that is not UTF-8": (
        says(head(b"HTTP/1.1 200 D\xe9j\xe0 vu", b"Content-Length: 0")),
        200,
        None,
    ),
    "10,000 headers": (says(head(OK, *_headers(10_000))), None, "protocol"),
    "endless headers": (says(OK + b"\r\n", last=b"x: y\r\n" * 1000), None, "protocol"),
    "an endless header": (says(OK + b"\r\nx: ", last=_MEGABYTE), None, "protocol"),
    "an endless reason": (says(b"HTTP/1.1 200 ", last=_MEGABYTE), None, "protocol"),
    "an endless chunk header": (
        says(head(OK, CHUNKED), b"1;", last=b"x" * 10_000),
        200,
        None,
    ),
}

ENDLESS = ("a byte of body per half second", "an endless chunk header")
"""Those that say 2xx, which is success, and keep the line for as long as they are let."""
