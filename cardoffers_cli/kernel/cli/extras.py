"""Extras: packages that only some commands need, and what is said where they are missing."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from cardoffers_cli.kernel.words.errors import UsageError


@contextmanager
def extra(name: str, packages: Collection[str], what: str) -> Iterator[None]:
    """Import inside this block; say which extra is missing, where one of its packages is."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if str(missing.name).partition(".")[0] not in packages:
            raise
        raise UsageError(
            f"{what} needs the extra {name}.",
            code="extra_missing",
            hint=f"pip install 'cardoffers-cli[{name}]'",
        ) from None
