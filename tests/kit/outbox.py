"""Stores with redemption events in them, for tests that send these somewhere."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardoffers_cli.events.questions import ListedEvent
from cardoffers_cli.events.sending import send
from cardoffers_cli.events.subscriptions import set_webhook, show_event
from cardoffers_cli.kernel.store.clock import Clock, Watch
from cardoffers_cli.kernel.store.reading import read_rows
from cardoffers_cli.river.engines import match_purchases
from tables import put
from work import found, job, new_store, tell, templates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from threading import Event

    from cardoffers_cli.kernel.store.job import Job

DEADLINE_S = 2
_STORE = "store.duckdb"


def events(
    folder: Path, count: int = 1, institutions: Sequence[str] = ("alder",), **settings: Any
) -> Job:
    """Make a store with so many events of each institution; it may send to this machine."""
    template = _with_events(count, tuple(institutions))
    shutil.copytree(template, folder, dirs_exist_ok=True)
    return job(
        folder / _STORE,
        **{"allow_insecure_webhooks": True, "webhook_deadline_s": DEADLINE_S, **settings},
    )


@cache
def _with_events(count: int, institutions: tuple[str, ...]) -> Path:
    """Return a folder with a store of events, for tests to copy."""
    folder = Path(tempfile.mkdtemp(dir=templates()))
    made = new_store(folder, _STORE)
    names = "\n".join(institutions)
    tell(made, institutions=f"institution\n{names}", merchants="merchant\nbakery")
    tell(made, offers="offer merchant cashback\nA bakery 2.50")
    tell(made, links="institution offer\n" + "\n".join(f"{name} A" for name in institutions))
    with made.store() as store:
        purchases = [
            {"institution": name, "ref": f"{name}-{number}", "merchant": "bakery"}
            for name in institutions
            for number in range(count)
        ]
        put(store, "purchases", purchases)
    match_purchases(made)
    return folder


def goes_to(made: Job, url: str, institution: str = "alder") -> str | None:
    """Set where events go, those from before too; return the signing secret if it is new."""
    return set_webhook(made, institution, url, past="all").get("signing_secret")


def redemption(made: Job) -> str:
    """Return the redemption of the first event."""
    return str(found(made, "select subject_id from outbox order by redemption_no")[0][0])


def event(made: Job) -> dict[str, Any]:
    """Return how far the first event is, with its log."""
    return show_event(made, redemption(made))


def list_events(made: Job, **asked: Any) -> list[ListedEvent]:
    """Return the events that `webhook list` shows, all of them."""
    of = ("institution", "event", "state", "offer_id", "from_at", "to_at", "limit")
    return read_rows(made, ListedEvent, "events/questions:list", **{**dict.fromkeys(of), **asked})


def at(made: Job, moment: datetime) -> Job:
    """Return the job at another moment."""
    return replace(made, now=moment)


class Standing(Clock):
    """A clock that stands still, and is at once where somebody would wait for it to be."""

    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self._now = now
        self.waited_for: list[datetime] = []

    def of_real(self, moment: datetime) -> datetime:  # noqa: ARG002 - it stands still
        return self._now

    def wait_until(self, moment: datetime, stop: Event) -> None:
        assert not stop.is_set()
        self.waited_for.append(moment)
        self._now = moment


def sent(made: Job, *names: str) -> list[Any]:
    """Send what is due, by a clock that stands still, and return these counts."""
    report = send(made, watch=Watch(clock=Standing(made.now)))
    return [report[name] for name in names]
