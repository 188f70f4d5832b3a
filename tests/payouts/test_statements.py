"""Statements of accounts are proved by their balances, each by itself and with the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from banks import bai2, camt, entry, head, mt940
from cardoffers_cli.kernel.words.errors import FileUnusable
from paying import payable, taken
from sizes import slow
from tables import read
from work import kept

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture
def made(tmp_path: Path) -> Job:
    return payable(tmp_path)


def stated(form: str, on: str, opening: str, closing: str, account: str) -> bytes:
    """Write a statement of a day in November with one entry, where its balances differ."""
    moved = round(float(closing) - float(opening), 2)
    if form == "camt":
        way = {"side": "CRDT" if moved > 0 else "DBIT", "on": f"<Dt>2026-11-{on}</Dt>"}
        entries = [entry(f"{abs(moved):.2f}", ref=f"R-{on}", **way)] if moved else []
        return camt(head(opening, closing, on=f"2026-11-{on}", account=account), *entries)
    of: dict[str, Any] = {"on": f"2611{on}", "account": account}
    if form == "mt940":
        line = f"{'C' if moved > 0 else 'D'} {abs(moved):.2f} R-{on} text".replace(".", ",")
        told = {"opening": opening.replace(".", ","), "closing": closing.replace(".", ",")}
        return mt940(*[line] * bool(moved), **told, **of)
    cents = [f"{float(each) * 100:.0f}" for each in (opening, closing)]
    line = f"{165 if moved > 0 else 475} {abs(moved) * 100:.0f} R-{on} A,text/"
    return bai2(*[line] * bool(moved), opening=cents[0], closing=cents[1], **of)


# What comes in, one file after the other, as day:opening:closing:account, and which of these does
# not follow on what is known
CHAINS = """
files                                                     differs
02:0.00:5.00:A1,03:5.00:7.00:A1,04:7.00:7.00:A1           -
03:5.00:7.00:A1,02:0.00:5.00:A1                           -
02:0.00:5.00:A1,04:6.00:7.00:A1                           2
04:6.00:7.00:A1,02:0.00:5.00:A1                           2
02:0.00:5.00:A1,02:0.00:5.00:A1,04:5.00:7.00:A1           -
02:0.00:5.00:A1,02:5.00:9.00:A1,03:9.00:7.00:A1           -
02:5.00:9.00:A1,02:0.00:5.00:A1,03:9.00:7.00:A1           -
02:0.00:5.00:A1,02:6.00:9.00:A1                           -
02:0.00:5.00:A1,03:6.00:7.00:B2                           -
02:0.00:5.00:A1,03:5.00:5.00:A1,05:6.00:7.00:A1           3
02:0.00:5.00:A1,03:5.00:6.00:A1,04:6.00:6.00:A1           -
"""


@slow
@pytest.mark.parametrize("form", ["camt", "mt940", "bai2"])
@pytest.mark.parametrize("line", read(CHAINS), ids=str)
def test_a_statement_opens_as_the_one_before_closed(
    made: Job, form: str, line: dict[str, str]
) -> None:
    """rules.md#bank-entries"""
    differs = []
    for number, file in enumerate(line["files"].split(","), 1):
        before = kept(made)
        try:
            told = taken(made, stated(form, *file.split(":")))
        except FileUnusable as refused:
            why = "opens with GBP 6.00, and the one before closed with GBP 5.00" in refused.message
            told_so = ("balance_differs", True, before) == (refused.code, why, kept(made))
            differs += [str(number)] * (told_so and form != "camt")
        else:
            assert {"proved": 1} == told.statements
            differs += [str(number) for each in told.findings if each.code == "balance_differs"]
    assert [line["differs"]] == (differs or [None])
