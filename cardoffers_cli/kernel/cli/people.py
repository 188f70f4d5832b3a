"""Who runs a command: the user of the system, and the person who works as it (POSIX only).

The user is what the kernel says. Who logged in before changing to another user (sudo, su) is known
on Linux, where the kernel keeps it from the login on and lets nobody but root change it. The name
of the setting `actor` is a word that anybody can give, so it counts only where the system knows
nothing better.
"""

import os
import pwd
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cardoffers_cli.kernel.words.errors import UsageError

LOGIN = Path("/proc/self/loginuid")
"""Where Linux says which user logged in."""

_NOBODY = 2**32 - 1
"""Who logged in where nobody did."""


def person(named: str | None) -> str:
    """Return who runs this: `ops`, or `alice as ops`; `named` is the setting `actor`."""
    user, login = os.getuid(), _NOBODY
    with suppress(OSError, ValueError):
        login = int(LOGIN.read_text("ascii"))
    name = named if login in {user, _NOBODY} else name_of(login)
    return name_of(user) if name in {None, name_of(user)} else f"{name} as {name_of(user)}"


def name_of(user: int) -> str:
    """Return the name of a user of the system, or its number where it has none."""
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


# Extras: packages that only some commands need, and what is said where they are missing.


@contextmanager
def extra(name: str, packages: Collection[str], what: str) -> Iterator[None]:
    """Import inside this block; say which extra is missing, where one of its packages is."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if str(missing.name).partition(".")[0] not in packages:
            raise
        raise UsageError.from_table("kernel/cli", "extra_missing", what=what, name=name) from None
