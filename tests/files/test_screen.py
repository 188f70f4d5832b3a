from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from cardoffers_cli.files.chunks import Judge, Reading
from cardoffers_cli.files.rules import COLUMNS, apply_rules
from cardoffers_cli.files.screen import cleared

NOW = datetime(2026, 11, 1)  # noqa: DTZ001 - moments are naive UTC inside the product
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
TOKENS = ["t" * 31, "t" * 32, "t" * 256, "t" * 257, "4" + "1" * 15, "4-1" + "1" * 14, "a b" * 12]
ODD = ["", "\x00", "é", "x@y.zz", "\u202e", "4111 1111 1111 1111", "1" * 40, "-" * 40]
GOOD = ["M1", "t" * 40]
VALUES = {
    "instrument_type": ["card", "wallet", "Card"],
    "merchant_identifier_type": ["card_acceptor", "pix_key", "vpa"],
    "merchant_id": [UUID, UUID.upper(), UUID[1:]],
    "amount": [
        "0",
        "0.00",
        "1",
        "12.50",
        "12.500",
        "-1",
        "9" * 12,
        "9" * 13,
        "1e3",
        "0" * 20 + "1",
    ],
    "transacted_at": [
        "2026-03-18T13:12:54Z",
        "2026-03-18T13:12:54",
        "2026-03-18",
        "2026-11-02T00:00:00Z",
        "2026-11-02T00:00:01Z",
        "2026-02-30T00:00:00Z",
        "2026-03-18T13:12:54.1+02:00",
    ],
    "institution_id": [UUID, UUID[::-1]],
}
ROW = st.fixed_dictionaries(
    {
        name: st.none() | st.sampled_from([*VALUES.get(name, [*GOOD, *TOKENS]), *ODD])
        for name in COLUMNS
    }
    | {"mistyped": st.none() | st.sampled_from(["|mcc|", "|amount|card_token|"])}
)
MOSTLY_GOOD = st.fixed_dictionaries(
    {
        "cardholder_token": st.sampled_from([*TOKENS[:4], "t" * 40]),
        "card_token": st.none() | st.sampled_from(["c1", TOKENS[4], TOKENS[5]]),
        "instrument_token": st.none() | st.sampled_from(["c1", "c2"]),
        "card_acceptor_id": st.none() | st.sampled_from(["M1", "M 2"]),
        "merchant_identifier": st.none() | st.sampled_from(["M1", "M2"]),
        "transaction_ref": st.sampled_from(["r" * 128, "r" * 129]),
        "amount": st.sampled_from(VALUES["amount"]),
        "transacted_at": st.sampled_from(VALUES["transacted_at"]),
        "merchant_id": st.none() | st.sampled_from(VALUES["merchant_id"]),
    }
)


def _visible(rows: list[dict[str, Any]]) -> bool:
    texts = [value for row in rows for value in row.values() if value]
    return all("!" <= char <= "~" and char not in '"@' for text in texts for char in text)


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(ROW, min_size=1, max_size=30) | st.lists(MOSTLY_GOOD, min_size=1, max_size=60),
    decimals=st.sampled_from([0, 2, 3]),
    zone=st.sampled_from([None, "Europe/Madrid"]),
)
def test_the_screen_never_clears_a_row_that_breaks_a_rule(
    rows: list[dict[str, Any]], decimals: int, zone: str | None
) -> None:
    names = list(rows[0])
    raw = pl.DataFrame(
        {
            "line": pl.Series(range(len(rows)), dtype=pl.UInt64),
            **{n: pl.Series([row[n] or None for row in rows], dtype=pl.String) for n in names},
        }
    )
    reading = Reading(now=NOW, decimals=decimals, assume_timezone=zone, institution_id=UUID)
    derived = Judge(reading).with_derived(raw)
    screen = cleared(set(names), visible=_visible(rows), decimals=decimals)
    clear = derived.filter(screen).with_columns(
        pl.lit(None, pl.String).alias(n) for n in (*COLUMNS, "mistyped") if n not in names
    )
    assert [] == apply_rules(clear).rows()


def test_the_screen_clears_a_usual_row() -> None:
    raw = pl.DataFrame(
        {
            "line": pl.Series([2], dtype=pl.UInt64),
            "cardholder_token": ["9fb6f85a8aac50e20c422cac18b44258"],
            "card_token": ["ct_1"],
            "card_acceptor_id": ["M6CF4DC01F8024C"],
            "amount": ["12.50"],
            "transaction_ref": ["TX-1"],
            "transacted_at": ["2026-03-18T13:12:54Z"],
        }
    )
    derived = Judge(Reading(now=NOW + timedelta(days=1))).with_derived(raw)
    screen = cleared(set(raw.columns), visible=True, decimals=2)
    assert [True] == derived.select(screen).to_series().to_list()
