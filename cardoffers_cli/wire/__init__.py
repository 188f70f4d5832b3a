"""HTTP out: webhooks sent to receivers nobody knows, and a receiver of our own to try them on.

Here live the sender (`sender.py`, read it first), what carries its requests (`transport.py`), where
it may connect to (`resolving.py`), what it calls a failure (`failures.py`), and a local receiver
(`receiver.py`). May import `domain`; httpx and aiohttp live here. It knows no store and reads no
clock: `jobs/` hands it deliveries and takes outcomes. To add a class of failure, add it to
`failures.py`.
"""
