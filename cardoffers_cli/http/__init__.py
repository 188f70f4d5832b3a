"""The HTTP door: the contract on a port, by Starlette and uvicorn.

Every path goes to `contract/`, which knows what it means. Here lives what only a server has: limits
of requests (`limits.py`), reading them (`reading.py`), the thread that has the store for the length
of a batch of calls (`worker.py`), the log of requests (`access_log.py`), connections
(`listening.py`, `protocol.py`), starting and stopping (`server.py`). May import `contract`, `jobs`,
`domain` and `settings`; starlette and uvicorn are imported nowhere else. To add an endpoint go to
`contract/`; to change what a client may do to the server, see `limits.py`. Read `door.py` first.
"""
