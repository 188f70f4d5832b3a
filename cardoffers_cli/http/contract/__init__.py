"""The HTTP contract: what a request means and what it is answered, without any HTTP server.

Two doors stand on it, the command `api` and the server, and neither knows a rule the other does
not. It may import every slice before `http`, never the server. Routing stands in `routes.py`, keys,
scopes and limits in `gate.py`, refusals in `messages.py`; each endpoint has a handler in the module
of its resource. To add an endpoint, write its handler, give it a line in `ROUTES` and describe it
in `openapi.py`. Read `service.py` first: one opening of the store answers every call that waits.
"""
