"""Commands about a cardholder take the token from standard input alone, and never show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from cardoffers_cli.kernel.cli import main
from sizes import slow
from work import found, new_store, tell

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "ch_9f8e7d6c5b4a3kanarie0f1e2d3c4b5a6"  # noqa: S105 - a token of a test
LINES = """
    privacy export -i alder --to out --cardholder
    privacy hold -i alder --reason case --cardholder
    privacy hold -i alder --reason over --release --cardholder
    privacy erase -i alder --reason asked --yes --dry-run --cardholder
    privacy erase -i alder --reason asked --yes --cardholder
    privacy erase -i alder --reason asked --yes --cardholder
"""


@slow
@pytest.mark.parametrize("form", ["table", "json"])
def test_no_token_is_typed_or_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    made = new_store(tmp_path)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery",
        offers="offer merchant\nbread bakery",
        links=f"cardholder offer\n{TOKEN} bread",
    )
    monkeypatch.chdir(tmp_path)
    more = ["--store", str(made.path), "--format", form]
    for line in LINES.strip().splitlines():
        typed = CliRunner().invoke(main.app, [*line.split(), TOKEN, *more])
        assert 2 == typed.exit_code
        sent = CliRunner().invoke(main.app, [*line.split(), "-", *more], input=f"{TOKEN}\n")
        assert 0 == sent.exit_code, (line, sent.output)
        for said in (typed, sent):
            assert TOKEN not in said.output + said.stderr
    tokens = [token for (token,) in found(made, "select cardholder_token from cardholders")]
    assert ["erased-"] == [token[:7] for token in tokens]
    assert [(2,)] == found(made, "select count(*) from legal_holds")
