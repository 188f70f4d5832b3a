"""The columns of the reports, the same on a screen, in a file and in the reports of a night.

Their names and their order are the contract's, for programs: a new one comes last. Their titles are
the field's words, for people, who see them in the order of `…_FIRST` and ids at the end. All of it
stands in `columns.txt`.
"""

from __future__ import annotations

from cardoffers_cli.files.sheets import Column, read_columns

REDEMPTIONS = read_columns("report.redemptions")
CREDITED = read_columns("report.credited")
"""What follows where redemptions were held against credited rows; not in the reports of a night."""
REDEMPTIONS_FIRST = (
    *("offer.merchant_name", "currency", "institution_payout_amount", "purchase_amount"),
    *("transacted_at", "status", "institution", "offer.title"),
    *("merchant_funded_amount", "commission_amount", "created_at"),
)
SETTLEMENTS = read_columns("report.settlements")
ENTRIES_FIRST = (
    *("merchant_name", "currency", "institution_payout_amount", "status", "institution"),
    *("purchase_amount", "transacted_at", "offer_title", "merchant_funded_amount"),
    *("commission_amount", "settles_at", "settled_at"),
)
SETTLEMENT_SUMS = read_columns("report.settlement_sums")
OWED = read_columns("report.owed")
DUE = read_columns("report.due")
FUNNEL = read_columns("report.funnel")
"""The funnel for programs; people see `PEOPLE` and `VOLUMES`."""
PEOPLE = read_columns("report.people")
VOLUMES = (Column("label", "what happened"), Column("count", kind="integer"))
BEFORE = (Column("previous", "before", kind="integer"), Column("change", kind="change"))
"""What follows where a window is compared with the one before it."""
FUNNEL_BY = {
    "day": read_columns("report.funnel_by.day"),
    "offer": read_columns("report.funnel_by.offer"),
    "merchant": read_columns("report.funnel_by.merchant"),
}
"""What a funnel is counted by."""
UNRESOLVED = read_columns("report.unresolved")
UNRESOLVED_FIRST = (
    *("merchant_descriptor", "merchant_identifier", "currency", "amount", "purchases"),
    *("cardholders", "institution", "merchant_identifier_type"),
)
COUNTED_BY = {
    "day": read_columns("report.counted_by.day"),
    "offer": read_columns("report.counted_by.offer"),
    "merchant": read_columns("report.counted_by.merchant"),
}
"""What redemptions are counted by; `COUNTS` follow, and of days `DAY_COUNTS`."""
COUNTS = read_columns("report.counts")
DAY_COUNTS = read_columns("report.day_counts")
"""Redemptions by the day they were decided, and the same by the day of their purchase."""
OFFERS = read_columns("report.offers")
MERCHANTS = read_columns("report.merchants")
BUDGETS = read_columns("report.budgets")
TOTALS = read_columns("report.totals")
REJECTS = read_columns("report.rejects")
