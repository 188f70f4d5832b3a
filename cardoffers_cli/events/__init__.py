"""Webhooks: events queued, signed, sent and retried; and a receiver to try them with.

What kinds there are stands in `kernel/words/events.toml`; `river/publish.py` queues them.
`deliver.py` claims and records attempts, `sending.py` sends them (read it first), `attempts.py`
says when the next is due, `subscriptions.py` sets an institution's webhook, `questions.py` lists,
`work.py` makes due again. `receiver.py` and `listening.py` receive. `inbox.py` is what an
institution's team is told. May import the slices before it. To add a kind of event follow the
recipe in CONTRIBUTING.
"""
