r"""Names and texts that somebody could send to do harm, or by accident, and a store full of them.

`LET_IN` are names that the importers take: they obey the rules, and must come out whole. `REFUSED`
are names that the importers refuse; a store may hold them all the same, for a rule may be younger
than a row. `CODES` are of the narrower form of references and offer ids. Every one must be harmless
wherever it is shown and, where data is written for programs, be there letter for letter.

`hostile_store` is the scene: each name is a merchant's and the title of its offer, each code is an
offer, a reference and an identifier, and everything has redeemed.
"""

from __future__ import annotations

import re
from contextlib import chdir
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.redemptions import reverse
from tables import NOON, put
from work import file_of, found, job, new_store, once, taken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cardoffers_cli.kernel.store.job import Job
    from tables import Row

LET_IN = {
    "markup": "[bold red]sale[/bold red]",
    "markup that never ends": "[red",
    "markup that only ends": "[/] [/red]",
    "a link in markup": "[link=file://localhost/etc/passwd]bank[/link]",
    "an action in markup": "[@click=app.quit]press[/]",
    "emoji in markup": ":pile_of_poo: :boom:",
    "markdown": "**free** _now_ `code` ~~gone~~ | cell \\",
    "a link in markdown": "![x](https://evil.example/x) <https://evil.example>",
    "a title in markdown": "# free",
    "a list in markdown": "1. free",
    "a fence in markdown": "```",
    "html": "<b>free</b><script>alert(1)</script>&lt;&amp;",
    "an image in html": "<img src=x onerror=alert(1)>",
    "the end of a script": "</script><script>alert(1)//",
    "the end of a comment": "--><svg onload=alert(1)>",
    "the end of an attribute": "\"><i onclick='alert(1)'>",
    "a template": "{{ 7 * 7 }}{% raw %}${7*7}",
    "a format": "%s %(x)s {} {0} $x",
    "sql": "'; drop table offers; --",
    "a formula": '=HYPERLINK("https://evil.example","x")',
    "a command in a formula": "=cmd|' /C calc'!A0",
    "plus": "+1+1",
    "minus": "-2+3",
    "at": "@SUM(1)",
    "quotes": 'O\'Brien "& Sons", Ltd; \\n\\',
    "a number": "007",
    "a large number": "1e5",
    "a date": "2026-03-01",
    "nothing": "null",
    "spaces": "a  b\u00a0c\u3000d",
    "accents": "Caf\u00e9 \u00dcber",
    "combining marks": "Cafe\u0301 Z\u0337\u0353\u0302a\u0315\u0300\u0342l\u0321g\u0334\u0308o",
    "wide letters": "\u6771\u4eac\u30e9\u30fc\u30e1\u30f3",
    "emoji": "\U0001f355 \U0001f44d\U0001f3fd \U0001f1ea\U0001f1f8",
    "a variation": "\u2615\ufe0f",
    "letters from the right": "\u0645\u0642\u0647\u0649 12 \u05e7\u05e4\u05d4",
    "letters that look alike": "\u0440\u0430\u0443\u0440al",
    "a soft hyphen": "pay\u00adpal",
    "an empty letter": "\u3164",
    "letters nobody sees": "free\U000e0041\U000e007f",
    "a separator of lines": "two\u2028lines\u2029",
    "as long as may be": "L" * 200,
    "long and wide": "\u6771" * 200,
}
"""Names that obey the rules of catalogue files."""

REFUSED = {
    "colour": "\x1b[31mred\x1b[0m",
    "a cleared screen": "\x1b[2J\x1b[H$ ",
    "a link": "\x1b]8;;https://evil.example\x1b\\bank\x1b]8;;\x1b\\",
    "a window title": "\x1b]0;owned\x07",
    "C1": "\x9b31mred \x9d8;;https://evil.example\x9c",
    "backspaces": "good\x08\x08\x08\x08evil",
    "a bell": "\x07",
    "nul": "\x00after",
    "two lines": "two\nlines\r\nthree",
    "next line": "two\x85lines",
    "a tab formula": "\t=1+1",
    "a return formula": "\r=1+1",
    "bidi override": "safe\u202egpj.exe",
    "bidi isolates": "\u2067a\u2069\u200fb",
    "zero width": "pay\u200bpal\ufeff",
    "a family": "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "ten thousand letters": "x" * 10_000,
    "ten thousand wide letters": "\u6771" * 10_000,
}
"""Names that break a rule of catalogue files."""

NAMES = {**LET_IN, **REFUSED}

CODES = {
    "a formula": "=1+1",
    "plus": "+1",
    "minus": "-1",
    "at": "@SUM(1)",
    "markup": "[bold]x[/bold]",
    "html": "<b>x</b>",
    "markdown": "**x**|`y`",
    "a template": "{{7*7}}%s",
    "quotes": '\'"\\n"',
    "a comma": "a,b;c",
    "a path": "../../etc/passwd",
    "an option": "--help",
    "a number": "007",
    "wildcards": "*?%_",
    "as long as may be": "r" * 128,
}
"""Visible ASCII without spaces, which references and offer ids may be."""

OF_SPREADSHEETS = ("'", '"', "=")
"""How an identifier or a reference begins that a spreadsheet has changed; files may not have it."""

OF_PROGRAMS = ("null",)
"""An identifier or a reference that is none, which files may not have either."""

FILE_NAME = "=\x1b[31m[bold]<b>\u202e.csv"
"""The name of the file that the purchases came in: whoever sends it chooses it."""

ACTS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
"""What must not reach a screen: a terminal obeys it, or a reader does not see it."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet runs."""

CARDHOLDER = "ann-9f8e7d6c5b4a39281706f5e4d3c2b1a0"


def offer_of(name: str) -> str:
    """Return the id of the offer of a merchant's name."""
    return f"of-{list(NAMES.values()).index(name):02}"


@once
def hostile_store(folder: Path) -> Job:
    """Make the store and return a job an hour later; the redemption of `colour` is reversed."""
    made = new_store(folder)
    shops = {offer_of(name): name for name in NAMES.values()}
    shops |= {code: f"shop of {name}" for name, code in CODES.items()}
    with made.store() as store:
        put(store, "institutions", [{"institution": "alder", "name": NAMES["html"]}])
        put(store, "merchants", [{"merchant": shop, "category": shop} for shop in shops.values()])
        at = [{"identifier": offer, "merchant": shop} for offer, shop in shops.items()]
        put(store, "identifiers", at)
        put(store, "offers", [{"offer": offer, "merchant": shop} for offer, shop in shops.items()])
        texts = [
            {"offer": offer, "title": shop, "description": shop} for offer, shop in shops.items()
        ]
        put(
            store,
            "texts",
            [{**text, "language": language} for text in texts for language in ("en", "es")],
        )
        put(store, "programs", [{"offer": offer} for offer in shops])
        put(store, "links", [{"offer": offer, "cardholder": CARDHOLDER} for offer in shops])
    rows = _purchases(shops)
    with made.store() as store:
        put(store, "purchases", [row for row in rows if _is_older(row)])
    with chdir(folder):
        taken(made, file_of(Path(FILE_NAME), [row for row in rows if not _is_older(row)]))
    match_purchases(made)
    reverse(
        redemption_of(made, offer_of(NAMES["colour"])),
        f"{NAMES['colour']} {NAMES['markup']} {NAMES['html']}",
        made,
    )
    return job(made.path, now=NOON + timedelta(hours=1))


def _is_older(row: Row) -> bool:
    """Whether a good row can only have come before spreadsheets and programs were looked for."""
    names = (row["ref"], row["identifier"]) if "amount" not in row else ()
    return any(str(name).startswith(OF_SPREADSHEETS) or str(name) in OF_PROGRAMS for name in names)


def redemption_of(made: Job, ref: str) -> str:
    """Return the id of the redemption of a purchase."""
    return str(dict(found(made, "select transaction_ref, redemption_id from redemptions"))[ref])


def _purchases(offers: Iterable[str]) -> list[Row]:
    """Return rows: each offer is bought once, each code comes unknown, again, and wrong."""
    row = {"cardholder": CARDHOLDER, "card": "card"}
    good = [{**row, "ref": offer, "identifier": offer} for offer in offers]
    nobody = [*LET_IN.values(), NAMES["ten thousand letters"]]
    unknown = [
        {**row, "ref": f"unknown-{number}", "identifier": name}
        for number, name in enumerate(nobody)
    ]
    twice = [{**row, "ref": code, "identifier": code, "amount": "9.99"} for code in CODES.values()]
    wrong = [{**row, "ref": f"{code[:127]}!", "amount": "=1"} for code in CODES.values()]
    return [*good, *unknown, *twice, *wrong]
