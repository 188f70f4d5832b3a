"""A store that an older version made answers as it did there.

`older/make VERSION`, run with that version's `cardoffers` on the PATH, made the store
`older/schema_VERSION.xz` of sample data and wrote its answers to `older/questions.txt` into
`older/schema_VERSION.txt`. An answer that is to be another from now on is changed there by hand,
and the commit says why.
"""

from __future__ import annotations

import lzma
import shlex
from contextlib import chdir
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cardoffers_cli.store.migrations import newest_version
from commands import in_a_pipe

OLDER = Path(__file__).parent / "older"
VERSIONS = sorted(int(path.stem.partition("_")[2]) for path in OLDER.glob("schema_*.xz"))


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest, tmp_path: Path) -> int:
    """Put the store of a version into the folder of the test, under the name that commands seek."""
    with lzma.open(OLDER / f"schema_{request.param}.xz") as packed:
        (tmp_path / "cardoffers.duckdb").write_bytes(packed.read())
    return int(request.param)


def asked(words: str) -> str:
    ended = in_a_pipe(["-q", *shlex.split(words), "--as-of", "2026-10-02"])
    assert 0 == ended.exit_code, (words, ended)
    return ended.stdout


def answers(version: int) -> dict[str, str]:
    """Return what a version answered, by what it was asked."""
    parts = (OLDER / f"schema_{version}.txt").read_text().split("$ ")[1:]
    return {words: answer for words, _, answer in (part.partition("\n") for part in parts)}


def test_what_is_asked_has_its_answer() -> None:
    questions = (OLDER / "questions.txt").read_text().splitlines()
    assert [questions] * len(VERSIONS) == [list(answers(version)) for version in VERSIONS]


def test_a_store_of_before_answers_the_same(tmp_path: Path, version: int) -> None:
    """Some 30 commands over every report: 6 s."""
    with chdir(tmp_path):
        migrated = in_a_pipe(["store", "migrate", "--format", "json"]).document
        assert newest_version() == migrated["schema_version"]
        asked("doctor --strict")
        expected = answers(version)
        assert expected == {words: asked(words) for words in expected}


def test_a_store_of_before_is_refused_until_it_is_migrated(tmp_path: Path, version: int) -> None:
    with chdir(tmp_path):
        if version < newest_version():
            refused = in_a_pipe(["status", "--format", "json"])
            assert "store_version" == refused.error["code"]
        in_a_pipe(["store", "migrate"])
        assert 0 == in_a_pipe(["status"]).exit_code


@pytest.mark.usefixtures("version")
def test_a_store_of_before_keeps_every_row(tmp_path: Path) -> None:
    """What a migration changes in tables, but for its own record, is named here."""
    store = tmp_path / "cardoffers.duckdb"
    before = columns(store)
    kept = {name: before[name] for name in before.keys() - {"migrations", "link_counts"}}
    rows_before = rows(store, kept)
    with chdir(tmp_path):
        in_a_pipe(["store", "migrate"])
    assert rows_before == rows(store, kept)
    assert rows(store, {"counted_up_to": ["*"]})["counted_up_to"]
    redeemed = {
        "redemptions": ["purchase_no", "purchase_amount", "purchased_at", "transaction_ref"]
    }
    bought = {"recent_purchases": ["purchase_no", "amount", "transacted_at", "transaction_ref"]}
    (of_redemptions,), (of_purchases,) = (rows(store, of).values() for of in (redeemed, bought))
    assert of_redemptions
    assert [] == [row for row in of_redemptions if row not in of_purchases]


def columns(path: Path) -> dict[str, list[str]]:
    """Return the columns of every table, from the file itself."""
    with duckdb.connect(str(path), read_only=True) as connection:
        found = connection.execute(
            "select table_name, list(column_name order by column_index) from duckdb_columns() "
            "where not internal and table_name in (select table_name from duckdb_tables()) "
            "group by all"
        )
        return dict(found.fetchall())


def rows(path: Path, of: dict[str, list[str]]) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of some columns of tables, from the file itself."""
    with duckdb.connect(str(path), read_only=True) as connection:
        return {
            name: connection.execute(
                f"from {name} select {', '.join(names)} order by all"
            ).fetchall()
            for name, names in of.items()
        }
