"""The HTTP door: the contract on a port, over asyncio and h11.

Every path goes to `contract/`, which knows what it means. Here lives what only a server has:
connections and who gets in (`arrivals.py`, `clients.py`), what comes and goes on one (`wire.py`,
`connection.py`), what is decided before a body is read and how it is read (`door.py`,
`known_keys.py`, `wrong_keys.py`, `bodies.py`), the thread that has the store for the length of a
batch of calls (`worker.py`), the log of requests (`access_log.py`, `log_writer.py`), the port, and
starting and stopping (`listening.py`, `server.py`). May import `contract`, `jobs`, `domain` and
`settings`; h11 is imported nowhere else. To add an endpoint go to `contract/`; to change what a
client may do to the server, see `limits.py`. Read `door.py` first.
"""
