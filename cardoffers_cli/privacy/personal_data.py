"""Everything stored about one cardholder, table by table (rules.md#stored-of-a-cardholder).

Every table of the schema is either in what is exported, or on a list with its reason. A test holds
both against `kernel/store/schema.sql`, so a new table must be put on one of them.
"""

from __future__ import annotations

_TABLES = {
    "of_cardholder": "cardholders instruments links engagement purchases unresolved_purchases"
    " refunds redemptions ledger_entries legal_holds withdrawn_purchases withdrawn_rows",
    "of_purchases": "purchase_details decisions outcomes",
    "of_redemptions": "ledger_moves adjustments outbox attempts credit_links",
    "of_refunds": "refund_links refund_outcomes refund_dismissals",
    "credits": "credits",
    "verdicts": "reconciliation_verdicts",
    "duplicates": "duplicates",
    "named": "offers",
    "bought_at": "identifiers",
}
EXPORTED = {
    table: f"privacy/personal_data:{query}_{table}"
    for query, tables in _TABLES.items()
    for table in tables.split()
}
"""The statement that finds a cardholder's rows of each table."""

_CATALOGUE = "the catalogue and settings, of nobody"
_SUMS = "sums of many cardholders"
_OF_THE_STORE = "about the store and what ran on it"
_OF_INSTITUTIONS = "about institutions and their keys"
_HASHES = "hashes of purchases that are exported, which the store finds them by"
NOT_EXPORTED = {
    **dict.fromkeys(
        (
            *("currencies", "institutions", "institution_accounts", "institution_profiles"),
            *("merchants", "offer_texts", "offer_versions", "program_offers", "audit_log"),
            *("expectations", "watched_institutions"),
        ),
        _CATALOGUE,
    ),
    **dict.fromkeys(
        (
            *("schema_versions", "store_views", "runs", "terms_of_purchases", "match_watermark"),
            *("nights", "night_steps", "history", "history_parts", "history_left"),
            *("counted_up_to", "watch_looks"),
        ),
        _OF_THE_STORE,
    ),
    **dict.fromkeys(
        (
            *("settlements", "reconciliations", "reconciliation_totals", "statements"),
            *("statement_settlements", "invoice_periods", "invoiced_settlements", "invoices"),
            *("payouts", "bank_files", "bank_entries", "purchase_counts", "redemption_counts"),
            *("purchase_day_counts", "offer_counts", "import_shapes", "import_merchants"),
            "number_evidence",
        ),
        _SUMS,
    ),
    **dict.fromkeys(
        ("webhook_secrets", "api_keys", "key_notices", "inbox_messages", "approvals"),
        _OF_INSTITUTIONS,
    ),
    **dict.fromkeys(("purchase_refs", "purchase_looks"), _HASHES),
    **dict.fromkeys(
        ("imports", "withdrawn_imports"),
        "about files; whose rows are in them, the purchases say",
    ),
    "night_files": "about files, as imports",
    "picked_files": "about files, as imports",
    "watch_findings": "about files and institutions",
    "rejects": "errors of rows that nothing was kept of, not even whose they were",
    "merchant_answers": "what staff answered of merchants, of nobody",
    "finding_acceptances": "what staff wrote of findings, which are exported as verdicts",
    "security_log": "what staff did; of erasures it has keyed hashes alone",
    "erasures": "keyed hashes of who is no longer a cardholder",
}
"""Why nothing of a table is exported."""
