"""The product keeps to the house of `house.py`, and no check of it can sleep."""

from __future__ import annotations

import pytest

from house import (
    CHECKOUT,
    CHECKS,
    PRODUCT,
    RINGS,
    USES_PRIVATE_PARTS,
    Check,
    domain_touches_nothing_outside,
    every_package_has_a_sign,
    few_write_to_the_terminal,
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
    sql_without_module,
    the_kernel_knows_no_command,
    time_and_chance_come_from_jobs,
    use_cases_stand_apart,
    way_to_heavy,
)


@pytest.mark.parametrize("check", CHECKS)
def test_the_house_stands(check: Check) -> None:
    complaints = [complaint for each in read_house().values() for complaint in check(each)]
    assert not complaints, "\n".join(["", *complaints])


# The doors open at once: nothing heavy is imported before a command runs


def test_the_command_line_opens_at_once() -> None:
    house = read_house()
    doors = [each.dotted for each in house.values() if each.room in {"cli", "__main__"}]
    ways = [" -> ".join(way) for door in doors if (way := way_to_heavy(door, house))]
    assert not ways, "\n".join(["import these inside the command:", *ways])


@pytest.mark.parametrize(
    ("heavy", "door", "neighbour"),
    [
        (True, "import rich.table", ""),
        (True, "try:\n    import polars\nfinally:\n    pass", ""),
        (True, "class Screen:\n    from rich.table import Table", ""),
        (True, "from cardoffers_cli.jobs import match", "import duckdb"),
        (True, "from ..jobs.match import run", "import duckdb"),
        (False, "def show():\n    import rich.table", ""),
        (False, "if TYPE_CHECKING:\n    import polars", ""),
        (False, "def command():\n    from cardoffers_cli.jobs import match", "import duckdb"),
        (False, "from cardoffers_cli.jobs import match", "def run():\n    import duckdb"),
    ],
)
def test_a_slow_door_is_found(heavy: bool, door: str, neighbour: str) -> None:
    modules = [module("cli/show.py", door), module("jobs/match.py", neighbour)]
    way = way_to_heavy("cardoffers_cli.cli.show", {each.dotted: each for each in modules})
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


# SQL files and modules carry the same name


def test_every_sql_file_has_its_module() -> None:
    root = CHECKOUT / PRODUCT / "sql"
    paths = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*.sql"))]
    strays = sql_without_module(paths, read_house())
    assert not strays, f"name each after the module that runs it, <package>/<module>: {strays}"


def test_a_stray_sql_file_is_found() -> None:
    house = {each.dotted: each for each in [module("river/match.py", "")]}
    paths = ["audits/any.sql", "pipeline/match.sql", "pipeline/other.sql", "match.sql"]
    assert ["pipeline/other", "match"] == sql_without_module(paths, house)


# Every check finds what it is for, and lets the rest be

BREACHES: list[tuple[Check, str, str]] = [
    (imports_go_down, "kernel/store/store.py", "from cardoffers_cli.jobs import match"),
    (imports_go_down, "kernel/store/store.py", "import cardoffers_cli.intake.rules"),
    (imports_go_down, "kernel/store/store.py", "from ..files import rules"),
    (imports_go_down, "kernel/store/store.py", "def f():\n    from cardoffers_cli import engine"),
    (imports_go_down, "kernel/cli/show.py", "from cardoffers_cli.http import app"),
    (imports_go_down, "kernel/cli/show.py", "from cardoffers_cli.kernel.store import store"),
    (imports_go_down, "river/stage.py", "from cardoffers_cli.intake import rules"),
    (imports_go_down, "river/stage.py", "from cardoffers_cli.river.judge import judge"),
    (imports_go_down, "offers/questions.py", "from . import institutions"),
    (
        imports_go_down,
        "offers/questions.py",
        "from cardoffers_cli.kernel.store.statements import statement",
    ),
    (
        imports_go_down,
        "offers/questions.py",
        "from cardoffers_cli.kernel.store.binding import TempTables",
    ),
    (imports_go_down, "offers/questions.py", "from cardoffers_cli.river.handles import Staged"),
    (
        imports_go_down,
        "kernel/words/money.py",
        "from cardoffers_cli.kernel.store.settings import Settings",
    ),
    (
        imports_go_down,
        "kernel/store/store.py",
        "if TYPE_CHECKING:\n    import cardoffers_cli.intake.rules",
    ),
    (imports_go_down, "attic/old.py", ""),
    (
        the_kernel_knows_no_command,
        "kernel/cli/context.py",
        "from cardoffers_cli.kernel.cli.main import app",
    ),
    (the_kernel_knows_no_command, "kernel/cli/context.py", "from .. import status"),
    (
        the_kernel_knows_no_command,
        "kernel/cli/context.py",
        "def f():\n    import cardoffers_cli.answers.commands",
    ),
    (
        use_cases_stand_apart,
        "river/settlements_settle.py",
        "from cardoffers_cli.river.match_run import match",
    ),
    (
        use_cases_stand_apart,
        "river/settlements_settle.py",
        "from cardoffers_cli.night.run import run",
    ),
    (
        use_cases_stand_apart,
        "storage/backup.py",
        "from cardoffers_cli.river import settlements_settle as settle",
    ),
    (use_cases_stand_apart, "kernel/store/job.py", "def f():\n    from ..settle import settle"),
    (packages_keep_to_their_rooms, "offers/questions.py", "import polars as pl"),
    (packages_keep_to_their_rooms, "intake/rules.py", "from duckdb import connect"),
    (packages_keep_to_their_rooms, "jobs/match.py", "def f():\n    from rich import table"),
    (packages_keep_to_their_rooms, "wire/post.py", "import requests"),
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
        "wire/post.py",
        "class A(B):\n    def f(self):\n        self._server.close()",
    ),
    (
        private_parts_of_others_are_left_alone,
        "wire/post.py",
        "class A(B):\n    def _f(self):\n        super()._f()",
    ),
    (private_parts_of_others_are_left_alone, "wire/post.py", "getattr(site, '_server').close()"),
    (private_parts_of_others_are_left_alone, "wire/post.py", "site._server = None"),
    (private_parts_of_others_are_left_alone, "http/app.py", "from asyncio.sslproto import x"),
    (time_and_chance_come_from_jobs, "river/match.py", "import datetime as d\nd.datetime.now()"),
    (time_and_chance_come_from_jobs, "jobs/match.py", "import datetime\ndatetime.datetime.now()"),
    (time_and_chance_come_from_jobs, "night/status_commands.py", "import time\ntime.time()"),
    (time_and_chance_come_from_jobs, "answers/browse/app.py", "import uuid\nuuid.uuid4()"),
    (
        time_and_chance_come_from_jobs,
        "kernel/store/lock.py",
        "from datetime import date\ndate.today()",
    ),
    (time_and_chance_come_from_jobs, "kernel/words/money.py", "from time import time\ntime()"),
    (
        time_and_chance_come_from_jobs,
        "intake/rules.py",
        "from datetime import datetime as d\nd.utcnow",
    ),
    (time_and_chance_come_from_jobs, "offers/questions.py", "from uuid import uuid4\nuuid4()"),
    (time_and_chance_come_from_jobs, "keys/questions.py", "import secrets\nsecrets.token_hex()"),
    (time_and_chance_come_from_jobs, "wire/post.py", "import os\nos.urandom(8)"),
    (time_and_chance_come_from_jobs, "wire/post.py", "import random\nrandom.random()"),
    (time_and_chance_come_from_jobs, "files/sample.py", "import random\nrandom.Random()"),
    (time_and_chance_come_from_jobs, "keys/rules.py", "import time\ntime.time()"),
    (domain_touches_nothing_outside, "kernel/words/money.py", "from pathlib import Path"),
    (domain_touches_nothing_outside, "kernel/words/money.py", "import urllib.request"),
    (domain_touches_nothing_outside, "kernel/words/money.py", "open('rates')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run('select a\\nfrom b')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run(f'SELECT {a} FROM b')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run(f'insert into {a} values (1)')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run('Create Temp Table a (b int)')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run('delete from a')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run('update a set b = 1')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run('with a as (select 1) select 2')"),
    (sql_stands_in_sql_files, "kernel/store/store.py", "run('explain select a from b')"),
    (every_package_has_a_sign, "store/__init__.py", ""),
    (every_package_has_a_sign, "store/__init__.py", '"""The store."""'),
    (every_package_has_a_sign, "store/__init__.py", '"""a\nb\nc\nImports x. Read y first.\n"""'),
    (names_say_something, "store/utils.py", ""),
    (names_say_something, "core/money.py", ""),
    (one_module_knows_what_is_beside_a_store, "jobs/engines.py", "f'{job.path}.history'"),
    (one_module_knows_what_is_beside_a_store, "kernel/store/lock.py", "store.name + '.lock'"),
    (one_module_knows_what_is_beside_a_store, "jobs/engines.py", "f'{job.path}.d/archive'"),
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
        "river/commands_match.py",
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
    (imports_go_down, "jobs/match.py", "from cardoffers_cli import __version__\nimport re"),
    (
        the_kernel_knows_no_command,
        "kernel/cli/context.py",
        "from . import show\nfrom .exits import tell",
    ),
    (
        the_kernel_knows_no_command,
        "night/status_commands.py",
        "from cardoffers_cli.answers.commands import why",
    ),
    (imports_go_down, "river/judge.py", "from cardoffers_cli.river.handles import Staged"),
    (imports_go_down, "offers/feed.py", "from cardoffers_cli.kernel.store.binding import Table"),
    (
        use_cases_stand_apart,
        "river/settlements_settle.py",
        "from cardoffers_cli.kernel.store.job import Job",
    ),
    (use_cases_stand_apart, "storage/restore.py", "from .backup import Checksum"),
    (
        use_cases_stand_apart,
        "night/run.py",
        "from cardoffers_cli.river.settlements_settle import settle",
    ),
    (packages_keep_to_their_rooms, "kernel/store/store.py", "import duckdb, json"),
    (packages_keep_to_their_rooms, "river/stage.py", "if TYPE_CHECKING:\n    import polars"),
    (
        private_parts_of_others_are_left_alone,
        "kernel/cli/main.py",
        "import typer\ntyper.core.__name__",
    ),
    (
        private_parts_of_others_are_left_alone,
        "wire/post.py",
        "class A:\n    def __init__(self):\n        self._b = self._c()\n    def _c(self): ...",
    ),
    (
        private_parts_of_others_are_left_alone,
        "wire/post.py",
        "class A:\n    _b: int\n\n\ndef f(a):\n    return a._b",
    ),
    (
        time_and_chance_come_from_jobs,
        "kernel/store/clock.py",
        "import datetime\ndatetime.datetime.now()",
    ),
    (time_and_chance_come_from_jobs, "kernel/store/lock.py", "import time\ntime.monotonic()"),
    (time_and_chance_come_from_jobs, "files/sample.py", "import random\nrandom.Random(7).random()"),
    (time_and_chance_come_from_jobs, "keys/rules.py", "import secrets\nsecrets.token_hex()"),
    (time_and_chance_come_from_jobs, "domain/ids.py", "import uuid\nuuid.uuid5(a, b)"),
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
