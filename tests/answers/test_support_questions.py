"""Twelve questions that are put to support, each answered in at most two commands.

The store is made by the commands themselves: two institutions, a bakery and a cinema, three offers,
and a webhook that nobody answers. Each line is a question, what is typed, and what the last answer
has to say; `<ref>` is the reference that the first command found.
"""

from __future__ import annotations

import json
import re
import shlex
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commands import in_a_pipe, on_a_screen
from sizes import one_in, slow
from work import with_catalogue

if TYPE_CHECKING:
    from commands import Ended

ANN, BEN, CAT, DOT = (f"{name}-token-of-{n * 8}-b1a{n}" for name, n in ("a0", "b1", "c2", "d3"))
CARD = {ANN: "ct_77aa88_889c", BEN: "ct_66bb99_40ea", CAT: "ct_cat_1111", DOT: "ct_dot_2222"}
BAKERY, CINEMA = (f"{digit * 8}-0000-4000-8000-000000000000" for digit in "12")

CATALOGUE = {
    "institutions": """
        slug,name,plan,currency,languages,max_active_offers,widget_limit,settlement_hold_days
        alder,Alder Bank,growth,GBP,en,9,9,2
        brook,Brook Bank,growth,GBP,en,9,9,2
        """,
    "merchants": f"""
        merchant_id,name,category
        {BAKERY},Hollow Lane Bakery,food
        {CINEMA},Orpheum Cinema,leisure
        """,
    "merchant_identifiers": f"""
        merchant_id,merchant_identifier_type,merchant_identifier
        {BAKERY},card_acceptor,M1
        {CINEMA},card_acceptor,M2
        """,
    "offers": f"""
        offer_id,merchant_id,title_en,min_spend,cashback_amount,currency,commission_rate,\
budget_amount,starts_at,expires_at,segments
        A,{BAKERY},£3 of bread,0,3.00,GBP,0,6.00,2026-05-01,2026-08-01,
        B,{BAKERY},£2 of cake,0,2.00,GBP,0,,2026-05-01,2026-08-01,
        C,{CINEMA},£5 at the films,20.00,5.00,GBP,0,,2026-05-01,2026-08-01,
        """,
    "program_offers": "institution,offer_id,position\nalder,A,1\nalder,B,2\nalder,C,3\nbrook,C,1",
    "links": f"""
        institution,cardholder_token,card_token,offer_id,added_at
        alder,{ANN},{CARD[ANN]},A,2026-05-20
        alder,{ANN},{CARD[ANN]},B,2026-05-20
        alder,{BEN},{CARD[BEN]},A,2026-05-20
        alder,{BEN},{CARD[BEN]},C,2026-05-20
        alder,{CAT},{CARD[CAT]},A,2026-05-20
        alder,{DOT},{CARD[DOT]},C,2026-06-02T14:00:00Z
        """,
}

PURCHASES = f"""
{ANN} M1 20.00   bread-1 2026-06-01T08:00:00Z
{BEN} M1 21.00   bread-2 2026-06-01T09:00:00Z
{CAT} M1 22.00   bread-3 2026-06-01T10:00:00Z
{BEN} M2 12.50   film-1  2026-06-02T18:00:00Z
{BEN} M2 41.50   film-2  2026-06-02T20:00:00Z
{DOT} M2 1234.50 film-3  2026-06-02T12:00:00Z
{DOT} M9 9.99    shop-1  2026-06-02T12:00:00Z ACME_STORES_12
"""

# the question | what is typed | what the answer says
QUESTIONS = """\
the card's last digits    | find --card 889c                           | bread-1
the cardholder's digits   | find --cardholder b1a1 --day 1.6.          | bread-2
merchant and day          | find --merchant bakery --day '1 June 2026' | bread-3
an amount in local form   | find --amount 41,50                        | film-2
a larger one              | find --amount £1,234.50; why <ref>         | before the enrolment
a misspelled merchant     | find --merchant orfeum                     | mean Orpheum Cinema?
not received              | why film-9; find --ref film-9              | Nothing that alder sent
below the minimum         | find --amount 12.50; why <ref>             | short by GBP 7.50
added later               | find --card 2222; why <ref>                | before the enrolment
the budget is gone        | why bread-3                                | the budget was spent
the webhook failed        | why bread-2                                | the webhook failed (
the webhook, to be pasted | why bread-2 --plain                        | It is to be settled
reversed                  | why film-2                                 | , reversed at
two offers                | why bread-1                                | It redeemed A & outranked
an unknown merchant       | find --merchant acme                       | ACME STORES 12 & shop-1
another institution       | why tarn-1                                 | brook sent it
why it is unknown         | why shop-1                                 | (ACME STORES 12)
of whichever institution  | why tarn-1 --all-institutions              | redeemed nothing
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the store with the commands; nothing listens where its webhook goes."""
    folder = tmp_path_factory.mktemp("support")
    for name in ("catalog", "one"):
        (folder / name).mkdir()
    for name, text in CATALOGUE.items():
        lines = (line.strip() for line in text.strip().splitlines())
        (folder / "catalog" / f"{name}.csv").write_text("".join(f"{line}\n" for line in lines))
    _write(folder / "alder.csv", PURCHASES)
    _write(folder / "brook.csv", f"{DOT} M2 30.00 tarn-1 2026-06-01T08:00:00Z")
    script = """
        init
        catalog import catalog
        import alder.csv -i alder
        import brook.csv -i brook
        match
        settle --as-of 2026-06-04T12:00:00Z
        redemption reverse film-2 -i alder --reason refunded --yes --as-of 2026-06-04T12:00:00Z
        webhook set -i alder --url http://127.0.0.1:9/ --from all --as-of 2026-06-04T12:00:00Z
        webhook send --as-of 2026-06-04T12:00:00Z
    """
    with chdir(folder):
        for line in script.strip().splitlines():
            ended = ask(line if "--as-of" in line else f"{line} --as-of 2026-06-02T23:00:00Z")
            assert ended.exit_code in {0, 3}, (line, ended)
    with_catalogue(folder / "one")
    _write(folder / "one" / "tx.csv", f"{ANN} M0 9.00 first 2026-06-01T08:00:00Z")
    with chdir(folder / "one"):
        Path("store.duckdb").rename("cardoffers.duckdb")
        assert 0 == in_a_pipe(shlex.split("import tx.csv -i alder")).exit_code
    return folder


def _write(path: Path, rows: str) -> None:
    names = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"
    lines = []
    for row in rows.strip().splitlines():
        token, *others = row.split()
        descriptor = others.pop().replace("_", " ") if len(others) > 4 else ""
        lines.append(",".join([token, CARD[token], *others, descriptor]) + "\n")
    path.write_text(f"{names},merchant_descriptor\n{''.join(lines)}")


def ask(line: str) -> Ended:
    settings = {"CARDOFFERS_ALLOW_INSECURE_WEBHOOKS": "true", "CARDOFFERS_INSTITUTION": "alder"}
    return in_a_pipe(shlex.split(line), **settings)


TABLE = [re.split(r" +\| ", line.strip()) for line in QUESTIONS.strip().splitlines()]


@slow
@pytest.mark.parametrize(("question", "typed", "said"), TABLE, ids=[row[0] for row in TABLE])
@one_in(2)
def test_a_question_is_answered(folder: Path, question: str, typed: str, said: str) -> None:
    ref, ended = "", None
    commands = typed.split("; ")
    assert len(commands) <= 2, question
    with chdir(folder):
        for line in commands:
            ended = ask(f"{line.replace('<ref>', ref)} --as-of 2026-06-05T12:00:00Z --format table")
            found = re.findall(r"\b(?:bread|film|tarn)-\d\b", ended.stdout)
            ref = found[0] if found else ref
    assert ended is not None
    answer = ended.stdout + ended.stderr
    assert [] == [part for part in said.split(" & ") if part not in answer]


@slow
def test_the_only_institution_need_not_be_named(folder: Path) -> None:
    with chdir(folder):
        for line in ("find --ref film-1", "why film-1", "timeline film-1"):
            ended = in_a_pipe(shlex.split(line))
            assert (2, True) == (ended.exit_code, "one of alder, brook; or --all" in ended.stderr)
            assert 0 == in_a_pipe([*shlex.split(line), "--all-institutions"]).exit_code
            both = in_a_pipe([*shlex.split(line), "-i", "alder", "--all-institutions"])
            assert (2, True) == (both.exit_code, "exclude each other" in both.stderr)
    with chdir(folder / "one"):
        for line in ("find --ref first", "why first", "timeline first"):
            assert 0 == in_a_pipe(shlex.split(line)).exit_code
        unknown = in_a_pipe(["timeline", "none"])
        assert (5, True) == (unknown.exit_code, "alder has nothing under" in unknown.stderr)


@slow
def test_a_cardholder_hears_nothing_of_another_institution(folder: Path) -> None:
    with chdir(folder):
        ended = ask("why tarn-1 --plain")
        assert "We have not received your purchase yet." in ended.stdout
        assert "brook" not in ended.stdout + ended.stderr


@slow
def test_a_list_of_references_is_answered_for_whoever_has_each(folder: Path) -> None:
    with chdir(folder):
        line = shlex.split("why --file - --all-institutions --format json")
        told = in_a_pipe(line, stdin="tarn-1\nfilm-1\nnone\n").document
        assert [("tarn-1", "brook"), ("film-1", "alder"), ("none", "alder")] == [
            (each["transaction_ref"], each["institution"]) for each in told
        ]


def test_where_nothing_is_found_the_exit_code_and_the_hint_say_so(folder: Path) -> None:
    with chdir(folder):
        ended = ask("find --ref tarn-1 --format json")
        assert (5, [], ["brook"]) == (
            ended.exit_code,
            json.loads(ended.stdout)["data"],
            ended.error["received_from"],
        )
        assert "`cardoffers find --ref tarn-1 -i brook` shows it." == ended.error["hint"]
        assert "Add --tolerance 1; or look at every" in ask("find --amount 41,51").stderr


def test_at_80_columns_merchant_and_reason_stand_before_currency_and_ids(folder: Path) -> None:
    with chdir(folder):
        words = shlex.split("find --merchant M2 -i alder")
        lines = on_a_screen(words, columns=80, NO_COLOR="1").stdout.splitlines()
    assert "day           amount  reason         merchant        reference  currency" == (
        lines[0][:72].rstrip()
    )
    assert all(len(line) <= 80 for line in lines)
    assert "2026-06-02     12.50  below minimum  Orpheum Cinema  film-1     GBP" in (
        line[:68].rstrip() for line in lines
    )


def test_no_token_is_shown_whole_or_told_on_a_command_line(folder: Path) -> None:
    with chdir(folder):
        shown = ask("find --card 889c --format csv").stdout
        assert {"ct_7…889c", "a-to…b1a0"} <= set(re.findall(r"[\w-]{4}…\w{4}", shown))
        assert not any(token in shown for token in (*CARD, *CARD.values()))
        assert "token_not_masked" == ask(f"find --card {CARD[ANN]} --format json").error["code"]
