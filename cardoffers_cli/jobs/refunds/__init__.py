"""Refunds: what came back, linked to purchases, and what moves for it.

Lives here: `apply.py`, the step between match and settle. May import what `jobs` may, and of `jobs`
the context. To add an outcome, add it where `sql/pipeline/refund.sql` says what becomes of a claim.
"""
