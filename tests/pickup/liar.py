"""An SFTP server on standard input and output that lies, each time in the way that it is told.

    python liar.py WAY

It knows nothing of the product, and needs no site packages: it starts at once.
"""

from __future__ import annotations

import struct
import sys
import time

NAMES = {
    "honest": [b"a.csv", b".", b"..", b".hidden"],
    "names": [
        *(
            b"../../etc/cron.d/x",
            b"/etc/passwd",
            b"a\\b.csv",
            b"a\nb.csv",
            b"\x1b[2Jx",
            b"\xff.csv",
        ),
        *(b"x" * 300, b"", b"a\0b", b"-rf.csv", "\u202egpj.exe".encode(), b"twice", b"twice"),
    ],
}
OPEN, READ, LSTAT, OPENDIR, READDIR = 3, 5, 7, 11, 12
WAY = sys.argv[1]
SIZE = {"endless": 10, "less": 10}.get(WAY, 100_000)
PLAIN = 0o100644
PART = 32 << 10
CONTENT = b"x" * SIZE


def text(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def attributes() -> bytes:
    if WAY == "unsaid":
        return struct.pack(">I", 0)
    return struct.pack(">IQIII", 1 | 4 | 8, SIZE, PLAIN, 1, 1)


def say(kind: int, body: bytes) -> None:
    sys.stdout.buffer.write(struct.pack(">IB", len(body) + 1, kind) + body)
    sys.stdout.buffer.flush()


def hear() -> tuple[int, bytes]:
    head = sys.stdin.buffer.read(4)
    if not head:
        sys.exit(0)
    data = sys.stdin.buffer.read(struct.unpack(">I", head)[0])
    return data[0], data[1:]


def status(number: bytes, code: int) -> None:
    say(101, number + struct.pack(">I", code) + text(b"\x1b[2J secret") + text(b""))


def listed(number: bytes, *, is_first: bool) -> None:
    if WAY == "nolist":
        say(102, number + text(b"h"))
    elif WAY == "many":
        names = [b"%d-%d" % (time.monotonic_ns(), each) for each in range(1000)]
        entries = b"".join(text(name) + text(b"") + attributes() for name in names)
        say(104, number + struct.pack(">I", len(names)) + entries)
    elif WAY == "cut":
        say(104, number + struct.pack(">I", 5) + text(b"a.csv"))
    elif not is_first:
        status(number, 1)
    else:
        names = NAMES.get(WAY, [b"a.csv"])
        entries = b"".join(text(name) + text(b"") + attributes() for name in names)
        say(104, number + struct.pack(">I", len(names)) + entries)


def read(number: bytes, at: int, size: int) -> None:
    if WAY == "endless":
        say(103, number + text(b"x" * size))
    elif WAY == "nothing":
        say(103, number + text(b""))
    elif at == PART and WAY in {"gap", "hole"}:
        say(103, number + text(b"")) if WAY == "gap" else status(number, 1)
    elif WAY == "trickle":
        time.sleep(0.2)
        say(103, number + text(b"x"))
    elif at >= (3 if WAY == "less" else SIZE):
        status(number, 1)
    else:
        end = 3 if WAY == "less" else at + min(size, 1000)
        say(103, number + text(CONTENT[at:end]))


def begin() -> None:
    """Begin as no server does, in some ways."""
    if WAY == "silent":
        time.sleep(600)
    first = {
        "text": b"This account is currently not available.\n",
        "huge": struct.pack(">IB", 1 << 31, 2),
        "empty": struct.pack(">I", 0),
    }
    sys.stdout.buffer.write(first.get(WAY, b""))
    sys.stdout.flush()
    hear()
    say(2, struct.pack(">I", 2 if WAY == "old" else 3))


def answer(kind: int, number: bytes, body: bytes) -> None:
    """Answer a request that asks for no list."""
    if kind == READ:
        length = struct.unpack(">I", body[:4])[0]
        read(number, *struct.unpack(">QI", body[4 + length : 16 + length]))
    elif kind == LSTAT:
        say(105, number + attributes())
    elif kind in {OPEN, OPENDIR}:
        say(102, number + text(b"h"))
    else:
        status(number, 0)


def main() -> None:
    begin()
    lists = 0
    while True:
        kind, body = hear()
        number = b"\xff\xff\xff\xff" if WAY == "other" else body[:4]
        if WAY == "loud":
            sys.stderr.write("Permission denied \x1b[2J secret" * 10_000)
            sys.stderr.flush()
        if kind == READDIR:
            listed(number, is_first=lists == 0)
            lists += 1
        else:
            answer(kind, number, body[4:])


if __name__ == "__main__":
    main()
