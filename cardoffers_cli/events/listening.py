"""Receive webhooks on this machine, check them, and say what came."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from cardoffers_cli.events.receiver import Behaviour, Received, Receiver, server_tls
from cardoffers_cli.intake.documents import JsonFault, parse
from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.kernel.words.tokens import mask

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

_AMOUNT = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,10})?", re.ASCII)
_SHOWN = ("event", "redemption_id", "institution_id", "offer_id", "occurred_at", "reason")


class ReceivedEvent(
    Record,
    sheet="number received_at event redemption_id institution_payout_amount amount reason"
    " cardholder_token_masked copy verified faults status path",
):
    """One request that came, and what may be shown of its event; None of what it did not have.

    `verified` is None where nothing is verified; `copy` counts the same event of one subject.
    `amount` is what the reversal of a redemption takes back, or what a statement or a payment comes
    to; of these there are the id and the number, as `subject`.
    """

    number: int
    received_at: datetime
    path: str = shown(gives_way=3)
    verified: bool | None
    faults: Sequence[str] = shown(gives_way=1)
    status: int
    copy: int
    event: str | None = shown(gives_way=4)
    redemption_id: str | None
    institution_id: str | None
    offer_id: str | None
    occurred_at: str | None
    cardholder_token_masked: str | None = shown("cardholder", gives_way=2)
    institution_payout_amount: Decimal | None = shown("amount")
    amount: Decimal | None = shown("back", gives_way=2)
    reason: str | None = shown(gives_way=3)
    subject_id: str | None = if_any()
    subject: str | None = if_any()


@dataclass(frozen=True, kw_only=True)
class Listener:
    """Where webhooks are received, and what comes there: `rows` waits for each, and never ends."""

    url: str
    rows: Iterator[ReceivedEvent]


@contextmanager
def listening(
    secrets: Sequence[str],
    *,
    host: str,
    port: int,
    certificate: Path | None,
    status: int | None,
    fail: int,
    delay_s: float,
) -> Iterator[Listener]:
    """Receive webhooks for the length of a block, over TLS where a certificate is given.

    The answers are those of `wire/receiver.Behaviour`; without secrets nothing is verified.
    """
    came: SimpleQueue[Received] = SimpleQueue()
    receiver = Receiver(
        clock=real_now,
        secrets=secrets,
        behaviour=Behaviour(status=status, fail=fail, delay_s=delay_s),
        host=host,
        port=port,
        tls=server_tls(certificate) if certificate else None,
        on_received=came.put,
    )
    with receiver:
        yield Listener(url=receiver.url, rows=_rows(came, is_verified=bool(secrets)))


def _rows(came: SimpleQueue[Received], *, is_verified: bool) -> Iterator[ReceivedEvent]:
    copies = Counter[tuple[str, str]]()
    while True:
        received = came.get()
        event = _event(received.body)
        same = (str(event["event"]), str(event["redemption_id"] or event.get("subject_id")))
        copies[same] += 1
        yield ReceivedEvent(
            number=received.number,
            received_at=received.at,
            path=received.path,
            verified=not received.faults if is_verified else None,
            faults=received.faults,
            status=received.status,
            copy=copies[same],
            **event,
        )


def _event(body: bytes) -> Mapping[str, Any]:
    """Return what may be shown of an event; whatever else came is None all over."""
    try:
        document = parse(body)
    except JsonFault:
        document = None
    event = document if isinstance(document, dict) else {}
    others = {"subject_id": f"{str(event.get('event')).partition('.')[0]}_id", "subject": "number"}
    others = {} if "redemption_id" in event else others
    token, masked = event.get("cardholder_token"), event.get("cardholder_token_masked")
    return {
        **{name: _text(event, name) for name in _SHOWN},
        "cardholder_token_masked": mask(token) if isinstance(token, str) else _masked(masked),
        "institution_payout_amount": _amount(event.get("institution_payout_amount")),
        "amount": _amount(event.get("amount", event.get("payable"))),
        **{name: _text(event, field) for name, field in others.items()},
    }


def _text(event: Mapping[str, Any], name: str) -> str | None:
    return value if isinstance(value := event.get(name), str) else None


def _masked(token: Any) -> str | None:
    """Return a token that came masked, unless there is more to it than that."""
    return token if isinstance(token, str) and len(token) <= len(mask("x" * 9)) else None


def _amount(value: Any) -> Decimal | None:
    return Decimal(text) if _AMOUNT.fullmatch(text := str(value)) else None
