from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from cardoffers_cli.intake.chunks import NO_ROWS, with_fingerprints
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.kernel.words.money import AMOUNT_SCALE
from cardoffers_cli.kernel.words.row_kinds import PURCHASES
from cardoffers_cli.river import stage
from cardoffers_cli.river.number import number
from cardoffers_cli.river.stage import stage_whole
from sizes import slow
from tables import NOON, given, rows_of, select, uid
from work import file_of, found, kept, new_store, taken, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


@pytest.fixture
def made(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(made, institutions="institution\nalder\nbrook")
    return made


def purchases(made: Job) -> list[tuple[Any, ...]]:
    return found(
        made,
        "select slug, transaction_ref, cardholder_token, instrument_token,"
        " merchant_identifier_type, merchant_identifier, purchases.merchant_id, amount, line"
        " from purchases join institutions using (institution_id)"
        " join cardholders using (cardholder_no) join instruments using (instrument_no)"
        " left join identifiers using (identifier_no) order by purchase_no",
    )


def test_a_purchase_keeps_what_its_row_said(made: Job, tmp_path: Path) -> None:
    path = file_of(
        tmp_path / "tx.csv",
        f"""
        ref  cardholder  card  identifier  merchant         amount
        007  ann         c1    M1          -                1.50
        7    ann         c2    01          -                2
        b    ben         c1    -           {uid("bakery")}  3.00
        c    Ben         c1    1           -                4.00
        """,
    )
    taken(made, path)
    acceptor = "card_acceptor"
    assert [
        ("alder", "007", "ann", "c1", acceptor, "M1", None, Decimal("1.50"), 2),
        ("alder", "7", "ann", "c2", acceptor, "01", None, Decimal(2), 3),
        ("alder", "b", "ben", "c1", None, None, uid("bakery"), Decimal(3), 4),
        ("alder", "c", "Ben", "c1", acceptor, "1", None, Decimal(4), 5),
    ] == purchases(made)


def test_times_are_kept_in_utc(made: Job, tmp_path: Path) -> None:
    taken(made, file_of(tmp_path / "tx.csv", "ref at\n1 2026-05-31T23:30:00.1234567-05:30"))
    (row,) = found(made, "select transacted_at, received_at from purchases")
    assert (datetime(2026, 6, 1, 5, 0, 0, 123456), NOON) == row  # noqa: DTZ001


def test_optional_fields_are_kept_where_there_are_any(made: Job, tmp_path: Path) -> None:
    path = tmp_path / "tx.csv"
    required = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"
    optional = "instrument_type,mcc,merchant_descriptor,network"
    rows = [
        "ann,c,M1,1.00,1,2026-06-01T12:00:00Z,wallet,5411,Corner Shop,visa",
        "ann,c,M1,1.00,2,2026-06-01T12:00:00Z,,,,",
    ]
    path.write_text("\n".join([f"{required},{optional}", *rows]))
    taken(made, path)
    assert [("1", "wallet", "5411", "Corner Shop", "visa")] == found(
        made,
        "select transaction_ref, instrument_type, mcc, merchant_descriptor, network"
        " from purchase_details join purchases using (purchase_no)",
    )


@slow
def test_tokens_are_kept_once_for_each_institution(made: Job, tmp_path: Path) -> None:
    path = file_of(
        tmp_path / "tx.csv", "ref cardholder card\n1 ann c1\n2 ann c1\n3 ann c2\n4 ben c1"
    )
    for where in ("alder", "brook", "alder"):
        taken(made, path, where, is_own=True)
    assert (4, 6) == (len(kept(made)["cardholders"]), len(kept(made)["instruments"]))


def test_the_same_files_make_the_same_store(tmp_path: Path) -> None:
    stores = []
    rows = [
        {"ref": f"r{n}", "cardholder": f"c{n % 7}", "identifier": f"M{n % 5}", "amount": f"{n + 1}"}
        for n in range(99)
    ]
    for name in ("one", "two"):
        made = new_store(tmp_path, name)
        tell(made, institutions="institution\nalder")
        taken(made, file_of(tmp_path / "tx.csv", rows[:50]))
        taken(made, file_of(tmp_path / "tx.csv", rows[50:]))
        stores.append(kept(made, "runs", "imports", "acts", "schema_versions"))
    assert stores[0] == stores[1]


def test_an_amount_at_the_limit_is_kept_exactly(made: Job, tmp_path: Path) -> None:
    path = file_of(tmp_path / "tx.csv", "ref amount\n1 999999999999.99\n2 0.01\n3 1000000000000")
    told = taken(made, path)
    assert ("1000000000000.00", 1) == (str(told["amount_accepted"]), told["invalid"])


@pytest.mark.parametrize("few", [-1, 2_000])
def test_two_tokens_of_one_fingerprint_never_pass(
    store: Store, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "FEW_ROWS", few)
    given(store, "institutions", "institution\nalder")
    two = pl.DataFrame(
        {"cardholder_token": ["ann", "ben"], "instrument_token": "c1", "transaction_ref": "r"}
    )
    rows = with_fingerprints(pl.concat([NO_ROWS.rows, two], how="diagonal"), seed=1)
    chunk = (rows.with_columns(payer=pl.lit(1, pl.UInt64)), NO_ROWS.findings, NO_ROWS.doubts)
    (staged,) = stage_whole(store, [(chunk,)], [PURCHASES])
    with pytest.raises(CardoffersError) as caught:
        number(store, staged, uid("alder"))
    assert "fingerprint_collision" == caught.value.code
    assert [(0,)] == select(store, "select count(*) from purchases")


def test_no_field_of_a_row_cancels_another() -> None:
    """Amounts of the digits that their seconds have."""
    seconds = range(1_777_636_800, 1_777_636_810)
    amounts = [Decimal(second).scaleb(-AMOUNT_SCALE) for second in seconds]
    moments = [NOON.fromtimestamp(second, UTC).replace(tzinfo=None) for second in seconds]
    rows = pl.DataFrame({"amount": amounts, "transacted_at": moments})
    whole = pl.concat([NO_ROWS.rows, rows], how="diagonal_relaxed")
    assert 10 == with_fingerprints(whole, seed=1)["look"].n_unique()


@pytest.mark.parametrize(("places", "repeats"), [((4, 16), True), ((1 << 18, 1 << 18), False)])
def test_texts_are_written_whatever_is_forgotten(
    store: Store, places: tuple[int, int], repeats: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each pair of tokens is there: once where all are remembered, often where most are not."""
    monkeypatch.setattr(stage, "FEW_ROWS", -1)
    monkeypatch.setattr(stage, "_PLACES", places)
    monkeypatch.setattr(stage, "_CHUNKS_AT_A_TIME", 3)
    chunks = []
    for drawn in range(20):
        holders = [f"holder {(drawn * 37 + n * n) % 100}" for n in range(30)]
        rows = pl.DataFrame({"cardholder_token": holders, "instrument_token": "c1"})
        whole = pl.concat([NO_ROWS.rows, rows], how="diagonal")
        chunks.append((with_fingerprints(whole, seed=1), NO_ROWS.findings, NO_ROWS.doubts))
    tokens = stage_whole(store, ((each,) for each in chunks), [PURCHASES])[0].tokens
    written = sorted(holder for _, holder, _ in rows_of(store, tokens))
    expected = sorted({row for rows, *_ in chunks for row in rows["cardholder_token"]})
    assert expected == sorted(set(written))
    assert len(written) > 2 * len(expected) if repeats else expected == written
