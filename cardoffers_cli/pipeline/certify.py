"""Certify: what several files of an institution show together, and no one of them alone.

Files are compared by fingerprints of one seed, in the order in which they are given, which is that
in which they would be sent. The rows of each are added to one table, so memory stays flat: what
does not fit goes to the temporary folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.records import Record
from cardoffers_cli.domain.row_kinds import PURCHASES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from cardoffers_cli.pipeline.handles import Staged
    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The rows of the files that are compared, and the merchants that they name."""

    rows: Table
    merchants: Table


class FileBeside(Record):
    """One file beside those before it; days are of purchases (UTC).

    `repeated` rows an earlier file has with the same content, `differing` ones with another.
    """

    file_no: int
    row_count: int
    repeated: int
    differing: int
    first_on: date
    last_on: date


class SharedTokens(Record):
    """The cardholder tokens of rows that are new in their file, those in several of these files."""

    tokens: int
    shared: int
    files: int


class ChangingCards(Record):
    """The tokens of cards, and those that come with more than one cardholder token."""

    cards: int
    changing: int


def begin(store: Store) -> Compared:
    """Begin a comparison with no file."""
    return Compared(
        rows=store.make("pipeline/certify:none_shown"),
        merchants=store.make("pipeline/certify:no_merchants"),
    )


def show(store: Store, compared: Compared, staged: Staged, file_no: int) -> None:
    """Add a file that was staged as `compared`; its own tables are needed no more.

    Merchants are those of purchases: a refund may leave them out.
    """
    store.execute(
        "pipeline/certify:show",
        *(compared.rows, staged.rows),
        file_no=file_no,
        kind=staged.kind.name,
    )
    if staged.kind is PURCHASES:
        store.execute("pipeline/certify:show_merchants", compared.merchants, staged.rows)


def files(store: Store, compared: Compared) -> list[FileBeside]:
    """Return each file that has rows beside those before it."""
    return store.records(FileBeside, "pipeline/certify:files", compared.rows)


def shared_tokens(store: Store, compared: Compared) -> SharedTokens:
    """Return how many cardholder tokens come again in another file."""
    (found,) = store.records(SharedTokens, "pipeline/certify:tokens", compared.rows)
    return found


def changing_cards(store: Store, compared: Compared) -> ChangingCards:
    """Return how many card tokens come with several cardholder tokens."""
    (found,) = store.records(ChangingCards, "pipeline/certify:cards", compared.rows)
    return found


def merchants(store: Store, compared: Compared) -> Iterator[Sequence[Mapping[str, Any]]]:
    """Yield the merchants as the files name them, some at a time, each with its `row_count`."""
    yield from store.pages("pipeline/certify:merchants", compared.merchants)
