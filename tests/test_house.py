"""The product keeps to the house of `house.py`, and no check of it can sleep."""

from __future__ import annotations

import pytest

from house import (
    AGAINST,
    CHECKOUT,
    CHECKS,
    PRODUCT,
    RINGS,
    SLICES,
    USES_PRIVATE_PARTS,
    Check,
    every_package_has_a_sign,
    few_write_to_the_terminal,
    imported_modules,
    imports_go_down,
    module,
    names_say_something,
    one_module_knows_what_is_beside_a_store,
    packages_keep_to_their_rooms,
    private_parts_of_others,
    private_parts_of_others_are_left_alone,
    read_house,
    rings,
    sql_stands_in_sql_files,
    steps_stand_apart,
    the_kernel_keeps_its_floors,
    time_and_chance_are_handed_in,
    way_to_heavy,
    words_touch_nothing_outside,
    work_knows_no_command,
)


@pytest.mark.parametrize("check", CHECKS)
def test_the_house_stands(check: Check) -> None:
    complaints = [complaint for each in read_house().values() for complaint in check(each)]
    assert not complaints, "\n".join(["", *complaints])


# The doors open at once: nothing heavy is imported before a command runs


def test_the_command_line_opens_at_once() -> None:
    house = read_house()
    doors = [each.dotted for each in house.values() if each.is_command or each.room == "__main__"]
    ways = [" -> ".join(way) for door in doors if (way := way_to_heavy(door, house))]
    assert not ways, "\n".join(["import these inside the command:", *ways])


@pytest.mark.parametrize(
    ("heavy", "door", "neighbour"),
    [
        (True, "import rich.table", ""),
        (True, "try:\n    import polars\nfinally:\n    pass", ""),
        (True, "class Screen:\n    from rich.table import Table", ""),
        (True, "from cardoffers_cli.refunds import match", "import duckdb"),
        (True, "from ..refunds.match import run", "import duckdb"),
        (False, "def show():\n    import rich.table", ""),
        (False, "if TYPE_CHECKING:\n    import polars", ""),
        (False, "def command():\n    from cardoffers_cli.refunds import match", "import duckdb"),
        (False, "from cardoffers_cli.refunds import match", "def run():\n    import duckdb"),
    ],
)
def test_a_slow_door_is_found(heavy: bool, door: str, neighbour: str) -> None:
    modules = [module("watch/commands.py", door), module("refunds/match.py", neighbour)]
    way = way_to_heavy("cardoffers_cli.watch.commands", {each.dotted: each for each in modules})
    assert heavy == bool(way)


@pytest.mark.parametrize("path", USES_PRIVATE_PARTS)
def test_what_may_use_private_parts_still_does(path: str) -> None:
    (source,) = [each for each in read_house().values() if each.path == path]
    assert list(private_parts_of_others(source)), "strike it from USES_PRIVATE_PARTS"


# No module imports what imports it


def test_imports_make_no_ring() -> None:
    found = rings(read_house())
    assert found == RINGS, "break what is new, and strike from RINGS what is gone"


@pytest.mark.parametrize(
    ("expected", "imports"),
    [
        (
            set(),
            {"a": "from cardoffers_cli.jobs import b", "b": "from cardoffers_cli.jobs.c import x"},
        ),
        (set(), {"a": "from cardoffers_cli.jobs.a import x"}),
        ({("jobs.a", "jobs.b")}, {"a": "import cardoffers_cli.jobs.b", "b": "from . import a"}),
        (
            {("jobs.a", "jobs.b")},
            {"a": "def f():\n    from cardoffers_cli.jobs.b import x", "b": "from .a import y"},
        ),
        (
            {("jobs.a", "jobs.b")},
            {"a": "if TYPE_CHECKING:\n    from .b import X", "b": "from .a import y"},
        ),
        (
            {("jobs.a", "jobs.b", "jobs.c")},
            {"a": "from .b import x", "b": "from .c import x", "c": "from .a import x"},
        ),
        (
            {("jobs.a", "jobs.b"), ("jobs.c", "jobs.d")},
            {
                "a": "from .b import x",
                "b": "from .a import x\nfrom .c import x",
                "c": "from .d import x",
                "d": "from .c import x",
            },
        ),
    ],
)
def test_a_ring_is_found(expected: set[tuple[str, ...]], imports: dict[str, str]) -> None:
    modules = [module(f"jobs/{name}.py", text) for name, text in {"c": "", **imports}.items()]
    assert expected == rings({each.dotted: each for each in modules})


# SQL lies with what runs it


def test_every_sql_file_is_in_a_slice() -> None:
    root = CHECKOUT / PRODUCT
    paths = [path.relative_to(root) for path in root.rglob("*.sql")]
    assert paths
    assert [] == [path for path in paths if path.parts[0] not in SLICES]


# What is still against the order is written down, and nothing else


def test_what_is_against_the_order_is_still_there() -> None:
    house = read_house()
    there = {
        f"{each.path.removesuffix('.py')} -> {name.removeprefix(f'{PRODUCT}.').replace('.', '/')}"
        for each in house.values()
        for name in imported_modules(each, house)
    }
    assert set() == AGAINST - there, "strike these from AGAINST"


# Every check finds what it is for, and lets the rest be

BREACHES: list[tuple[Check, str, str]] = [
    (imports_go_down, "kernel/store/store.py", "from cardoffers_cli.refunds import apply"),
    (imports_go_down, "kernel/store/store.py", "import cardoffers_cli.intake.rules"),
    (imports_go_down, "river/match.py", "from ..refunds import apply"),
    (imports_go_down, "refunds/apply.py", "def f():\n    from cardoffers_cli import night"),
    (imports_go_down, "kernel/cli/show.py", "from cardoffers_cli.http import server"),
    (imports_go_down, "watch/scan.py", "if TYPE_CHECKING:\n    import cardoffers_cli.night.run"),
    (imports_go_down, "attic/old.py", ""),
    (
        the_kernel_keeps_its_floors,
        "kernel/words/money.py",
        "from cardoffers_cli.kernel.store.settings import Settings",
    ),
    (
        the_kernel_keeps_its_floors,
        "kernel/store/store.py",
        "from cardoffers_cli.kernel.cli.show import say",
    ),
    (the_kernel_keeps_its_floors, "kernel/net/sender.py", "from ..store import store"),
    (
        work_knows_no_command,
        "refunds/apply.py",
        "from cardoffers_cli.refunds.commands import applied",
    ),
    (work_knows_no_command, "night/run.py", "from cardoffers_cli.kernel.cli import show"),
    (work_knows_no_command, "http/server.py", "def f():\n    import cardoffers_cli.http.commands"),
    (steps_stand_apart, "river/stage.py", "from cardoffers_cli.river.judge import judge"),
    (steps_stand_apart, "river/redeem.py", "from . import match"),
    (packages_keep_to_their_rooms, "offers/questions.py", "import polars as pl"),
    (packages_keep_to_their_rooms, "intake/rules.py", "from duckdb import connect"),
    (packages_keep_to_their_rooms, "refunds/apply.py", "def f():\n    from rich import table"),
    (packages_keep_to_their_rooms, "kernel/net/sender.py", "import requests"),
    (private_parts_of_others_are_left_alone, "kernel/cli/main.py", "from typer._click import core"),
    (private_parts_of_others_are_left_alone, "kernel/cli/main.py", "import typer._click.core"),
    (private_parts_of_others_are_left_alone, "kernel/cli/main.py", "from typer.core import _main"),
    (private_parts_of_others_are_left_alone, "kernel/cli/main.py", "def f(app):\n    app._main()"),
    (
        private_parts_of_others_are_left_alone,
        "kernel/cli/main.py",
        "import typer\ntyper._click.echo()",
    ),
    (
        private_parts_of_others_are_left_alone,
        "kernel/net/sender.py",
        "class A(B):\n    def f(self):\n        self._server.close()",
    ),
    (
        private_parts_of_others_are_left_alone,
        "kernel/net/sender.py",
        "class A(B):\n    def _f(self):\n        super()._f()",
    ),
    (
        private_parts_of_others_are_left_alone,
        "kernel/net/sender.py",
        "getattr(site, '_server').close()",
    ),
    (private_parts_of_others_are_left_alone, "kernel/net/sender.py", "site._server = None"),
    (private_parts_of_others_are_left_alone, "http/app.py", "from asyncio.sslproto import x"),
    (time_and_chance_are_handed_in, "river/match.py", "import datetime as d\nd.datetime.now()"),
    (time_and_chance_are_handed_in, "refunds/apply.py", "import datetime\ndatetime.datetime.now()"),
    (time_and_chance_are_handed_in, "night/status_commands.py", "import time\ntime.time()"),
    (time_and_chance_are_handed_in, "answers/browse/app.py", "import uuid\nuuid.uuid4()"),
    (
        time_and_chance_are_handed_in,
        "kernel/store/lock.py",
        "from datetime import date\ndate.today()",
    ),
    (time_and_chance_are_handed_in, "kernel/words/money.py", "from time import time\ntime()"),
    (
        time_and_chance_are_handed_in,
        "intake/rules.py",
        "from datetime import datetime as d\nd.utcnow",
    ),
    (time_and_chance_are_handed_in, "offers/questions.py", "from uuid import uuid4\nuuid4()"),
    (time_and_chance_are_handed_in, "keys/questions.py", "import secrets\nsecrets.token_hex()"),
    (time_and_chance_are_handed_in, "kernel/net/sender.py", "import os\nos.urandom(8)"),
    (time_and_chance_are_handed_in, "kernel/net/sender.py", "import random\nrandom.random()"),
    (time_and_chance_are_handed_in, "intake/lines.py", "import random\nrandom.Random()"),
    (time_and_chance_are_handed_in, "keys/rules.py", "import time\ntime.time()"),
    (words_touch_nothing_outside, "kernel/words/money.py", "from pathlib import Path"),
    (words_touch_nothing_outside, "kernel/words/money.py", "import urllib.request"),
    (words_touch_nothing_outside, "kernel/words/money.py", "open('rates')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run('select a\\nfrom b')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run(f'SELECT {a} FROM b')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run(f'insert into {a} values (1)')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run('Create Temp Table a (b int)')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run('delete from a')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run('update a set b = 1')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run('with a as (select 1) select 2')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run('explain select a from b')"),
    (every_package_has_a_sign, "refunds/__init__.py", ""),
    (every_package_has_a_sign, "refunds/__init__.py", '"""The store."""'),
    (every_package_has_a_sign, "refunds/__init__.py", '"""a\nb\nc\nImports x. Read y first.\n"""'),
    (names_say_something, "refunds/utils.py", ""),
    (names_say_something, "core/money.py", ""),
    (one_module_knows_what_is_beside_a_store, "river/engines.py", "f'{job.path}.history'"),
    (one_module_knows_what_is_beside_a_store, "kernel/store/lock.py", "store.name + '.lock'"),
    (one_module_knows_what_is_beside_a_store, "river/engines.py", "f'{job.path}.d/archive'"),
    (
        one_module_knows_what_is_beside_a_store,
        "kernel/store/copying.py",
        "f'{name}.wal.checkpoint'",
    ),
    (few_write_to_the_terminal, "intake/rules.py", "print(1)"),
    (few_write_to_the_terminal, "kernel/cli/exits.py", "import sys\nsys.stdout.write('')"),
    (
        few_write_to_the_terminal,
        "kernel/cli/show.py",
        "from sys import stderr as e\nprint(1, file=e)",
    ),
    (
        few_write_to_the_terminal,
        "river/commands.py",
        "import typer\ntyper.echo('', err=True)",
    ),
    (few_write_to_the_terminal, "kernel/cli/exits.py", "import typer\ntyper.echo('')"),
    (
        few_write_to_the_terminal,
        "kernel/cli/exits.py",
        "from rich.console import Console\nConsole()",
    ),
    (few_write_to_the_terminal, "kernel/cli/context.py", "import rich\nrich.print('')"),
]

FINE: list[tuple[Check, str, str]] = [
    (imports_go_down, "kernel/store/store.py", "from cardoffers_cli.kernel.store.lock import Lock"),
    (imports_go_down, "night/run.py", "from cardoffers_cli import __version__\nimport re"),
    (imports_go_down, "night/run.py", "from cardoffers_cli.refunds.apply import apply"),
    (the_kernel_keeps_its_floors, "kernel/cli/show.py", "from . import blocks"),
    (
        the_kernel_keeps_its_floors,
        "kernel/store/store.py",
        "from cardoffers_cli.kernel.words.errors import NotFound",
    ),
    (work_knows_no_command, "night/commands.py", "from cardoffers_cli.kernel.cli import show"),
    (steps_stand_apart, "river/judge.py", "from cardoffers_cli.river.handles import Staged"),
    (steps_stand_apart, "river/imports.py", "from cardoffers_cli.river.judge import judge"),
    (packages_keep_to_their_rooms, "kernel/store/store.py", "import duckdb, json"),
    (packages_keep_to_their_rooms, "river/stage.py", "if TYPE_CHECKING:\n    import polars"),
    (
        private_parts_of_others_are_left_alone,
        "kernel/cli/main.py",
        "import typer\ntyper.core.__name__",
    ),
    (
        private_parts_of_others_are_left_alone,
        "kernel/net/sender.py",
        "class A:\n    def __init__(self):\n        self._b = self._c()\n    def _c(self): ...",
    ),
    (
        private_parts_of_others_are_left_alone,
        "kernel/net/sender.py",
        "class A:\n    _b: int\n\n\ndef f(a):\n    return a._b",
    ),
    (
        time_and_chance_are_handed_in,
        "kernel/store/clock.py",
        "import datetime\ndatetime.datetime.now()",
    ),
    (time_and_chance_are_handed_in, "kernel/store/lock.py", "import time\ntime.monotonic()"),
    (time_and_chance_are_handed_in, "intake/lines.py", "import random\nrandom.Random(7).random()"),
    (time_and_chance_are_handed_in, "keys/rules.py", "import secrets\nsecrets.token_hex()"),
    (time_and_chance_are_handed_in, "kernel/words/ids.py", "import uuid\nuuid.uuid5(a, b)"),
    (sql_stands_in_sql_files, "kernel/store/store.py", '"""Select a row from a table."""'),
    (sql_stands_in_sql_files, "kernel/store/store.py", "fail('choose a line from the file')"),
    (one_module_knows_what_is_beside_a_store, "kernel/store/layout.py", "store.name + '.lock'"),
    (
        one_module_knows_what_is_beside_a_store,
        "kernel/store/lock.py",
        '""".lock is beside the store."""',
    ),
    (one_module_knows_what_is_beside_a_store, "drop/drop.py", "name + '.done'"),
    (few_write_to_the_terminal, "kernel/cli/show.py", "import sys\nsys.stdout.write('')\nprint(1)"),
    (few_write_to_the_terminal, "kernel/cli/context.py", "import sys\nsys.stdout.isatty()"),
    (few_write_to_the_terminal, "kernel/cli/exits.py", "import sys\nprint(1, file=sys.stderr)"),
    (
        few_write_to_the_terminal,
        "kernel/cli/progress.py",
        "from rich.console import Console\nConsole(stderr=True)",
    ),
]


@pytest.mark.parametrize(("check", "path", "text"), BREACHES)
def test_a_breach_is_found(check: Check, path: str, text: str) -> None:
    complaints = list(check(module(path, text)))
    assert complaints
    assert all(complaint.startswith(f"{PRODUCT}/{path}:") for complaint in complaints)


@pytest.mark.parametrize(("check", "path", "text"), FINE)
def test_what_is_allowed_is_left_alone(check: Check, path: str, text: str) -> None:
    assert [] == list(check(module(path, text)))


def test_every_check_has_a_breach() -> None:
    assert {check.__name__ for check in CHECKS} == {check.__name__ for check, _, _ in BREACHES}
