"""Deliveries for tests: one event, posted to where a test wants it."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.net.sender import AttemptLimits, Delivery, Outcome, send_all
from cardoffers_cli.kernel.words.signing import signature_headers

if TYPE_CHECKING:
    from collections.abc import Iterable

SECRET = "whsec_a1b2c3d4e5f6"  # noqa: S105 - only tests know it
EVENT = b'{"event":"redemption.completed","redemption_id":"r-1"}'
DEADLINE_S = 5.0


def real_clock() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def delivery(url: str, number: int = 1, lane: str = "alder", **changes: Any) -> Delivery:
    sign = partial(signature_headers, EVENT, SECRET)
    return Delivery(
        **{"number": number, "url": url, "body": EVENT, "sign": sign, "lane": lane, **changes}
    )


def send(deliveries: Iterable[Delivery], limits: AttemptLimits, **options: Any) -> list[Outcome]:
    """Send one batch, and return the outcomes in the order they came."""
    outcomes: list[Outcome] = []
    send_all(
        [list(deliveries)],
        limits,
        **{"clock": real_clock, "on_outcome": outcomes.append, **options},
    )
    return outcomes


def post(url: str, *, lookup: Any = None, **limits: Any) -> Outcome:
    """Attempt one delivery to a receiver on this machine."""
    options = {} if lookup is None else {"lookup": lookup}
    wanted = AttemptLimits(**{"deadline_s": DEADLINE_S, "allow_insecure": True, **limits})
    (outcome,) = send([delivery(url)], wanted, **options)
    return outcome
