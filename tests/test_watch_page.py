"""What the page of the watch has to be copied from it is what it says: read by whom it is for."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from cardoffers_cli.demo.help_commands import page_text
from cardoffers_cli.kernel.cli.exits import EXIT_CODES
from cardoffers_cli.kernel.store.settings import read_settings
from cardoffers_cli.night import hooks
from sizes import at_the_gate
from work import with_catalogue

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
HEADER = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\n"
GOOD = f"{HEADER}c0,card-1,M0,20.00,r1,2026-05-30T12:00:00Z\n"
ROOT = "/srv/cardoffers"


def blocks(title: str, kind: str) -> Sequence[str]:
    _, found, rest = page_text("watch").partition(f"\n## {title}\n")
    assert found
    return [
        body for language, body in FENCE.findall(rest.partition("\n## ")[0]) if language == kind
    ]


def test_the_hooks_are_hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = blocks("Who is told", "toml")
    (tmp_path / "cardoffers.toml").write_text(example)
    monkeypatch.setattr(hooks.shutil, "which", str)  # there may be no mail here
    made = hooks.hooks_of(read_settings({}, {}, tmp_path / "cardoffers.toml"))
    assert {*hooks.EVENTS} == {hook.event for hook in made}
    assert ["on_start", "on_success", "on_failure"] == [each.event for each in made if each.is_ping]


def test_the_notice_is_one() -> None:
    (example,) = blocks("Who is told", "json")
    shown = json.loads(re.sub(r", …", "", example))
    assert shown.keys() <= set(hooks.Notice.__annotations__)


def test_the_metrics_are_where_a_collector_looks(tmp_path: Path) -> None:
    (example,) = blocks("Metrics", "toml")
    (tmp_path / "cardoffers.toml").write_text(example)
    settings = read_settings({}, {}, tmp_path / "cardoffers.toml")
    assert ("/var/lib/node_exporter/textfile/cardoffers.prom", "0644") == (
        str(settings.metrics_file),
        settings.metrics_mode,
    )


def test_the_alerts_are_of_metrics_that_there_are() -> None:
    (example,) = blocks("Metrics", "yaml")
    listed = set(re.findall(r"`([a-z_]+)(?:\{[a-z, ]+\})?`", page_text("watch")))
    for rule in yaml.safe_load(example)["groups"][0]["rules"]:
        named = re.findall(r"cardoffers_([a-z_]+)", rule["expr"])
        assert named, rule
        assert set(named) <= listed


def units() -> dict[str, str]:
    service, failed = blocks("Who is told", "ini")
    return {"cardoffers.service": service, "cardoffers-failed.service": failed}


def test_the_units_start_each_other() -> None:
    read = {}
    for name, text in units().items():
        read[name] = configparser.ConfigParser(interpolation=None)
        read[name].optionxform = str  # type: ignore[assignment,method-assign]
        read[name].read_string(text)
    service = read["cardoffers.service"]
    assert service["Unit"]["OnFailure"] in read
    (findings,) = [row for row in EXIT_CODES if "findings" in row.meaning]
    assert str(findings.code) == service["Service"]["SuccessExitStatus"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_reads_the_units(tmp_path: Path) -> None:
    for name, text in units().items():
        program = text.replace(f"{ROOT}/.venv/bin/cardoffers", "/bin/true")
        (tmp_path / name).write_text(program.replace("User=cardoffers\n", ""))
    words = ["systemd-analyze", "verify", "--man=no", *map(str, sorted(tmp_path.iterdir()))]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
    said = [line for line in done.stderr.splitlines() if str(tmp_path) in line]
    assert [] == said


@at_the_gate  # two nights: one that needs nobody, and one whose mail says what to type
def test_cron_mails_what_somebody_has_to_know(tmp_path: Path) -> None:
    (example,) = blocks("Who is told", "crontab")
    mail_to, line = example.splitlines()
    assert mail_to.startswith("MAILTO=")
    minute, hour, *others, command = line.split(" ", 5)
    assert minute.isdecimal()
    assert hour.isdecimal()
    assert ["*"] * 3 == others
    with_catalogue(tmp_path).path.rename(tmp_path / "cardoffers.duckdb")
    drop = tmp_path / "drop" / "alder"
    drop.mkdir(parents=True)
    command = command.replace(ROOT, str(tmp_path))
    command = command.replace(".venv/bin/cardoffers", f"{sys.executable} -m cardoffers_cli")

    def mailed(name: str, text: str) -> str:
        (drop / name).write_text(text)
        (drop / f"{name}.done").touch()
        words = ["/bin/sh", "-c", command]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        return done.stdout + done.stderr

    assert "" == mailed("good.csv", GOOD)
    mail = mailed("bad.csv", "").splitlines()
    assert "error: alder/bad.csv: The file has no content." in mail
    (shown,) = [each for each in mail if "bad.csv.errors.csv" in each]
    typed = shown.partition("-> ")[2]
    assert (
        0 == subprocess.run(["/bin/sh", "-c", typed], check=False, capture_output=True).returncode
    )
    assert "finished" == json.loads((tmp_path / "last-run.json").read_bytes())["status"]
