"""The demo told to somebody who sees the service for the first time: its steps as chapters."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from cardoffers_cli.cli.file_reports import first_lines
from cardoffers_cli.cli.funnel_picture import picture
from cardoffers_cli.cli.kernel.show import Column, Sheet, Text, read_columns
from cardoffers_cli.cli.match import decided

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cardoffers_cli.cli.kernel.show import Block
    from cardoffers_cli.jobs.demo import DemoStep

CATALOGUE = (Column("file"), Column("new", "taken", kind="integer"))
FINDINGS = read_columns("demo_story.findings")
IMPORTS = read_columns("demo_story.imports")
EXAMPLES = read_columns("demo_story.examples")
SETTLEMENTS = read_columns("demo_story.settlements")
FEED = (Column("id"), Column("title"), Column("added", kind="flag"), Column("reason"))
AGAIN = (Column("again"), Column("taken", "new", kind="integer"), Column("meaning"))
UNRESOLVED = read_columns("demo_story.unresolved")
_FINDINGS_SHOWN = 5
_PROSE_WIDTH = 79


def story(steps: Sequence[DemoStep], folder: Path | None) -> Iterator[Block]:
    """Yield the chapters: their commands, what they mean, what came of them."""
    named: dict[str, list[DemoStep]] = {}
    for step in steps:
        named.setdefault(step.name, []).append(step)
    imports, matches, settles = named["import"], named["match"], named["settle"]
    yield _prose(
        "Institutions send the card purchases of their cardholders, who have added cashback "
        "offers. This service finds the purchases that earn cashback, and keeps the books. Here it "
        "runs on sample data."
    )
    yield from _catalogue(named["init"] + named["catalog"])
    yield from _check(named["validate"][0])
    yield from _transactions(imports[:2])
    yield from _match(matches[0])
    yield from _examples(named["redemptions"][0])
    yield from _settle(settles[:-1])
    yield from _webhooks(named["webhook_set"] + named["webhook_send"])
    yield from _offers([*named["feed"], *named.get("add", [])])
    yield from _funnel(named["funnel"][0])
    yield from _again([imports[2], matches[1], settles[-1]])
    yield from _unresolved(named["unresolved"][0])
    yield _farewell(folder)


def _prose(text: str) -> Text:
    return Text(wrap(text, _PROSE_WIDTH))


def _chapter(title: str, steps: Sequence[DemoStep], text: str) -> Iterator[Block]:
    yield Text([f"$ {step.command}" for step in steps], title=title)
    yield _prose(text)


def _catalogue(steps: Sequence[DemoStep]) -> Iterator[Block]:
    yield from _chapter(
        "1. A store, and a catalogue in it",
        steps,
        "A store is one file. The catalogue says who takes part: institutions, merchants, the "
        "offers of each program, the links (which cardholder has added which offer), and the "
        "engagement: what cardholders were shown.",
    )
    yield Sheet("catalogue", CATALOGUE, steps[1].result["files"])


def _check(step: DemoStep) -> Iterator[Block]:
    found = step.result
    yield from _chapter(
        "2. An institution checks a file before it sends it",
        [step],
        "This file was made to be bad. A file is read line by line: a bad row is reported with its "
        f"line and stops only itself. Of {found['received']:,} rows {found['valid']:,} are good, "
        f"{found['invalid']:,} are not, {found['duplicates']:,} repeat another.",
    )
    rows = [{**finding, "lines": first_lines(finding)} for finding in found["findings"]]
    yield Sheet("findings", FINDINGS, rows[:_FINDINGS_SHOWN])
    if len(rows) > _FINDINGS_SHOWN:
        yield _prose(f"… and {len(rows) - _FINDINGS_SHOWN} more kinds of findings.")


def _transactions(steps: Sequence[DemoStep]) -> Iterator[Block]:
    yield from _chapter(
        "3. Purchases come in",
        steps,
        "Each file is taken whole or not at all. A purchase whose reference was seen before is a "
        "duplicate, and is not taken a second time.",
    )
    yield Sheet("imports", IMPORTS, [_of_institution(step) for step in steps])


def _of_institution(step: DemoStep) -> dict[str, Any]:
    return {**step.result, "institution": Path(step.result["file"]).stem}


def _match(step: DemoStep) -> Iterator[Block]:
    yield from _chapter(
        "4. Purchases meet offers",
        [step],
        "A purchase earns cashback when its cardholder had added an offer of that merchant, the "
        "offer was running, the amount is high enough, and the offer's budget is not spent.",
    )
    yield from decided(step.result)
    yield _prose(
        "The merchants fund it all. The payout goes to the institutions, which credit it to their "
        "cardholders; the commission is the service's own."
    )


def _examples(step: DemoStep) -> Iterator[Block]:
    yield from _chapter(
        "5. A few of these redemptions", [step], "Cardholder tokens are never shown in full."
    )
    yield Sheet("redemptions", EXAMPLES, step.result["data"])


def _settle(steps: Sequence[DemoStep]) -> Iterator[Block]:
    yield from _chapter(
        "6. Money settles",
        steps,
        "What is due goes into one settlement per institution and currency. Larkmere is settled at "
        "once; Tarnhollow has a hold of seven days, so its money is due in the second run.",
    )
    made = [
        {**settlement, "on": settlement["settled_at"].date()}
        for step in steps
        for settlement in step.result["settlements"]
    ]
    yield Sheet("settlements", SETTLEMENTS, made)
    yield Text(list(_balance(made)))


def _balance(settlements: Sequence[dict[str, Any]]) -> Iterator[str]:
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


def _webhooks(steps: Sequence[DemoStep]) -> Iterator[Block]:
    sent = steps[-1].result
    yield from _chapter(
        "7. The institution hears of each credit",
        steps,
        "Every redemption is announced to the institution, which credits its cardholder. Here a "
        "receiver on this machine plays the institution, so insecure webhooks are allowed "
        f"(CARDOFFERS_ALLOW_INSECURE_WEBHOOKS=1). {sent['delivered']} events were delivered; it "
        f"verified the signatures of {sent['verified']}. What fails is sent again, up to 8 times "
        "in two hours.",
    )


def _offers(steps: Sequence[DemoStep]) -> Iterator[Block]:
    feed, *added = steps
    yield from _chapter(
        "8. A cardholder looks at the offers, and adds one",
        steps,
        f"{feed.result['total']} offers are open to this cardholder: they are running and can be "
        "paid. First come those of merchants where the cardholder bought before. What is added now "
        "earns cashback from now on. The tokens come from a file, never from the command line.",
    )
    yield Sheet("offers", FEED, feed.result["offers"])
    yield Text([f"{add.result['status']}: {add.result['cardholder_offer_id']}" for add in added])


def _funnel(step: DemoStep) -> Iterator[Block]:
    yield from _chapter(
        "9. From looking to redeeming",
        [step],
        "Each look counts, and each offer shown, added and redeemed. What cardholders saw before "
        "today came with the catalogue, as engagement.csv.",
    )
    yield Text(picture(step.result))


def _again(steps: Sequence[DemoStep]) -> Iterator[Block]:
    taken, matched, settled = (step.result for step in steps)
    yield from _chapter(
        "10. Everything again: nothing is paid twice",
        steps,
        "Any step may be run again, by mistake or after a crash. It finds nothing new to do.",
    )
    rows = (
        ("import", taken["accepted"], f"{taken['duplicates']:,} rows were known"),
        ("match", matched["redeemed"], f"{matched['considered']:,} waiting purchases tried again"),
        ("settle", settled["settled"], "nothing was due"),
    )
    sheet = [dict(zip(("again", "taken", "meaning"), row, strict=True)) for row in rows]
    yield Sheet("again", AGAIN, sheet)


def _unresolved(step: DemoStep) -> Iterator[Block]:
    yield from _chapter(
        "11. What still waits",
        [step],
        "Some purchases are of merchants that are not in the catalogue. Add their identifiers "
        "there, import it and match again: these purchases are tried every time.",
    )
    yield Sheet("unresolved", UNRESOLVED, step.result["data"])


def _farewell(folder: Path | None) -> Text:
    if folder is None:
        return _prose(
            "This ran in a temporary folder, which is gone. `cardoffers demo try-it` keeps one, in "
            "which you can type all these commands yourself."
        )
    return Text(["It is all there to go on with:", f"$ cd {quote(str(folder))}", *_GO_ON])


_GO_ON = ("$ cardoffers status", "$ cardoffers report redemptions -i larkmere")
