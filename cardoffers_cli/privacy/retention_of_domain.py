"""What is kept, for how long, and what is never deleted (rules.md#retention).

To let another kind of file age away, add its line here, its setting, and in `privacy/retention.py`
how it is found.
"""

from __future__ import annotations

from typing import NamedTuple


class Retained(NamedTuple):
    """Something that is kept: what it is, the setting of its age in days, what keeps it longer.

    Without a setting it is never deleted, and `kept_by` says why.
    """

    what: str
    setting: str | None
    kept_by: str


_OPEN = "legal hold; open money, events and findings of its institution; a change nobody answered"
_HOLD = "legal hold of any institution"

KINDS = {
    "processed": Retained("files that were imported", "retention_processed_days", _OPEN),
    "failed": Retained("files that could not be imported", "retention_failed_days", _OPEN),
    "runs": Retained(
        "folders of nightly runs",
        "retention_runs_days",
        f"{_HOLD}; the newest, and unfinished ones",
    ),
    "aside": Retained("files that were put aside", "retention_aside_days", _HOLD),
    "money": Retained(
        "purchases, redemptions, the ledger, statements, invoices", None, "it is money"
    ),
    "security_log": Retained("the security log", None, "its chain would break"),
    "journal": Retained("the journal of the store", None, "it is cut by itself at 16 MiB"),
    "request_log": Retained(
        "the log of requests", None, "it is not ours: serve writes it to stderr"
    ),
    "backups": Retained("backups", None, "whoever makes them keeps them"),
}
"""Everything that is kept, by name."""

AGING = tuple(name for name, kind in KINDS.items() if kind.setting)
"""What is deleted once it is old enough, if its age is set."""
