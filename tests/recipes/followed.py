"""What holds of a checkout in which somebody followed a recipe: `test_recipes.py` runs it there."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, timedelta
from json import loads
from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

from banks import BERLIN, camt, entry, returned
from cardoffers_cli.catalogue.formats import kinds
from cardoffers_cli.demo.help_commands import KNOWN, page_text
from cardoffers_cli.documents.closing import close_statement
from cardoffers_cli.events.receiver import Receiver
from cardoffers_cli.institutions.accounts import AccountOptions
from cardoffers_cli.institutions.work import set_institution
from cardoffers_cli.kernel.cli import main
from cardoffers_cli.kernel.store.settings import Settings
from cardoffers_cli.kernel.words.events import EVENTS, WORDS
from cardoffers_cli.kernel.words.row_kinds import FREE_TEXTS
from cardoffers_cli.kernel.words.signing import check_signature
from cardoffers_cli.river.redemptions import reverse
from cardoffers_cli.river.settlements import settle_due
from commands import every_command, in_a_pipe
from outbox import goes_to, redemption, sent
from paying import RUN_BY, exported
from paying import taken as taken_of_bank
from post import real_clock
from work import file_of, found, new_store, once, settings, taken, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

COMMANDS = [*every_command(get_command(main.app))]
ROW = "cardholder identifier ref\nann M0 r-1"
NUMBER = "paid with 4111 1111 1111 1111"


@once
def matched(folder: Path) -> Job:
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM0 bakery",
        offers="offer merchant\nof-1 bakery",
        programs="offer\nof-1",
        links="cardholder offer\nann of-1",
    )
    path = file_of(folder / "purchases.csv", ROW)
    header, row = path.read_text().splitlines()
    path.write_text(f"{header},{','.join(FREE_TEXTS[1:])}\n{row}{',chip' * len(FREE_TEXTS[1:])}\n")
    assert 1 == taken(made, path)["accepted"]
    assert 0 == in_a_pipe(["match", "--store", made.path]).exit_code
    return made


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_its_help(command: str) -> None:
    assert 0 == in_a_pipe([*command.split(), "--help"]).exit_code


@pytest.mark.parametrize("kind", kinds())
@pytest.mark.parametrize("form", ["jsonschema", "markdown"])
def test_every_kind_of_files_is_described(kind: str, form: str) -> None:
    ended = in_a_pipe(["schema", "--kind", kind, "--form", form])
    assert 0 == ended.exit_code, ended


def test_every_finding_is_explained() -> None:
    assert 0 == in_a_pipe(["help", "findings"]).exit_code
    ended = {code: in_a_pipe(["help", "findings", code]).exit_code for code in KNOWN}
    assert dict.fromkeys(KNOWN, 0) == ended


def test_every_setting_is_described() -> None:
    page = page_text("environment")
    assert [] == [each.name for each in fields(Settings) if each.name not in page]


def test_every_text_of_a_purchase_is_kept_and_every_card_number_in_it_masked(
    tmp_path: Path,
) -> None:
    made = matched(tmp_path)
    words = ["--store", made.path]
    columns = ", ".join(FREE_TEXTS[1:])
    kept = f"select {columns} from purchase_details"  # noqa: S608
    assert [("chip",) * len(FREE_TEXTS[1:])] == found(made, kept)
    assert 0 == in_a_pipe(["doctor", "--strict", *words]).exit_code
    for column in FREE_TEXTS:
        with made.store() as store:
            store.connection.execute(
                f"update recent_purchase_details set {column} = $1",  # noqa: S608
                [NUMBER],
            )
        assert 3 == in_a_pipe(["doctor", "--strict", *words]).exit_code, column
        ended = in_a_pipe(["store", "mask-card-numbers", "--yes", *words])
        assert 0 == ended.exit_code, ended
        ((text,),) = found(made, f"select {column} from purchase_details")  # noqa: S608
        assert "1111 1111" not in text, column
    assert 0 == in_a_pipe(["doctor", "--strict", *words]).exit_code


@pytest.mark.parametrize("command", [each for each in COMMANDS if each.startswith("report ")])
def test_every_report_of_an_institution_is_shown(tmp_path: Path, command: str) -> None:
    made = matched(tmp_path)
    ended = in_a_pipe([*command.split(), "-i", "alder", "--format", "json", "--store", made.path])
    assert 0 == ended.exit_code, ended


def test_every_event_is_subscribed_to_sent_listed_shown_and_audited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = replace(matched(tmp_path), settings=settings(allow_insecure_webhooks=True, **RUN_BY))
    ((settles_at,),) = found(made, "select max(settles_at) from ledger_entries")
    at_end = replace(made, now=settles_at + timedelta(days=40))
    monkeypatch.setenv("CARDOFFERS_ALLOW_INSECURE_WEBHOOKS", "1")
    words, secrets = ["--store", made.path, "--format", "json"], []
    with Receiver(clock=real_clock) as receiver:
        secrets.append(goes_to(made, receiver.url))
        wanted = ["webhook", "set", "-i", "alder", "--events", ",".join(WORDS), *words]
        assert 0 == in_a_pipe(wanted).exit_code
        account = AccountOptions(account=BERLIN, holder="Alder", address="Berlin, DE")
        set_institution(made, "alder", {}, account=account)
        settle_due(replace(made, now=settles_at))
        number = close_statement(at_end, "alder", f"{settles_at:%Y-%m}").number
        exported(at_end, number=number)
        on = f"<Dt>{at_end.now:%Y-%m-%d}</Dt>"
        taken_of_bank(at_end, camt(entry("1", on=on, named=number), returned(named=number, on=on)))
        sent(at_end)
        reverse(redemption(made), "returned", at_end)
        sent(at_end)
        bodies = [loads(each.body) for each in receiver.received]
    assert {*EVENTS} == {each["event"] for each in bodies}
    for body, received in zip(bodies, receiver.received, strict=True):
        kind = EVENTS[body["event"]]
        assert ["event", *kind.fields] == [*body]
        now_s = int(received.at.replace(tzinfo=UTC).timestamp())
        assert [] == check_signature(received.body, received.headers, secrets, now_s)
        listed = loads(in_a_pipe(["webhook", "list", "--event", kind.word, *words]).stdout)
        assert [(kind.name, "delivered")] == [(each["event"], each["state"]) for each in listed]
        of = body[f"{kind.subject}_id"]
        shown = in_a_pipe(["webhook", "show", of, "--event", kind.word, *words])
        assert (0, kind.name) == (shown.exit_code, loads(shown.stdout)["event"])
    assert 0 == in_a_pipe(["doctor", "--strict", "--store", made.path]).exit_code
