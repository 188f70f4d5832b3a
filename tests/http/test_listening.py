"""Answers leave at once and in one piece, and the system keeps little of who does not read."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.http.listening import ListeningPlace, listener_at
from serving import serving_within
from sizes import slow
from work import new_store

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = (
    (socket.IPPROTO_TCP, socket.TCP_NODELAY),
    (socket.SOL_SOCKET, socket.SO_RCVBUF),
    (socket.SOL_SOCKET, socket.SO_SNDBUF),
)
SEGMENTS_IN_AT = 152
"""Where tcpi_data_segs_in stands in Linux's struct tcp_info: segments with data that came."""


def test_what_is_set_on_the_listener_holds_for_each_connection() -> None:
    async def accepted() -> tuple[int, ...]:
        arrived: asyncio.Future[asyncio.StreamWriter] = asyncio.get_running_loop().create_future()
        with listener_at(ListeningPlace(host="127.0.0.1", port=0), is_plain=True) as listener:
            server = await asyncio.start_server(
                lambda _reader, writer: arrived.set_result(writer), sock=listener
            )
            async with server:
                _, client = await asyncio.open_connection(*listener.getsockname())
                taken = (await arrived).get_extra_info("socket")
                options = tuple(taken.getsockopt(*option) for option in OPTIONS)
                for writer in (client, await arrived):
                    writer.close()
                    await writer.wait_closed()
                return options

    no_delay, receives, sends = asyncio.run(accepted())
    assert no_delay
    assert receives <= 256 << 10  # Linux says twice what was asked for
    assert sends <= 256 << 10


@slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_an_answer_is_one_segment(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    with serving_within(made.path) as served, served.connect() as client:
        for times in range(1, 4):
            client.sendall(b"GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n")
            said = b""
            while not said.endswith(b"}"):
                said += client.recv(1 << 16)
            told = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            assert times == struct.unpack_from("I", told, SEGMENTS_IN_AT)[0]
