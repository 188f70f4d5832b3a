"""Webhooks: events queued, signed, sent and retried; and a receiver to try them with.

What kinds there are stands in `kernel/words/events.toml`; `river/publish.py` queues them.
`deliver.py` claims and records attempts, `sending.py` sends them (read it first),
`subscriptions.py` sets an institution's webhook and makes events due again, `questions.py` lists.
`receiver.py` receives. May import the slices before it. To add a kind of event follow the recipe in
CONTRIBUTING.
"""
