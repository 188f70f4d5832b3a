"""The HTTP door: the contract on a port, over asyncio and h11.

Every path goes to `contract/`, which knows what it means. Here lives what only a server has:
connections and who gets in (`arrivals.py`), what comes and goes on one, bodies too (`wire.py`),
what is decided before a body is read (`handler.py`), the thread that has the store for the length
of a batch of calls (`worker.py`), the log of requests (`access_log.py`), the port and the limits of
clients (`listening.py`), and starting and stopping (`server.py`). May import every slice before it;
h11 is imported nowhere else. To add an endpoint go to `contract/`; to change what a client may do
to the server, see `listening.py`. Read `handler.py` first.
"""
