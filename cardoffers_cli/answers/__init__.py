"""Answers: why a purchase did or did not redeem, where its cashback is, what happened.

`why.py` puts a purchase through the steps again and says where it stopped (read it first);
`find.py` and `search.py` find purchases by what is known of them, `timelines.py` tells everything
in order, `money_trails.py` what became of a redemption (rules.md#stories) and what it stands on.
`headlines.py` has the sentences. `browse/` shows all of it on one screen. May import the slices
before it, of `http` and `night` nothing. To add a reason, add it to `explanations.sql` and its
sentence to `headlines.py`.
"""

from typing import Literal

PurchaseState = Literal[
    "not_matched_yet",
    "merchant_unresolved",
    "not_redeemed",
    "pending",
    "settled",
    "reversed",
    "rejected",
    "duplicate",
    "duplicate_conflict",
    "taken_back",
    "credit_failed",
    "credit_differs",
    "credited_twice",
    "credited",
    "credit_late",
    "paid_to_institution",
    "telling_failed",
    "told",
    "on_hold",
]
"""How far something that was received can be, or what became of what it redeemed."""
