"""Offers: what cardholders are shown, what they add, and what is left of a budget.

`feed.py` is what a cardholder is shown, `links.py` what was added or removed, `budgets.py` the
outlook of a budget, `questions.py` lists and shows; `work.py` does it all for commands and calls:
read it first. May import the slices before it. To add a fact to the feed, add it to `feed.py` and
its SQL, and describe it in `http/contract/schemas.py`.
"""
