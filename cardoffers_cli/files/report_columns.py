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
