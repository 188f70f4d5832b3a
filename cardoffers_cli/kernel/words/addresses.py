"""Where a webhook may go (rules.md#receivers): the form of its URL, and addresses it may not reach.

A URL is given by an institution and followed from inside our network, so it must not be able to
reach what only the inside can reach. `refused_networks.txt` is the explicit list, after IANA's
special-purpose registries: `ipaddress.is_global` takes NAT64, 6to4 and others for public. The text
of a URL is held to a form that every parser reads alike; what its name resolves to is looked at
when a connection is made (`kernel/net/transport.py`), because it can change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from cardoffers_cli.kernel.words.errors import UsageError

REFUSED: tuple[tuple[IPv4Network | IPv6Network, str], ...] = tuple(
    (ip_network(network), what)
    for line in files(__package__).joinpath("refused_networks.txt").read_text("ascii").splitlines()
    for network, what in [line.split(maxsplit=1)]
)
"""Network -> what it is; the first that holds an address names it. IPv6 is left 2000::/3."""

LOCAL_NAMES = re.compile(
    r"(.*\.)?(localhost|localdomain|local|internal|intranet|lan|home|corp|private|home\.arpa)"
)
"""Names that only mean something inside a network."""

_LONGEST = 2048
_URL = re.compile(
    r"(?P<scheme>[a-z]+)://(?P<authority>[^/?#\\]*)"
    r"([/?]([a-z0-9._~:/?\[\]@!$&'()*+,;=-]|%[0-9a-f]{2})*)?",
    re.ASCII | re.IGNORECASE,
)
_HOST = re.compile(r"(?P<host>\[[0-9a-f:.]*\]|[a-z0-9._-]*)(:(?P<port>[0-9]{1,5}))?", re.ASCII)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_PORTS = {"https": 443, "http": 80}
_FIRST_OPEN_PORT = 1024
_LAST_PORT = 65535


@dataclass(frozen=True)
class Target:
    """Where a URL leads: lower-case host without brackets or a final dot, and the port."""

    scheme: str
    host: str
    port: int

    @property
    def is_address(self) -> bool:
        """Whether the host is an address, and not a name."""
        try:
            ip_address(self.host)
        except ValueError:
            return False
        return True


def refusal_of(address: str) -> str | None:
    """Return what makes an address one that no webhook goes to; None when it is public."""
    try:
        ip = ip_address(address)
    except ValueError:
        return "no address"
    if getattr(ip, "scope_id", None):
        return "link-local"
    return next(
        (what for network, what in REFUSED if network.version == ip.version and ip in network), None
    )


def check_url(url: str, *, allow_insecure: bool = False) -> None:
    """Raise `UsageError` when no webhook may go to a URL; `allow_insecure` is for development.

    It lifts https and what is private, never the strict form.
    """
    place = parse_url(url)
    if allow_insecure:
        return
    if place.scheme != "https":
        raise _no_https()
    if place.port != _PORTS["https"] and place.port < _FIRST_OPEN_PORT:
        raise _wrong(
            "port",
            f"names port {place.port}, which belongs to another service",
            f"Use 443, or a port from {_FIRST_OPEN_PORT}.",
        )
    if why := refusal_of(place.host) if place.is_address else _local(place.host):
        raise UsageError.from_table("kernel/words", "address_refused", place=place, why=why)


def parse_url(url: str) -> Target:
    """Read a URL of the strict form; raises `UsageError`, which says what is wrong with it."""
    parts = _URL.fullmatch(url)
    if parts is None or len(url) > _LONGEST:
        raise _wrong("invalid", "is not well-formed", _FORM)
    scheme, authority = parts["scheme"].lower(), parts["authority"].lower()
    if scheme not in _PORTS:
        raise _no_https()
    if "@" in authority:
        raise _wrong("user_info", "holds a user name or a password", "Leave out what is before @.")
    match = _HOST.fullmatch(authority)
    if match is None:
        raise _wrong("invalid", "is not well-formed", _FORM)
    port = int(match["port"] or _PORTS[scheme])
    if not 0 < port <= _LAST_PORT:
        raise _wrong("port", "has a port that does not exist", "Leave it out for the usual one.")
    return Target(scheme, _host(match["host"]), port)


_FORM = f"Write https://host/path, at most {_LONGEST} ASCII letters, others as %XX or xn--."


def _host(text: str) -> str:
    """Check a host: an IPv6 address in brackets, an IPv4 one of four plain numbers, or a name."""
    host = text.removesuffix(".")
    labels = host.split(".")
    try:
        if text.startswith("["):
            return IPv6Address(text[1:-1]).compressed
        if _NUMBER.fullmatch(labels[-1]):  # programs read 0177.1 and 2130706433 as addresses
            return IPv4Address(text).compressed
    except ValueError:
        raise _wrong(
            "host",
            "has an address in a form that programs read differently",
            "Write it as four decimal numbers without leading zeros, or use a name.",
        ) from None
    if not all(map(_LABEL.fullmatch, labels)) or len(host) > 253:  # noqa: PLR2004  RFC 1035
        raise _wrong("host", "has no well-formed host", _FORM)
    return host


def _local(name: str) -> str | None:
    if "." not in name or LOCAL_NAMES.fullmatch(name):
        return "a name of local networks"
    return None


def _no_https() -> UsageError:
    return _wrong("scheme", "does not begin with https://", "Webhooks need TLS.")


def _wrong(what: str, problem: str, hint: str) -> UsageError:
    """Build the error, which does not repeat the URL: its path or query may be a secret."""
    return UsageError(f"The webhook URL {problem}.", code=f"url_{what}", hint=hint)
