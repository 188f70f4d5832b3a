"""Many hostile clients at once: what each does on its connection, and what became of it.

They run on a loop in a thread of their own, from addresses of their own, for the length of a
`with` block. What one heard is the status of each answer and, at last, `closed` or `reset`; what
ended without an answer is one of these alone.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER that makes closing a connection reset it."""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """What every client does: sends `first`, then `again` each `every_s`, and reads, unless deaf.

    Who is deaf hears only that the connection was reset, when sending fails.
    `is_half_closed` says that it sends an end after `first`. `repeats` opens a new connection for
    one that ended after `pause_s`, and `resets` resets it as soon as `first` is on its way.
    """

    first: bytes = b""
    again: bytes = b""
    every_s: float = 0.1
    count: int = 60
    hosts: int = 1
    is_deaf: bool = False
    is_half_closed: bool = False
    repeats: bool = False
    pause_s: float = 0.05
    resets: bool = False
    tls: ssl.SSLContext | None = None


@dataclass
class Heard:
    """What the clients of an attack heard so far; how many are connected, and have ended."""

    outcomes: Counter[str] = field(default_factory=Counter)
    begun: int = 0
    ended: int = 0


@contextmanager
def attacking(attack: Attack, port: int, network: str) -> Iterator[Heard]:
    """Attack a port for the length of the block, from addresses such as `network`.1."""
    heard, loop = Heard(), asyncio.new_event_loop()

    async def everybody() -> None:
        hosts = [f"{network}.{number + 1}" for number in range(attack.hosts)]
        clients = [
            _client(attack, port, host, heard) for host in hosts for _ in range(attack.count)
        ]
        await asyncio.gather(*clients)

    task = loop.create_task(everybody())

    def run() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.run_until_complete(asyncio.sleep(0.1))  # what was aborted is closed in later turns

    thread = threading.Thread(target=run, name="attack")
    thread.start()
    try:
        yield heard
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(30)
        loop.close()


async def _client(attack: Attack, port: int, host: str, heard: Heard) -> None:
    while True:
        with suppress(OSError):
            heard.outcomes[await _visit(attack, port, host, heard)] += 1
        heard.ended += 1
        if not attack.repeats:
            return
        await asyncio.sleep(attack.pause_s)


async def _visit(attack: Attack, port: int, host: str, heard: Heard) -> str:
    reader, writer = await asyncio.open_connection(
        "127.0.0.1",
        port,
        local_addr=(host, 0),
        ssl=attack.tls,
        server_hostname="localhost" if attack.tls else None,
    )
    heard.begun += 1
    sending = asyncio.create_task(_send(attack, writer))
    try:
        if attack.resets:
            await sending
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            return "left"
        if attack.is_deaf:
            await sending
        return await _listen(reader)
    except ConnectionError:
        return "reset"
    finally:
        sending.cancel()
        writer.transport.abort()


async def _send(attack: Attack, writer: asyncio.StreamWriter) -> None:
    writer.write(attack.first)
    await writer.drain()
    if attack.is_half_closed:
        writer.write_eof()
    while attack.again:
        await asyncio.sleep(attack.every_s)
        writer.write(attack.again)
        await writer.drain()


async def _listen(reader: asyncio.StreamReader) -> str:
    """Return the statuses that came until the end, and how it ended."""
    said = bytearray()
    try:
        while data := await reader.read(1 << 16):
            said += data
    except ConnectionError:
        return _statuses(said) or "reset"
    return _statuses(said) or "closed"


def _statuses(said: bytearray) -> str:
    lines = said.split(b"HTTP/1.1 ")[1:]
    return " ".join(dict.fromkeys(line[:3].decode() for line in lines))
