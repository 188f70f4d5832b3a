"""A real sshd on loopback with keys of its own, and liars that speak SFTP; and real keys of gpg.

Everything lies in a folder of the test. Where sshd or gpg is not installed, tests that need it are
skipped and say so.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.words.pickups import PickupPlace
from work import templates

if TYPE_CHECKING:
    from collections.abc import Iterator

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
needs_sshd = pytest.mark.skipif(
    not (SSHD and shutil.which("ssh")), reason="sshd or ssh is not installed: openssh-server"
)
needs_gpg = pytest.mark.skipif(not shutil.which("gpg"), reason="gpg is not installed: gnupg")
_DEADLINE_S = 20

CONFIG = """
ListenAddress 127.0.0.1:{port}
HostKey {folder}/host
PidFile none
AuthorizedKeysFile {folder}/authorized
PasswordAuthentication {password}
KbdInteractiveAuthentication {password}
PubkeyAuthentication yes
UsePAM no
StrictModes no
PermitRootLogin yes
LogLevel ERROR
Subsystem sftp {subsystem}
"""


@cache
def new_key(name: str) -> Path:
    """Return the path of a key pair of this process."""
    path = templates() / name
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return path


def public(key: Path) -> str:
    """Return the public half of a key: its kind and itself."""
    return " ".join(key.with_suffix(".pub").read_text().split()[:2])


@dataclass(frozen=True)
class SftpServer:
    """A server that runs; `root` is the folder that it offers."""

    port: int
    root: Path
    host_key: str
    key_file: Path

    def table(self, **changes: Any) -> dict[str, Any]:
        """Return a table `[pickup.INST]` for it."""
        return {
            "from": f"sftp://{getpass.getuser()}@127.0.0.1:{self.port}{self.root}",
            "host_key": self.host_key,
            "key_file": str(self.key_file),
            "most_seconds": _DEADLINE_S,
            **changes,
        }

    def place(self, **changes: Any) -> PickupPlace:
        """Return the place that it is."""
        return PickupPlace.model_validate(self.table(**changes))

    def put(self, name: str, content: bytes | str = b"x", age_s: float = 600) -> Path:
        """Write a file as the sender does, some time ago."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        then = time.time() - age_s
        os.utime(path, (then, then))
        return path

    def names(self, folder: str = "") -> list[str]:
        """Return the files that are there."""
        return sorted(path.name for path in (self.root / folder).iterdir() if path.is_file())


@contextmanager
def sftp_server(
    folder: Path, *, subsystem: str = "internal-sftp", others: str = "no", host: str = "host"
) -> Iterator[SftpServer]:
    """Run sshd for the length of a `with` block; `subsystem` is what it starts for SFTP."""
    own, root = folder / "sshd", folder / "remote"
    own.mkdir(mode=0o700, exist_ok=True)
    root.mkdir(exist_ok=True)
    shutil.copy(new_key(host), own / "host")
    (own / "host").chmod(0o600)
    (own / "authorized").write_text(public(new_key("client")))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = {"port": port, "folder": own, "subsystem": subsystem, "password": others}
    (own / "config").write_text(CONFIG.format(**words))
    Path("/run/sshd").mkdir(exist_ok=True) if os.geteuid() == 0 else None
    assert SSHD
    log = (own / "log").open("wb")
    server = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", str(own / "config")], stderr=log, start_new_session=True
    )
    try:
        _await(port, own / "log")
        yield SftpServer(port, root, public(new_key(host)), new_key("client"))
    finally:
        server.kill()
        server.wait()
        log.close()


def _await(port: int, log: Path) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.01)
        else:
            return


# Keys of OpenPGP


@dataclass(frozen=True)
class Gpg:
    """A home folder of gpg."""

    home: Path

    def run(self, *words: str, given: bytes = b"") -> bytes:
        """Run gpg in it, and return what it writes."""
        quiet = ["gpg", "--batch", "--quiet", "--homedir", str(self.home), "--no-options"]
        always = ["--trust-model", "always", "--pinentry-mode", "loopback", "--passphrase", ""]
        words = (*quiet, *always, *words)
        return subprocess.run(words, input=given, capture_output=True, check=True).stdout

    def key(self, name: str, *words: str, expires: str = "never") -> str:
        """Make a key that signs and is encrypted to; return its fingerprint."""
        kind = ("future-default", "default", expires)
        self.run(*words, "--quick-generate-key", f"{name}@example.org", *kind)
        return self.fingerprint(name)

    def fingerprint(self, name: str) -> str:
        told = self.run("--with-colons", "--list-keys", f"{name}@example.org").decode()
        return next(line.split(":")[9] for line in told.splitlines() if line.startswith("fpr"))

    def close(self) -> None:
        """End the agent that keeps its keys."""
        words = ["gpgconf", "--homedir", str(self.home), "--kill", "gpg-agent"]
        subprocess.run(words, check=True)


@contextmanager
def gpg_home() -> Iterator[Gpg]:
    """Make a home folder for the length of a `with` block; its path is short, as sockets need."""
    home = Path(tempfile.mkdtemp(prefix="g"))
    made = Gpg(home)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(home, ignore_errors=True)
