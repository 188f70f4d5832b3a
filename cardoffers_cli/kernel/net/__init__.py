"""Telling others: webhooks sent to receivers nobody knows, and commands of the operator's.

Here live the sender (`sender.py`, read it first), what carries its requests (`transport.py`), where
it may connect to (`resolving.py`), what it calls a failure (`failures.py`), a local receiver
(`receiver.py`), and commands that are told something (`commands.py`). May import `domain`; httpx
and aiohttp live here. It knows no store and reads no clock: `jobs/` hands it deliveries and takes
outcomes. To add a class of failure, add it to `failures.py`.
"""
