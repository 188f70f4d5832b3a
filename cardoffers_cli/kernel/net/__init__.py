"""Requests to others: where they may go, what carries them, what a failure is called.

Here live the sender (`sender.py`, read it first), and what carries its requests, with where it may
connect to and what it calls a failure (`transport.py`). May import `kernel/words`; httpx is
imported nowhere else, aiohttp only in `events` besides. It knows no store and reads no clock: who
calls hands it deliveries and takes outcomes. To add a class of failure, add it to `transport.py`.
"""
