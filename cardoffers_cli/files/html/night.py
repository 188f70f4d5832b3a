"""The page of a night: what needs somebody, what came in, what it became, and how things stand."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.money import money_text
from cardoffers_cli.files.html import sections
from cardoffers_cli.files.html.pages import Page, Section
from cardoffers_cli.files.sheets import Column, Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    Rows = Sequence[Mapping[str, Any]]

FINDINGS = (Column("level"), Column("step"), Column("message"), Column("next"))
CAME_IN = (
    Column("institution"),
    Column("currency"),
    Column("received", kind="integer"),
    Column("accepted", kind="integer"),
    Column("duplicates", kind="integer"),
    Column("invalid", kind="integer"),
    Column("amount_accepted", "amount", kind="money"),
)
REDEEMED = (
    Column("institution"),
    Column("currency"),
    Column("redeemed", kind="integer"),
    Column("merchant_funded_amount", "merchants fund", kind="money"),
    Column("commission_amount", "commission", kind="money"),
    Column("institution_payout_amount", "payout", kind="money"),
)
SETTLED = (
    Column("institution"),
    Column("currency"),
    Column("settled", "entries", kind="integer"),
    Column("adjustments", kind="integer"),
    Column("settled_merchant_funded_amount", "merchants fund", kind="money"),
    Column("settled_commission_amount", "commission", kind="money"),
    Column("settled_institution_payout_amount", "payout", kind="money"),
)
WAITING = (Column("waits"), Column("count", kind="integer"))

_LATELY = "The last 30 days."
_URGENCY = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, kw_only=True)
class Night:
    """What the page of a night shows: rows as services make them, funnels by institution.

    `summary` and `rejects` are of the night itself; `days`, `merchants`, `totals` and `webhooks` of
    the last 30 days, `budgets` and `waiting` of now.
    """

    name: str
    as_of: datetime
    audits: int
    findings: Rows
    summary: Rows
    rejects: Rows
    days: Rows
    merchants: Rows
    totals: Rows
    budgets: Rows
    webhooks: Rows
    funnels: Mapping[str, Rows]
    waiting: Rows
    files: Sequence[str]


def night_page(night: Night) -> Page:
    """Return the page of a night."""
    return Page(
        title=f"The night of {night.name}",
        as_of=night.as_of,
        facts=list(_facts(night)),
        sections=list(_sections(night)),
        files=night.files,
    )


def _facts(night: Night) -> Iterator[tuple[str, str]]:
    yield "purchases accepted", str(sum(row["accepted"] for row in night.summary))
    yield "redemptions", str(sum(row["redeemed"] for row in night.summary))
    yield from _payouts(night, "payout", "institution_payout_amount")
    yield from _payouts(night, "settled", "settled_institution_payout_amount")


def _payouts(night: Night, name: str, column: str) -> Iterator[tuple[str, str]]:
    for currency in sorted({row["currency"] for row in night.summary}):
        amounts = [row[column] for row in night.summary if row["currency"] == currency]
        yield name, money_text(sum(amounts, Decimal(0)), currency)


def _sections(night: Night) -> Iterator[Section]:
    yield _findings(night)
    yield _table("What came in", CAME_IN, night.summary)
    yield sections.rejects_section(night.rejects, lines=["Of the files of this night."])
    yield _table("What was redeemed", REDEEMED, night.summary)
    yield _table("What was settled", SETTLED, night.summary, "Net of adjustments.")
    yield sections.days_section(night.days)
    yield sections.counts_section(
        "merchant", night.merchants, title="Top merchants", lines=[_LATELY]
    )
    yield sections.budgets_section(night.budgets)
    yield sections.totals_section(night.totals, lines=[_LATELY])
    yield sections.webhooks_section(night.webhooks, lines=[_LATELY])
    for slug, funnel in night.funnels.items():
        yield sections.funnel_section(funnel, title=f"Funnel of {slug}", lines=[_LATELY])
    yield _table("What waits", WAITING, night.waiting)


def _findings(night: Night) -> Section:
    rows = sorted(night.findings, key=lambda row: _URGENCY[row["level"]])
    faults = sum(row["code"] == "audit_failed" for row in rows)
    line = f"{night.audits} audits of the store were made; {faults} found faults."
    sheet = Sheet("findings", FINDINGS, rows, title="Findings, the most urgent first")
    return Section(title="What needs somebody", lines=[line], sheet=sheet)


def _table(title: str, columns: Sequence[Column], rows: Rows, *lines: str) -> Section:
    return sections.plain_section(Sheet(title, tuple(columns), rows), title=title, lines=lines)
