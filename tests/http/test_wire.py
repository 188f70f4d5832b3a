"""What is no HTTP, or could be read in two ways, is refused and ends its connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.http.wire import is_exact
from serving import Served, said, serving_within
from sizes import one_in
from tables import key_text
from work import new_store, tell

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = f"authorization: Bearer {key_text('all')}"
HIDDEN = b"GET /hidden HTTP/1.1\r\nhost: x\r\n\r\n"
"""What stands behind a request and must not be taken for the next one."""
CHUNKED = "transfer-encoding: chunked"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = new_store(tmp_path_factory.mktemp("wire"))
    tell(
        made,
        institutions="institution\nalder",
        keys="key institution scopes\nall alder offers|reporting|transactions",
    )
    with serving_within(made.path, body_grace_s=1, head_s=1, drop_s=0.5) as served:
        yield served


def post(*lines: str, first: str = "POST /api/v1/transactions/batch HTTP/1.1") -> bytes:
    return "\r\n".join([first, "host: x", KEY, *lines, "", ""]).encode()


def get(*lines: str, first: str = "GET /openapi.json HTTP/1.1") -> bytes:
    return "\r\n".join([first, "host: x", *lines, "", ""]).encode()


REFUSED = {
    "length and chunks": (400, post("content-length: 4", CHUNKED) + b"0\r\n\r\n" + HIDDEN),
    "chunks and length": (400, post(CHUNKED, "content-length: 4") + b"0\r\n\r\n" + HIDDEN),
    "length and chunks, asked by GET": (400, get("content-length: 4", CHUNKED) + b"0\r\n\r\n"),
    "two lengths": (400, post("content-length: 4", "content-length: 33") + b"xxxx" + HIDDEN),
    "one length twice": (400, post("content-length: 4", "content-length: 4") + b"xxxx"),
    "one length twice in a line": (400, post("content-length: 4, 4") + b"xxxx" + HIDDEN),
    "a length with a sign": (400, post("content-length: +4") + b"xxxx" + HIDDEN),
    "a length that is negative": (400, post("content-length: -4") + b"xxxx" + HIDDEN),
    "a length in hexadecimal": (400, post("content-length: 0x4") + b"xxxx" + HIDDEN),
    "a length of other digits": (400, post("content-length: \u0664") + b"xxxx" + HIDDEN),
    "a length of nothing": (400, post("content-length:") + HIDDEN),
    "a length of 30 digits": (400, post("content-length: " + "9" * 30) + HIDDEN),
    "two encodings": (400, post(CHUNKED, CHUNKED) + b"0\r\n\r\n" + HIDDEN),
    "two encodings in a line": (400, post("transfer-encoding: gzip, chunked") + HIDDEN),
    "an encoding that is none": (400, post("transfer-encoding: xchunked") + HIDDEN),
    "an encoding after a tab": (400, post("transfer-encoding:\x0bchunked") + HIDDEN),
    "chunks of HTTP/1.0": (
        400,
        post(CHUNKED, first="POST /api/v1/transactions/batch HTTP/1.0") + b"0\r\n\r\n" + HIDDEN,
    ),
    "a space before a colon": (400, post("content-length : 4") + b"xxxx" + HIDDEN),
    "a space before a name": (400, get(" x: y") + HIDDEN),
    "a folded line": (400, get("x: y", " z") + HIDDEN),
    "a line folded by a tab": (400, post("content-length: 4", "\t4") + b"xxxx" + HIDDEN),
    "bare line feeds": (400, get().replace(b"\r\n", b"\n") + HIDDEN),
    "one bare line feed": (400, get("a: b", "c: d").replace(b"b\r\n", b"b\n") + HIDDEN),
    "a bare line feed at the end": (400, get("a: b")[:-2] + b"\n" + HIDDEN),
    "a bare carriage return": (400, get("a: b\rcontent-length: 4") + HIDDEN),
    "a zero byte": (400, get("a: b\0c") + HIDDEN),
    "no host": (400, b"GET /openapi.json HTTP/1.1\r\n\r\n" + HIDDEN),
    "two hosts": (400, get("host: y") + HIDDEN),
    "an empty line before": (400, b"\r\n" + get() + HIDDEN),
    "another version": (400, get(first="GET /openapi.json HTTP/3.0") + HIDDEN),
    "an old version": (400, b"GET /openapi.json\r\n\r\n" + HIDDEN),
    "a version in small letters": (400, get(first="GET /openapi.json http/1.1") + HIDDEN),
    "a target with a space": (400, get(first="GET /open api.json HTTP/1.1") + HIDDEN),
    "a chunk without its size": (400, post(CHUNKED) + b"\r\nxxxx\r\n0\r\n\r\n" + HIDDEN),
    "a chunk with a bare line feed": (400, post(CHUNKED) + b"4\nxxxx\r\n0\r\n\r\n" + HIDDEN),
    "a chunk of another size": (400, post(CHUNKED) + b"4\r\nxxxxx\r\n0\r\n\r\n" + HIDDEN),
    "a chunk of -4": (400, post(CHUNKED) + b"-4\r\nxxxx\r\n0\r\n\r\n" + HIDDEN),
    "a chunk of 0x4": (400, post(CHUNKED) + b"0x4\r\nxxxx\r\n0\r\n\r\n" + HIDDEN),
    "a chunk of 21 digits": (400, post(CHUNKED) + b"0" * 20 + b"4\r\nxxxx\r\n" + HIDDEN),
    "chunks that end with a line feed": (400, post(CHUNKED) + b"4\r\nxxxx\r\n0\r\n\n" + HIDDEN),
    "trailers that end with a line feed": (
        400,
        post(CHUNKED) + b"4\r\nxxxx\r\n0\r\nx: y\n\r\n" + HIDDEN,
    ),
    "a folded trailer": (400, post(CHUNKED) + b"2\r\n{}\r\n0\r\nx: y\r\n z\r\n\r\n" + HIDDEN),
    "a folded trailer among others": (
        400,
        post(CHUNKED) + b"2\r\n{}\r\n0\r\nx: y\r\n\tz\r\nv: w\r\n\r\n" + HIDDEN,
    ),
    "trailers parted by a line feed": (
        400,
        post(CHUNKED) + b"2\r\n{}\r\n0\r\nx: y\nv: w\r\n\r\n" + HIDDEN,
    ),
    "a chunk of the largest size": (
        413,
        post(CHUNKED) + b"f" * 20 + b"\r\n" + b"x" * (9 << 20),
    ),
    "an endless extension": (431, post(CHUNKED) + b"4;x=" + b"y" * 200_000),
    "many extensions": (413, post(CHUNKED) + (b"1;" + b"y" * 9_000 + b"\r\n[\r\n") * 40),
    "small chunks": (413, post(CHUNKED) + b"1\r\n[\r\n" * 60_000),
    "endless trailers": (431, post(CHUNKED) + b"0\r\n" + b"x: y\r\n" * 40_000),
    "a body that does not come": (408, post("content-length: 4")),
    "chunks that do not come": (408, post(CHUNKED) + b"4\r\nxx"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_be_read_in_two_ways_is_refused_and_nothing_after_it(
    served: Served, name: str
) -> None:
    status, sent = REFUSED[name]
    (answer,) = said(served, sent)
    assert (status, "close") == (answer.status, answer.headers["connection"])
    assert 200 == served.call("GET", "/openapi.json").status


TAKEN = {
    "a length": post("content-length: 4") + b"{} \n",
    "a length with spaces": post("content-length:   4 \t") + b"{} \n",
    "chunks": post(CHUNKED) + b"1\r\n{\r\n3\r\n} \n\r\n0\r\n\r\n",
    "chunks with extensions": post(CHUNKED) + b"2;a=b;c\r\n{}\r\n0;d\r\n\r\n",
    "chunks with zeros before": post(CHUNKED) + b"00002\r\n{}\r\n000\r\n\r\n",
    "chunks with trailers": post(CHUNKED) + b"2\r\n{}\r\n0\r\nx: y\r\nz: \r\n\r\n",
    "chunks in capitals": post("Transfer-Encoding: Chunked") + b"2\r\n{}\r\n0\r\n\r\n",
    "no body": post(),
    "a body with GET": get("content-length: 0"),
    "an empty header": get("x:"),
}


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("step", [1, 7, 1 << 20])
def test_what_is_exact_is_taken_and_so_is_what_follows(
    served: Served, name: str, step: int
) -> None:
    sent = TAKEN[name] + HIDDEN + get("connection: close")
    parts = [sent[start : start + step] for start in range(0, len(sent), step)]
    first, second, third = [answer.status for answer in said(served, *parts)]
    assert first in {200, 415}  # a type of content was not told
    assert (404, 200) == (second, third)


def test_who_waits_for_leave_to_send_a_body_has_it_after_the_key_is_judged(
    served: Served,
) -> None:
    waits = ("content-length: 2", "expect: 100-continue")
    with served.connect() as client:
        client.sendall(post(*waits))
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 100 ")
        client.sendall(b"{}")
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 415 ")
    (answer,) = said(served, post(*waits).replace(KEY.encode(), b"x: y"))
    assert 401 == answer.status


@pytest.mark.parametrize(
    ("expected", "head"),
    [
        (True, b"GET / HTTP/1.1\r\n\r\n"),
        (True, b"GET / HTTP/1.1\r\na: b\r\n\r\n"),
        (False, b"GET / HTTP/1.1\r\na: b\r\n"),
        (False, b"GET / HTTP/1.1\r\na: b\n\r\n"),
    ],
)
@one_in(3)
def test_a_head_is_exact_or_not(expected: bool, head: bytes) -> None:
    assert expected == is_exact(head)
