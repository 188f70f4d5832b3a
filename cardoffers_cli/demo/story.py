"""The demo told to somebody who sees the service for the first time: its steps as chapters.

What is said in them stands in `story.toml`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from shlex import quote
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from cardoffers_cli.credits.reconcile_commands import reconciled
from cardoffers_cli.kernel.cli.show import Column, Sheet, Text, columns_of
from cardoffers_cli.refunds.commands import applied
from cardoffers_cli.reports.result_commands import picture
from cardoffers_cli.river.checking_commands import first_lines
from cardoffers_cli.river.commands import decided

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cardoffers_cli.demo.work import DemoStep
    from cardoffers_cli.kernel.cli.show import Block

    Chapter = tuple[str, Sequence[DemoStep], Callable[..., Iterator[Block]]]

_FINDINGS_SHOWN = 5
_PROSE_WIDTH = 79
_GO_ON = ("$ cardoffers status", "$ cardoffers report redemptions -i larkmere")
_EXAMPLE = "cardholder_token_masked offer.title merchant_funded_amount institution_payout_amount"
_UNKNOWN = "institution merchant_identifier purchases amount currency"
_STATED = "number institution entries adjustments payable currency"
_FINDINGS = (
    *(Column("code"), Column("rows", kind="integer"), Column("lines")),
    Column("fix", "how to fix it"),
)
_IMPORTS = (
    *(Column("institution"), Column("received", kind="integer")),
    *(Column("accepted", kind="integer"), Column("duplicates", kind="integer")),
    *(Column("invalid", kind="integer"), Column("amount_accepted", "amount", "money")),
    Column("currency"),
)
_SETTLEMENTS = (
    *(Column("institution"), Column("on"), Column("entries", kind="integer")),
    Column("merchant_funded_amount", "funded", "money"),
    Column("commission_amount", "commission", "money"),
    *(Column("institution_payout_amount", "payout", "money"), Column("currency")),
)
_AGAIN = (Column("again"), Column("taken", "new", "integer"), Column("meaning"))


def story(steps: Sequence[DemoStep], folder: Path | None) -> Iterator[Block]:
    """Yield the chapters: their commands, what they mean, what came of them."""
    words = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    yield _prose(words["opening"])
    for name, of, view in _chapters(steps):
        chapter, results = words[name], [step.result for step in of]
        yield Text([f"$ {step.command}" for step in of], title=chapter["title"])
        yield _prose(chapter["text"].format(first=results[0], last=results[-1]))
        yield from view(*results)
        if "after" in chapter:
            yield _prose(chapter["after"])
    if folder is None:
        yield _prose(words["gone"])
    else:
        yield Text(["It is all there to go on with:", f"$ cd {quote(str(folder))}", *_GO_ON])


def _chapters(steps: Sequence[DemoStep]) -> Iterator[Chapter]:
    """Yield each chapter: its name, its steps, and who shows what came of them."""
    from cardoffers_cli.catalogue.importing import FileImport
    from cardoffers_cli.documents.kinds import StatementResult
    from cardoffers_cli.reports.questions import Redemption, UnknownMerchant

    named: dict[str, list[DemoStep]] = {}
    for step in steps:
        named.setdefault(step.name, []).append(step)
    imports, matches, settles = named["import"], named["match"], named["settle"]
    yield (
        *("catalogue", named["init"] + named["catalog"]),
        lambda _, result: _sheet(
            "catalogue", columns_of(FileImport, "file new", new="taken"), result["files"]
        ),
    )
    yield "check", named["validate"], _check
    yield "transactions", imports[:2], _imports
    yield "match", matches[:1], decided
    yield (
        "examples",
        named["redemptions"],
        lambda result: _sheet("redemptions", columns_of(Redemption, _EXAMPLE), result["data"]),
    )
    yield "settle", settles[:-1], _settlements
    yield "webhooks", named["webhook_set"] + named["webhook_send"], lambda *_: iter(())
    yield "offers", [*named["feed"], *named.get("add", [])], _offers
    yield "funnel", named["funnel"], lambda result: iter([Text([*picture(result)])])
    yield "again", [imports[2], matches[1], settles[-1]], _again
    yield "refunds", named["refunds_import"] + named["refund"], lambda _, run: applied(run)
    yield (
        "unresolved",
        named["unresolved"],
        lambda result: _sheet("unresolved", columns_of(UnknownMerchant, _UNKNOWN), result["data"]),
    )
    yield "credits", named["credits_import"] + named["reconcile"], lambda _, run: reconciled(run)
    yield (
        "statement",
        named["statement"],
        lambda closed: _sheet("statement", columns_of(StatementResult, _STATED), [closed]),
    )


def _sheet(name: str, columns: tuple[Column, ...], rows: Sequence[Any]) -> Iterator[Block]:
    yield Sheet(name, columns, rows)


def _prose(text: str) -> Text:
    return Text(wrap(text.strip(), _PROSE_WIDTH))


def _check(result: Any) -> Iterator[Block]:
    rows = [{**finding, "lines": first_lines(finding)} for finding in result["findings"]]
    yield Sheet("findings", _FINDINGS, rows[:_FINDINGS_SHOWN])
    if len(rows) > _FINDINGS_SHOWN:
        yield _prose(f"… and {len(rows) - _FINDINGS_SHOWN} more kinds of findings.")


def _imports(*results: Any) -> Iterator[Block]:
    rows = [{**result, "institution": Path(result["file"]).stem} for result in results]
    yield Sheet("imports", _IMPORTS, rows)


def _settlements(*runs: Any) -> Iterator[Block]:
    settlements = [
        {**settlement, "on": settlement["settled_at"].date()}
        for run in runs
        for settlement in run["settlements"]
    ]
    yield Sheet("settlements", _SETTLEMENTS, settlements)
    yield Text(list(_balance(settlements)))


def _balance(settlements: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say, by currency, where the money came from and where it went."""
    for currency in dict.fromkeys(settlement["currency"] for settlement in settlements):
        funded, payout, commission = (
            sum(row[f"{name}_amount"] for row in settlements if row["currency"] == currency)
            for name in ("merchant_funded", "institution_payout", "commission")
        )
        yield (
            f"{currency}: {funded:,} from merchants = "
            f"{payout:,} to institutions + {commission:,} commission."
        )


def _offers(feed: Any, *added: Any) -> Iterator[Block]:
    from cardoffers_cli.offers.feed import FeedOffer

    yield Sheet("offers", columns_of(FeedOffer, "id title added reason"), feed["offers"])
    yield Text([f"{link['status']}: {link['cardholder_offer_id']}" for link in added])


def _again(imported: Any, matched: Any, settled: Any) -> Iterator[Block]:
    repeats = f"{imported['duplicates']:,} rows were known"
    waiting = f"{matched['considered']:,} waiting purchases tried again"
    rows = [
        {"again": "import", "taken": imported["accepted"], "meaning": repeats},
        {"again": "match", "taken": matched["redeemed"], "meaning": waiting},
        {"again": "settle", "taken": settled["settled"], "meaning": "nothing was due"},
    ]
    yield Sheet("again", _AGAIN, rows)
