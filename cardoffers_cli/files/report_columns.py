"""The columns of the reports, the same on a screen, in a file and in the reports of a night.

Their names and their order are the contract's, for programs: a new one comes last. Their titles are
the field's words, for people, who see them in the order of `…_FIRST` and ids at the end.
"""

from __future__ import annotations

from cardoffers_cli.files.sheets import Column

_PURCHASE = (
    Column("purchase_amount", "purchase", kind="money", gives_way=2),
    Column("transacted_at", "purchased at", kind="moment", gives_way=6),
)
REDEMPTIONS = (
    Column("id", "redemption id", kind="id", gives_way=12),
    Column("created_at", "decided at", kind="moment", gives_way=9),
    Column("institution", gives_way=4),
    Column("status"),
    Column("currency"),
    Column("merchant_funded_amount", "merchant funds", kind="money", gives_way=3),
    Column("institution_payout_amount", "payout", kind="money"),
    Column("offer.id", "offer id", kind="id", gives_way=10),
    Column("offer.title", "offer", gives_way=8),
    Column("offer.merchant_name", "merchant"),
    Column("cardholder_token_masked", "cardholder", gives_way=1),
    Column("transaction_ref", "reference"),
    *_PURCHASE,
    Column("commission_amount", "commission", kind="money", gives_way=5),
    Column("merchant_id", "merchant id", kind="id", gives_way=11),
)
REDEMPTIONS_FIRST = (
    *("offer.merchant_name", "currency", "institution_payout_amount", "purchase_amount"),
    *("transacted_at", "status", "institution", "offer.title"),
    *("merchant_funded_amount", "commission_amount", "created_at"),
)
SETTLEMENTS = (
    Column("id", "entry id", kind="id", gives_way=17),
    Column("redemption_id", "redemption id", kind="id", gives_way=14),
    Column("institution", gives_way=3),
    Column("offer_id", "offer id", kind="id", gives_way=13),
    Column("merchant_id", "merchant id", kind="id", gives_way=16),
    Column("transaction_ref", "reference"),
    Column("currency"),
    Column("merchant_funded_amount", "merchant funds", kind="money", gives_way=1),
    Column("commission_amount", "commission", kind="money", gives_way=4),
    Column("institution_payout_amount", "payout", kind="money"),
    Column("status"),
    Column("created_at", "decided at", kind="moment", gives_way=10),
    Column("settles_at", "due at", kind="moment", gives_way=5),
    Column("settled_at", "settled at", kind="moment", gives_way=9),
    Column("reversed_at", "reversed at", kind="moment", gives_way=12),
    Column("reversal_reason", "reason of reversal", gives_way=8),
    Column("settlement_id", "settlement id", kind="id", gives_way=15),
    Column("merchant_name", "merchant"),
    Column("offer_title", "offer", gives_way=11),
    *_PURCHASE,
)
ENTRIES_FIRST = (
    *("merchant_name", "currency", "institution_payout_amount", "status", "institution"),
    *("purchase_amount", "transacted_at", "offer_title", "merchant_funded_amount"),
    *("commission_amount", "settles_at", "settled_at"),
)
SETTLEMENT_SUMS = (
    Column("institution"),
    Column("currency"),
    Column("institution_payout_amount", "payout", kind="money"),
    Column("settled_at", "settled at", kind="moment", gives_way=2),
    Column("entries", kind="integer"),
    Column("adjustments", kind="integer", gives_way=4),
    Column("merchant_funded_amount", "merchants fund", kind="money", gives_way=1),
    Column("commission_amount", "commission", kind="money", gives_way=3),
    Column("settlement_id", "settlement id", kind="id", gives_way=5),
)
OWED = (
    Column("institution"),
    Column("currency"),
    Column("institution_payout_amount", "owed", kind="money"),
    Column("pending_payout_amount", "on hold", kind="money"),
    Column("next_settles_at", "next due", kind="moment", gives_way=3),
    Column("settlements", kind="integer", gives_way=1),
    Column("entries", kind="integer", gives_way=4),
    Column("adjustments", kind="integer", gives_way=7),
    Column("merchant_funded_amount", "merchants fund", kind="money", gives_way=2),
    Column("commission_amount", "commission", kind="money", gives_way=5),
    Column("open_adjustment_amount", "to be deducted", kind="money", gives_way=6),
)
DUE = (
    Column("day", "due on", kind="date"),
    Column("institution"),
    Column("currency"),
    Column("institution_payout_amount", "payout", kind="money"),
    Column("entries", kind="integer"),
)
FUNNEL = (
    Column("step"),
    Column("count", kind="integer"),
    Column("conversion", kind="number"),
    Column("overall", kind="number"),
    Column("conversion_of"),
)
"""The funnel for programs; people see `PEOPLE` and `VOLUMES`."""
PEOPLE = (
    Column("step", "cardholders"),
    Column("count", kind="integer"),
    Column("share", "of the step before", kind="share"),
)
VOLUMES = (Column("label", "what happened"), Column("count", kind="integer"))
BEFORE = (Column("previous", "before", kind="integer"), Column("change", kind="change"))
"""What follows where a window is compared with the one before it."""
_OF_OFFERS = (
    Column("offer_impressions", "shown", kind="integer"),
    Column("offer_add_successes", "added", kind="integer"),
    Column("redemptions", "redemptions", kind="integer"),
)
FUNNEL_BY = {
    "day": (
        Column("day", kind="date"),
        Column("widget_views", "views", kind="integer"),
        Column("unique_cardholders", "cardholders", kind="integer"),
        Column("offer_impressions", "shown", kind="integer"),
        Column("offer_add_successes", "added", kind="integer"),
        Column("redemptions", "decided", kind="integer", gives_way=1),
        Column("purchase_day_redemptions", "purchased", kind="integer"),
    ),
    "offer": (
        Column("offer_id", "offer id", kind="id", gives_way=2),
        Column("title", "offer"),
        Column("merchant_name", "merchant", gives_way=1),
        *_OF_OFFERS,
    ),
    "merchant": (
        Column("merchant_id", "merchant id", kind="id", gives_way=1),
        Column("merchant_name", "merchant"),
        *_OF_OFFERS,
    ),
}
"""What a funnel is counted by."""
UNRESOLVED = (
    Column("institution"),
    Column("merchant_identifier_type", "kind", gives_way=1),
    Column("merchant_identifier", "identifier"),
    Column("merchant_id", "merchant id", kind="id", gives_way=6),
    Column("currency"),
    Column("purchases", kind="integer"),
    Column("amount", kind="money"),
    Column("cardholders", kind="integer", gives_way=2),
    Column("first_seen_at", "first seen", kind="moment", gives_way=4),
    Column("last_seen_at", "last seen", kind="moment", gives_way=3),
    Column("merchant_descriptor", "descriptor"),
    Column("descriptors", kind="integer", gives_way=5),
)
UNRESOLVED_FIRST = (
    *("merchant_descriptor", "merchant_identifier", "currency", "amount", "purchases"),
    *("cardholders", "institution", "merchant_identifier_type"),
)
COUNTED_BY = {
    "day": (Column("day", kind="date"),),
    "offer": (
        Column("offer_id", "offer id", kind="id", gives_way=4),
        Column("title", "offer"),
        Column("merchant_name", "merchant", gives_way=2),
    ),
    "merchant": (
        Column("merchant_id", "merchant id", kind="id", gives_way=4),
        Column("merchant_name", "merchant"),
    ),
}
"""What redemptions are counted by; `COUNTS` follow, and of days `DAY_COUNTS`."""
COUNTS = (
    Column("redemptions", "count", kind="integer"),
    Column("reversed", kind="integer", gives_way=3),
    Column("currency"),
    Column("merchant_funded_amount", "merchants fund", kind="money", gives_way=1),
    Column("institution_payout_amount", "payout", kind="money"),
)
DAY_COUNTS = (
    Column("redemptions", "decided", kind="integer"),
    *COUNTS[1:],
    Column("purchase_day_redemptions", "purchased", kind="integer"),
    Column("purchase_day_payout_amount", "payout of these", kind="money", gives_way=2),
)
"""Redemptions by the day they were decided, and the same by the day of their purchase."""
OFFERS = (
    Column("title", "offer"),
    Column("merchant_name", "merchant", gives_way=4),
    Column("currency"),
    Column("spend_amount", "spend", kind="money"),
    Column("redemptions", kind="integer"),
    Column("reversed", kind="integer", gives_way=14),
    Column("cardholders", kind="integer", gives_way=9),
    Column("merchant_funded_amount", "cost", kind="money", gives_way=3),
    Column("commission_amount", "commission", kind="money", gives_way=12),
    Column("institution_payout_amount", "cashback", kind="money", gives_way=11),
    Column("cashback_share", "cashback per spend", kind="share", gives_way=7),
    Column("budget_amount", "budget in all", kind="money", gives_way=10),
    Column("spent_amount", "spent in all", kind="money", gives_way=13),
    Column("spent_share", "spent", kind="share", gives_way=2),
    Column("planned_share", "planned", kind="share", gives_way=8),
    Column("outlook", "budget", gives_way=1),
    Column("ends_on", "budget ends", kind="date", gives_way=15),
    Column("ends_from", "at the earliest", kind="date", gives_way=16),
    Column("ends_until", "at the latest", kind="date", gives_way=17),
    Column("starts_at", "starts", kind="moment", gives_way=18),
    Column("expires_at", "offer ends", kind="moment", gives_way=6),
    Column("offer_id", "offer id", kind="id", gives_way=5),
    Column("merchant_id", "merchant id", kind="id", gives_way=19),
)
MERCHANTS = (
    Column("merchant_name", "merchant"),
    Column("currency"),
    Column("merchant_funded_amount", "funded", kind="money"),
    Column("commission_amount", "commission", kind="money", gives_way=2),
    Column("institution_payout_amount", "payout", kind="money"),
    Column("redemptions", kind="integer"),
    Column("reversed", kind="integer", gives_way=4),
    Column("reversed_amount", "reversed, money", kind="money", gives_way=6),
    Column("cardholders", kind="integer", gives_way=1),
    Column("spend_amount", "spend", kind="money", gives_way=5),
    Column("average_amount", "average purchase", kind="money", gives_way=3),
    Column("category", gives_way=7),
    Column("merchant_id", "merchant id", kind="id", gives_way=8),
)
BUDGETS = (
    Column("title", "offer"),
    Column("currency"),
    Column("left_amount", "left", kind="money"),
    Column("budget_amount", "budget", kind="money"),
    Column("spent_share", "spent", kind="share"),
    Column("outlook", "ends"),
    Column("merchant_funded_amount", "cost in 30 days", kind="money"),
    Column("merchant_name", "merchant"),
    Column("offer_id", "offer id", kind="id"),
)
TOTALS = (
    Column("institution"),
    Column("currency"),
    Column("institution_payout_amount", "payout", kind="money"),
    Column("status", "state"),
    Column("entries", kind="integer"),
    Column("merchant_funded_amount", "merchants fund", kind="money"),
    Column("commission_amount", "commission", kind="money"),
)
REJECTS = (
    Column("meaning", "what is wrong"),
    Column("errors", kind="integer"),
    Column("rows", kind="integer"),
    Column("files", kind="integer"),
    Column("institution"),
)
