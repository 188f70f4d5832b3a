"""The columns of the reports, the same on a screen, in a file and in the reports of a night."""

from __future__ import annotations

from cardoffers_cli.files.sheets import Column

REDEMPTIONS = (
    Column("id", gives_way=7),
    Column("created_at", kind="moment", gives_way=4),
    Column("institution", gives_way=3),
    Column("status"),
    Column("currency"),
    Column("merchant_funded_amount", "funded", kind="money", gives_way=1),
    Column("institution_payout_amount", "payout", kind="money"),
    Column("offer.id", "offer", gives_way=5),
    Column("offer.title", gives_way=6),
    Column("offer.merchant_name", "merchant", gives_way=2),
    Column("cardholder_token_masked", "cardholder"),
    Column("transaction_ref"),
)
SETTLEMENTS = (
    Column("id", gives_way=11),
    Column("redemption_id", gives_way=7),
    Column("institution", gives_way=1),
    Column("offer_id", "offer", gives_way=2),
    Column("merchant_id", gives_way=10),
    Column("transaction_ref"),
    Column("currency"),
    Column("merchant_funded_amount", "funded", kind="money"),
    Column("commission_amount", "commission", kind="money"),
    Column("institution_payout_amount", "payout", kind="money"),
    Column("status"),
    Column("created_at", kind="moment", gives_way=6),
    Column("settles_at", kind="moment", gives_way=3),
    Column("settled_at", kind="moment", gives_way=5),
    Column("reversed_at", kind="moment", gives_way=8),
    Column("reversal_reason", gives_way=4),
    Column("settlement_id", gives_way=9),
)
FUNNEL = (
    Column("step"),
    Column("count", kind="integer"),
    Column("conversion", kind="number"),
    Column("overall", kind="number"),
)
UNRESOLVED = (
    Column("institution"),
    Column("merchant_identifier_type", "type", gives_way=1),
    Column("merchant_identifier", "identifier"),
    Column("merchant_id"),
    Column("currency"),
    Column("purchases", kind="integer"),
    Column("amount", kind="money"),
    Column("cardholders", kind="integer", gives_way=2),
    Column("first_seen_at", kind="moment", gives_way=4),
    Column("last_seen_at", kind="moment", gives_way=3),
)
COUNTED_BY = {
    "day": (Column("day", kind="date"),),
    "offer": (
        Column("offer_id", "offer", gives_way=4),
        Column("title"),
        Column("merchant_name", "merchant", gives_way=2),
    ),
    "merchant": (Column("merchant_id", gives_way=4), Column("merchant_name", "merchant")),
}
"""What redemptions are counted by; `COUNTS` follow."""
COUNTS = (
    Column("redemptions", "count", kind="integer"),
    Column("reversed", kind="integer", gives_way=3),
    Column("currency"),
    Column("merchant_funded_amount", "funded", kind="money", gives_way=1),
    Column("institution_payout_amount", "payout", kind="money"),
)
BUDGETS = (
    Column("offer_id", "offer"),
    Column("title"),
    Column("merchant_name", "merchant"),
    Column("currency"),
    Column("budget_amount", "budget", kind="money"),
    Column("spent_amount", "spent", kind="money"),
    Column("spent_share", kind="number"),
    Column("recent_amount", "spent in 28 days", kind="money"),
    Column("outlook"),
)
TOTALS = (
    Column("institution"),
    Column("currency"),
    Column("status"),
    Column("entries", kind="integer"),
    Column("merchant_funded_amount", "funded", kind="money"),
    Column("commission_amount", "commission", kind="money"),
    Column("institution_payout_amount", "payout", kind="money"),
)
WEBHOOKS = (
    Column("institution"),
    Column("events", kind="integer"),
    Column("delivered", kind="integer"),
    Column("due", kind="integer"),
    Column("failed", kind="integer"),
    Column("stopped", kind="integer"),
    Column("exhausted", kind="integer"),
    Column("attempts_p50", "attempts p50", kind="integer"),
    Column("attempts_p95", "attempts p95", kind="integer"),
    Column("duration_ms_p50", "ms p50", kind="integer"),
    Column("duration_ms_p95", "ms p95", kind="integer"),
)
REJECTS = (
    Column("institution"),
    Column("code"),
    Column("errors", kind="integer"),
    Column("rows", kind="integer"),
    Column("files", kind="integer"),
)
