"""The HTTP door: the contract on a port, over asyncio and h11.

Every path goes to `contract/`, which knows what it means. Here lives what only a server has:
connections and who gets in (`arrivals.py`, `clients.py`), what comes and goes on one (`wire.py`,
`connection.py`), what is decided before a body is read and how it is read (`handler.py`, `keys.py`,
`bodies.py`), the thread that has the store for the length of a batch of calls (`worker.py`), the
log of requests (`access_log.py`), the port, and starting and stopping (`listening.py`,
`server.py`). May import every slice before it; h11 is imported nowhere else. To add an endpoint go
to `contract/`; to change what a client may do to the server, see `limits.py`. Read `handler.py`
first.
"""
