"""Settings: flag, environment, file, default; and what is said when one is wrong."""

import tomllib
from dataclasses import asdict, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from cardoffers_cli.kernel.store.settings import Settings, read_settings
from cardoffers_cli.kernel.words.errors import ConfigurationError

PICKUP = "[pickup.alder]\n"
SFTP = 'from = "sftp://ann@host/in"\n'
SECRET = f'{PICKUP}from = "s3://bucket/in"\npassword = "x"'
SIGNED = f'from = "s3://bucket/in"\nsigned_by = "{"A" * 40}"'


@pytest.fixture
def config(tmp_path: Path) -> Any:
    """Write a configuration file."""

    def write(text: str) -> Path:
        path = tmp_path / "cardoffers.toml"
        path.write_text(text)
        return path

    return write


def test_the_defaults() -> None:
    assert Settings() == read_settings({}, {})
    assert {
        "store": Path("cardoffers.duckdb"),
        "actor": None,
        "clock_tolerance_hours": 24,
        "audit_head_file": None,
        "lock_wait_s": 60,
        "request_wait_s": 10,
        "reporting_calls_per_minute": 60,
        "serve_connections": 1000,
        "serve_connections_per_address": 100,
        "serve_trusted_proxies": "",
        "serve_wrong_keys_per_minute": 10,
        "memory_limit": "1GiB",
        "threads": 0,
        "file_mode": "0600",
        "temp_directory": None,
        "temp_limit": None,
        "allow_insecure_webhooks": False,
        "webhook_deadline_s": 15,
        "webhook_at_once": 64,
        "webhook_at_once_per_institution": 8,
        "webhook_ca_file": None,
        "history_keep_days": 30,
        "retention_processed_days": None,
        "retention_failed_days": None,
        "retention_runs_days": None,
        "retention_aside_days": None,
        "processed_dir": None,
        "quiet_s": 120,
        "file_most_bytes": 16 << 30,
        "file_most_unpacked_bytes": 64 << 30,
        "file_most_ratio": 200,
        "file_most_rejects": 5_000_000,
        "file_most_seconds": 3600,
        "file_most_per_institution": 1000,
        "engine": None,
        "engine_root": None,
        "issuer": None,
        "time_zone": None,
        "issuer_address": None,
        "issuer_tax_id": None,
        "payer_name": None,
        "payer_account": None,
        "approver_key": None,
        "account_wait_days": 2,
        "copies": None,
        "copies_passphrase": None,
        "copies_passphrase_file": None,
        "copies_keep": "14d 6w",
        "copies_max_age": "36h",
        "payer_id": None,
        "hooks_on_start": None,
        "hooks_on_success": None,
        "hooks_on_failure": None,
        "hooks_on_findings": None,
        "hooks_ping": None,
        "hooks_deadline_s": 60,
        "metrics_file": None,
        "metrics_mode": "0644",
        "pyodide": None,
        "pickup": {},
    } == asdict(read_settings({}, {}))


@pytest.mark.parametrize(
    ("lock_wait_s", "flags", "environment", "text"),
    [
        (60, {}, {}, ""),
        (1, {}, {}, "lock_wait_s = 1"),
        (2, {}, {"CARDOFFERS_LOCK_WAIT_S": "2"}, "lock_wait_s = 1"),
        (3, {"lock_wait_s": 3}, {"CARDOFFERS_LOCK_WAIT_S": "2"}, "lock_wait_s = 1"),
        (0, {"lock_wait_s": 0}, {"CARDOFFERS_LOCK_WAIT_S": "2"}, "lock_wait_s = 1"),
        (1, {"lock_wait_s": None}, {"CARDOFFERS_LOCK_WAIT_S": ""}, "lock_wait_s = 1"),
    ],
)
def test_the_nearest_place_wins(
    config: Any, lock_wait_s: int, flags: dict[str, Any], environment: dict[str, str], text: str
) -> None:
    assert lock_wait_s == read_settings(flags, environment, config(text)).lock_wait_s


def test_every_setting_says_what_to_write_and_nothing_else_does() -> None:
    described = files("cardoffers_cli.kernel.store").joinpath("settings.toml").read_text()
    assert {each.name for each in fields(Settings)} == set(tomllib.loads(described))
    assert all(table["says"] for table in tomllib.loads(described).values())


def test_the_environment_names_the_file(config: Any) -> None:
    named = {"CARDOFFERS_CONFIG": str(config("threads = 2"))}
    assert 2 == read_settings({}, named).threads


def test_a_relative_path_in_the_file_is_meant_from_its_folder(config: Any, tmp_path: Path) -> None:
    path = config('store = "data/prod.duckdb"\ntemp_directory = "/scratch"')
    settings = read_settings({}, {}, path)
    assert (tmp_path / "data/prod.duckdb", Path("/scratch")) == (
        settings.store,
        settings.temp_directory,
    )


@pytest.mark.parametrize(
    "text",
    [
        'engine = "sc://spark:15002"\nengine_root = "s3://bucket/history"',
        '[engine]\nurl = "sc://spark:15002"\nroot = "s3://bucket/history"',
    ],
    ids=["flat", "table"],
)
def test_an_engine_may_have_a_table_of_its_own(config: Any, text: str) -> None:
    settings = read_settings({}, {}, config(text))
    assert ("sc://spark:15002", "s3://bucket/history") == (settings.engine, settings.engine_root)


@pytest.mark.parametrize(
    "text",
    [
        'hooks_on_start = ["echo", "a b"]\nhooks_on_failure = "echo c"',
        '[hooks]\non_start = ["echo", "a b"]\non_failure = "echo c"',
    ],
    ids=["flat", "table"],
)
def test_hooks_may_have_a_table_of_their_own(config: Any, text: str) -> None:
    settings = read_settings({}, {}, config(text))
    assert (("echo", "a b"), "echo c") == (settings.hooks_on_start, settings.hooks_on_failure)


def test_the_address_of_an_engine_is_not_shown() -> None:
    settings = read_settings({}, {"CARDOFFERS_ENGINE": "sc://spark:15002/;token=secret"})
    assert "secret" not in repr(settings)


@pytest.mark.parametrize("text", ["1", "true", "yes"])
def test_insecure_webhooks_are_allowed_by_the_environment(text: str) -> None:
    allowed = {"CARDOFFERS_ALLOW_INSECURE_WEBHOOKS": text}
    assert read_settings({}, allowed).allow_insecure_webhooks


@pytest.mark.parametrize(
    ("code", "message", "hint", "text"),
    [
        ("setting_unknown", "no setting 'treads'", "threads", "treads = 2"),
        ("setting_unknown", "no setting 'engine.threads'", "threads", "[engine]\nthreads = 2"),
        ("setting_unknown", "no setting 'more'", "threads", "[more]\nthreads = 2"),
        ("setting_unknown", "no setting 'hooks.on_end'", "hooks_on_start", "[hooks]\non_end = 'x'"),
        ("setting_invalid", "hooks_on_start in", "a command", "[hooks]\non_start = 7"),
        ("setting_invalid", "hooks_on_start in", "a command", "[hooks.on_start]\na = 'x'"),
        ("setting_invalid", "engine in", "sc://host", 'engine = "spark:15002"'),
        ("setting_invalid", "memory_limit in", "512MiB", 'memory_limit = "lots"'),
        ("setting_invalid", "memory_limit in", "512MiB", "memory_limit = 512"),
        ("setting_invalid", "threads in", "0 means all cores", "threads = -1"),
        ("setting_invalid", "lock_wait_s in", "seconds", 'lock_wait_s = "soon"'),
        ("setting_invalid", "serve_trusted_proxies", "10.0.0.5", 'serve_trusted_proxies = "proxy"'),
        ("setting_invalid", "serve_connections in", "from 1", "serve_connections = 0"),
        ("setting_invalid", "pickup in", "[pickup.INST]", "pickup = 1"),
        ("setting_invalid", "table [pickup.alder]", "host_key", f"{PICKUP}{SFTP}"),
        ("setting_invalid", "from of [pickup.alder]", "sftp://", PICKUP + 'from = "ftp://host/"'),
        ("setting_invalid", "table [pickup.alder]", "gpg_home", PICKUP + SIGNED),
        ("setting_unknown", "'password' in [pickup.alder]", "after", SECRET),
        ("configuration_syntax", "is not TOML", "memory_limit", "threads: 2"),
    ],
)
def test_a_wrong_file_is_named_with_what_to_write(
    config: Any, code: str, message: str, hint: str, text: str
) -> None:
    path = config(text)
    with pytest.raises(ConfigurationError) as refused:
        read_settings({}, {}, path)
    error = refused.value
    assert code == error.code
    assert message in error.message
    assert str(path) in error.message
    assert hint in str(error.hint)


def test_a_wrong_variable_is_named() -> None:
    with pytest.raises(ConfigurationError, match="threads in CARDOFFERS_THREADS is not valid"):
        read_settings({}, {"CARDOFFERS_THREADS": "many"})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        read_settings({}, {}, tmp_path / "none.toml")


PLACE = f"""{PICKUP}{SFTP}host_key = "ssh-ed25519 {"A" * 68}"\nkey_file = "keys/alder"\n"""


def test_paths_of_a_place_are_meant_from_the_folder_of_the_file(
    config: Any, tmp_path: Path
) -> None:
    place = read_settings({}, {}, config(PLACE)).pickup["alder"]
    assert str(tmp_path / "keys/alder") == place.key_file
    assert ("sftp://host/in", "/in", "keep") == (place.shown, place.sftp_folder, place.after)


@pytest.mark.parametrize(
    "url",
    [
        "sftp://ann:secret@host/in",
        "sftp://-oProxyCommand=x@host/in",
        "sftp://ann@-oProxyCommand=x/in",
        "sftp://ann@ho st/in",
        "sftp://host/in",
        "sftp://ann@host:no/in",
        "sftp://ann@host/in?x",
        "sftp://ann@host/%0ain",
        "s3://key:secret@bucket/in",
        "https://host/in",
        "/in",
    ],
)
def test_a_url_that_is_no_place_is_refused_and_not_repeated(config: Any, url: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_settings({}, {}, config(PLACE.replace("sftp://ann@host/in", url)))
    assert "secret" not in f"{refused.value.message} {refused.value.hint}"


def test_the_example_in_the_help_is_valid(config: Any) -> None:
    page = files("cardoffers_cli").joinpath("docs", "environment.md").read_text("utf-8")
    example = page.partition("```toml\n")[2].partition("```")[0]
    assert read_settings({}, {}, config(example)) != Settings()
    uncommented = tomllib.loads(example.replace("# allow", "allow"))
    assert {each.name for each in fields(Settings)} == set(uncommented)
