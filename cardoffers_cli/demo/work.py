"""Demo: the whole service on the sample data, in a folder of its own, by a fixed clock.

Every step is a command line that a reader could type in that folder, and the job behind it. Its
result is what the command shows with `--format json`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from cardoffers_cli.catalogue.importing import import_catalogue
from cardoffers_cli.credits.work import reconcile
from cardoffers_cli.documents.closing import close_statement
from cardoffers_cli.events.receiver import Receiver
from cardoffers_cli.events.sending import send
from cardoffers_cli.events.subscriptions import set_webhook
from cardoffers_cli.intake.transactions import FileReading
from cardoffers_cli.kernel.sheets.exports import copy_sample_data, write_sample_tokens
from cardoffers_cli.kernel.store.clock import Clock
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.kernel.words.row_kinds import CREDITS, REFUNDS
from cardoffers_cli.offers.work import AddRequest, FeedRequest, add_offer, read_feed
from cardoffers_cli.refunds.apply import apply_refunds
from cardoffers_cli.reports.questions import Filters, unresolved
from cardoffers_cli.reports.work import read_funnel, report_page
from cardoffers_cli.river.checks import validate
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.settlements import settle_due
from cardoffers_cli.sample.plan import DEFAULT_END
from cardoffers_cli.storage.stores import init

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.words.row_kinds import RowKind

CLOCK = datetime.combine(DEFAULT_END, time())
"""When the demo takes place unless another moment is given: right after the sample's last day."""

STEPS = 23
"""How many steps there are, for the progress shown meanwhile."""

_STORE = "cardoffers.duckdb"
_TOKENS = "cardholder.txt"
_KEPT = "signing-secret.txt"
_BANK = "larkmere"
_OTHER_BANK = "tarnhollow"  # which sends no credited file
_EXAMPLES = 3
_FUNNEL_DAYS = 100


@dataclass(frozen=True, kw_only=True)
class DemoStep:
    """One command line and what came of it."""

    name: str
    command: str
    result: Any


@contextmanager
def demo_folder(folder: Path | None, *, keep: bool = True) -> Iterator[Path]:
    """Make the folder of a demo, with the sample data in it.

    Without a name, or where it is not to be kept, it is a temporary one. Raises `Refused` for a
    folder that holds something already.
    """
    if folder is not None:
        if (folder / _STORE).exists():
            raise Refused.from_table("demo", "store_exists", folder=folder, store=folder / _STORE)
        if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise Refused.from_table("demo", "folder_not_empty", folder=folder)
    if folder is None or not keep:
        with TemporaryDirectory(prefix="cardoffers-demo-") as temporary:
            copy_sample_data(Path(temporary))
            yield Path(temporary)
        return
    folder.mkdir(parents=True, exist_ok=True)
    copy_sample_data(folder)
    yield folder


def demo(folder: Path, job: Job) -> Iterator[DemoStep]:
    """Run the demo in its folder; yield every step when it is done."""
    return _Demo(folder, replace(job, path=folder / _STORE)).steps()


class _Demo:
    """A demo under way: its folder and its clock."""

    def __init__(self, folder: Path, job: Job) -> None:
        self._folder = folder
        self._job = job

    def steps(self) -> Iterator[DemoStep]:
        """Run everything, in the order in which a day goes."""
        yield DemoStep(
            name="init",
            command="cardoffers init --rehearsal",
            result={**init(self._job, rehearsal=True), "store": _STORE},
        )
        catalogue = import_catalogue(self._job, self._folder / "catalog")
        yield self._step("catalog", "catalog import catalog", catalogue)
        yield self._validate("transactions/larkmere-dirty.csv")
        yield self._import("transactions/larkmere.csv", "larkmere")
        yield self._import("transactions/tarnhollow.csv", "tarnhollow")
        yield self._match()
        yield self._redemptions()
        settled = self._settle()
        yield settled
        if due := settled.result["next_settles_at"]:
            self._job = replace(self._job, now=due)
            yield self._settle()
        yield from self._webhooks()
        yield from self._offers()
        yield self._funnel()
        yield self._import("transactions/larkmere.csv", "larkmere")
        yield self._match()
        yield self._settle()
        yield self._import_kind(REFUNDS)
        yield self._step("refund", "refund apply", apply_refunds(self._job))
        with self._job.store(read_only=True) as store:
            rows = unresolved(store, Filters(), limit=_EXAMPLES)
        yield self._step("unresolved", f"report unresolved --limit {_EXAMPLES}", {"data": rows})
        yield from self._month_end()

    def _step(self, name: str, words: str, result: Any, reads: str = "") -> DemoStep:
        source = f" < {reads}" if reads else ""
        command = f"cardoffers {words} {self._clock()}{source}"
        return DemoStep(name=name, command=command, result=result)

    def _clock(self) -> str:
        """Return the option that sets a command's clock, short at midnight."""
        text = format_moment(self._job.now)
        return f"--as-of {text.removesuffix('T00:00:00.000Z')}"

    def _validate(self, file: str) -> DemoStep:
        reading = FileReading(now=self._job.now)
        report = validate(str(self._folder / file), reading, self._job, outputs=Outputs())
        return self._step("validate", f"validate {file}", {**report.document(), "file": file})

    def _import(self, file: str, institution: str) -> DemoStep:
        result = import_file(
            str(self._folder / file), institution, self._job, ImportOptions(), outputs=Outputs()
        )
        words = f"import {file} -i {institution}"
        document = {**result.document(), "file": file}
        if result.earlier:
            document["already_imported_as"] = str(
                Path(result.earlier.file_name).relative_to(self._folder)
            )
        return self._step("import", words, document)

    def _import_kind(self, kind: RowKind) -> DemoStep:
        """Take in the file that the bank sends of another kind of rows."""
        file, options = f"{kind.name}/{_BANK}.csv", ImportOptions(kind=kind)
        result = import_file(str(self._folder / file), _BANK, self._job, options, outputs=Outputs())
        words = f"{kind.command} {file} -i {_BANK}"
        return self._step(f"{kind.name}_import", words, {**result.document(), "file": file})

    def _match(self) -> DemoStep:
        return self._step("match", "match", match_purchases(self._job).document())

    def _settle(self) -> DemoStep:
        return self._step("settle", "settle", settle_due(self._job))

    def _redemptions(self) -> DemoStep:
        page = report_page("redemptions", self._job, limit=_EXAMPLES)
        envelope = {
            "data": page.rows,
            "pagination": {"limit": _EXAMPLES, "next_cursor": page.next_cursor},
        }
        return self._step("redemptions", f"report redemptions --limit {_EXAMPLES}", envelope)

    def _webhooks(self) -> Iterator[DemoStep]:
        """Send what the bank is owed to a receiver on this machine, which verifies it."""
        settings = replace(self._job.settings, allow_insecure_webhooks=True)
        job = replace(self._job, settings=settings)
        file = self._folder / _KEPT
        secrets: list[str] = []  # the receiver is there before its secret is
        with Receiver(clock=Clock(job.now).real, secrets=secrets) as receiver:
            webhook = set_webhook(job, _BANK, receiver.url, past="all", secret_file=file)
            secrets.append(file.read_text("utf-8").strip())
            url = f"--url {receiver.url} --from all"
            words = f"webhook set -i {_BANK} {url} --secret-file {_KEPT}"
            yield self._step("webhook_set", words, {**webhook, "signing_secret_file": _KEPT})
            report = send(job)
        verified = sum(not received.faults for received in receiver.received)
        yield self._step("webhook_send", "webhook send", {**report, "verified": verified})

    def _offers(self) -> Iterator[DemoStep]:
        """Show a cardholder some offers; the first one that can be added is added."""
        cardholder, card = write_sample_tokens(self._folder, _TOKENS)
        request = FeedRequest(cardholder_token=cardholder, personalize=True, limit=_EXAMPLES)
        feed = read_feed(_BANK, request, self._job)
        words = f"offer feed -i {_BANK} --cardholder - --personalize --limit {_EXAMPLES}"
        yield self._step("feed", words, feed, reads=_TOKENS)
        for offer in [offer for offer in feed["offers"] if not offer["added"]][:1]:
            wanted = AddRequest(offer_id=offer["id"], cardholder_token=cardholder, card_token=card)
            words = f"offer add {offer['id']} -i {_BANK} --cardholder - --card -"
            added = add_offer(_BANK, wanted, self._job)
            yield self._step("add", words, added, reads=_TOKENS)

    def _funnel(self) -> DemoStep:
        """Take the window up to tomorrow, so that what was just seen and added is in it."""
        end = datetime.combine(self._job.now + timedelta(days=1), time())
        start = end - timedelta(days=_FUNNEL_DAYS)
        words = f"report funnel -i {_BANK} --from {start.date()} --to {end.date()}"
        funnel = read_funnel(self._job, _BANK, from_at=start, to_at=end)
        return self._step("funnel", words, funnel)

    def _month_end(self) -> Iterator[DemoStep]:
        """Hold what the bank credited against the books, and close the month of another bank."""
        period = Period.at(self._job.now)
        self._job = replace(self._job, now=period.to_at)
        yield self._import_kind(CREDITS)
        yield self._step("reconcile", f"reconcile -i {_BANK}", reconcile(self._job, _BANK))
        words = f"statement close -i {_OTHER_BANK} --period {period}"
        closed = close_statement(self._job, _OTHER_BANK, str(period))
        yield self._step("statement", words, closed)
