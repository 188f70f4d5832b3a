"""Health: the signs of life of a server, for whatever watches it.

One says that this process answers, and nothing of the store: a night that holds the store is no
reason to restart a server. The other says that the store can be had, and no word more if not.
"""

from __future__ import annotations

from cardoffers_cli.http.contract.messages import Answer


def tell() -> Answer:
    """Answer that there is an answer."""
    return Answer.of(200, {"status": "ok"})


def ready() -> Answer:
    """Answer that the store was had; who asks while it is not is answered 503."""
    return Answer.of(200, {"status": "ready"})
