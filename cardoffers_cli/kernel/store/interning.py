"""Numbers for tokens: what repeats in millions of rows is kept once and pointed to by number.

The caller makes a temporary table of the pairs that its rows carry, hands it to one of these, and
joins its rows to the numbers. A pair known already keeps its number; new ones continue from the
highest, in the order of their text, so the same rows always get the same numbers. Running it again
adds nothing.

Of few texts no table is made, and their numbers are returned: `number_payers` and
`number_identifiers` come to the same. What they found is remembered while the store is open, so the
next call of a cardholder needs no statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.ids import ref_hash

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store

    Key = tuple[str | int, ...]


# Numbers of new rows: those behind the highest of their table, which is looked up once.
#
# While a store is open for writing nobody else numbers rows in it. So the next number is remembered
# with what else is (`memory.py`): until a statement changes the table, or a transaction is rolled
# back. Who adds rows says what the next number is after them.


def next_number(store: Store, address: str) -> int:
    """Return the number of the next row, as the statement at an address has it."""
    return store.memory.recall(address, (address,), lambda: int(store.value(address)))


def numbered_up_to(store: Store, address: str, number: int) -> None:
    """Say that rows up to this number have been added, and no others since the last was given."""
    store.memory.know(address, (address,), number + 1)


_MOST = 50_000
"""Texts of a kind whose numbers are remembered while a store is open."""
_COLUMNS = {
    "cardholder": ("cardholder_token",),
    "instrument": ("cardholder_no", "instrument_token"),
    "identifier": ("merchant_identifier_type", "merchant_identifier"),
}
"""What is told apart by a number, by kind."""


def intern_payers(store: Store, payers: Table) -> None:
    """Give new cardholders and instruments numbers, in the caller's transaction.

    `payers` has institution_id, cardholder_token and instrument_token, of which only the last may
    be null; repeated rows do no harm.
    """
    intern_cardholders(store, payers)
    store.execute("kernel/store/interning:instruments", payers.called("staged_payers"))


def intern_cardholders(store: Store, payers: Table) -> None:
    """Give new cardholders numbers, where no instrument is known, in the caller's transaction.

    `payers` has institution_id and cardholder_token, neither of them null; repeated rows and other
    columns do no harm.
    """
    store.execute("kernel/store/interning:cardholders", payers.called("staged_payers"))


def intern_identifiers(store: Store, identifiers: Table) -> None:
    """Give new merchant identifiers numbers, their owner unknown for now.

    `identifiers` has merchant_identifier_type and merchant_identifier, neither of them null;
    repeated rows do no harm.
    """
    store.execute("kernel/store/interning:identifiers", identifiers.called("staged_identifiers"))


def number_payers(
    store: Store, institution_id: UUID, pairs: Collection[tuple[str, str]]
) -> Mapping[tuple[str, str], tuple[int, int]]:
    """Return the numbers of a few cardholders and their instruments, by their tokens.

    New ones get numbers, in the caller's transaction.
    """
    of = {"institution_id": institution_id}
    holders, new_holders = _numbers(store, "cardholder", {(token,) for token, _ in pairs}, of)
    keys = {pair: (holders[pair[0],], pair[1]) for pair in pairs}
    new = {keys[pair] for pair in pairs if (pair[0],) in new_holders}
    instruments, _ = _numbers(store, "instrument", set(keys.values()), of, new)
    return {pair: (key[0], instruments[key]) for pair, key in keys.items()}


def number_identifiers(
    store: Store, identifiers: Collection[tuple[str, str]]
) -> Mapping[tuple[str, str], int]:
    """Return the numbers of a few merchant identifiers, each with its type; new ones get one."""
    numbers, _ = _numbers(store, "identifier", set(identifiers), {})
    return {identifier: numbers[identifier] for identifier in identifiers}


def _numbers(
    store: Store, kind: str, keys: Collection[Key], of: Mapping[str, Any], new: Collection[Key] = ()
) -> tuple[Mapping[Key, int], Collection[Key]]:
    """Return the numbers of a few texts of one kind, and perhaps of others, and which were new.

    Those that are surely `new` are not looked for.
    """
    address = f"kernel/store/interning:known_{kind}s"
    by_key: dict[Key, int] = store.memory.recall((kind, *of.values()), (address,), dict, grows=True)
    if len(by_key) >= _MOST:
        by_key.clear()
    if perhaps := [key for key in keys if key not in by_key and key not in new]:
        for row in store.rows(address, **of, **_lists(kind, perhaps)):
            *key, number = row.values()
            by_key[tuple(key)] = number
    if added := sorted(key for key in keys if key not in by_key):
        following = f"kernel/store/interning:next_{kind}"
        first = next_number(store, following)
        numbers = [*range(first, first + len(added))]
        store.execute(
            f"kernel/store/interning:new_{kind}s", **of, **_lists(kind, added), numbers=numbers
        )
        numbered_up_to(store, following, numbers[-1])
        by_key |= dict(zip(added, numbers, strict=True))
    return by_key, added


def _lists(kind: str, keys: Sequence[Key]) -> dict[str, list[Any]]:
    """Return the parts of keys as the lists that the statements of a kind take."""
    columns = zip(_COLUMNS[kind], zip(*keys, strict=True), strict=True)
    return {f"{name}s": [*values] for name, values in columns}


# Purchases by their references: by a stored hash first, and then by the text.
#
# A look through the texts of all references costs what the history is long; the hashes are one
# narrow column of the store (`purchase_refs`), also of purchases whose rows are in its archive.
# They are MD5, halved, because that is the same for ever; the engine's own hash may change with its
# version. Each is written with its purchase (`river/admit.py`), and the audit
# `references_are_indexed` computes them again. What a person looks for is found by three
# statements, of which each but the first reads the few rows that the one before it named.


def purchases_of_refs(
    store: Store, refs: Sequence[str], institution_id: UUID | None = None
) -> list[int]:
    """Return the numbers of the purchases with these references, in order.

    Those of one institution, or of all.
    """
    of = {"refs": list(refs), "institution_id": institution_id}
    if institution_id:
        hashes = [ref_hash(institution_id, ref) for ref in refs]
    else:
        rows = store.rows("kernel/store/references:hashes", refs=list(refs))
        hashes = [row["ref_hash"] for row in rows]
    numbers = _purchases_of(store, hashes)
    if not numbers:
        return []
    between = {"first": min(numbers), "last": max(numbers)}
    rows = store.rows("kernel/store/references:of_refs", **between, **of, purchase_nos=numbers)
    return [row["purchase_no"] for row in rows]


def any_known(store: Store, institution_id: UUID, refs: Sequence[str]) -> bool:
    """Whether an institution may have a purchase with one of a few references, by their hashes."""
    return bool(_purchases_of(store, [ref_hash(institution_id, ref) for ref in refs]))


def _purchases_of(store: Store, hashes: Sequence[int]) -> list[int]:
    """Return the numbers of the purchases with these hashes."""
    if not hashes:
        return []
    between = {"least": min(hashes), "most": max(hashes)}
    rows = store.rows("kernel/store/references:of_hashes", **between, hashes=list(hashes))
    return [row["purchase_no"] for row in rows]
