"""The settings: flag, environment, file, default, in that order.

One name per setting: `memory_limit` in the TOML file is `CARDOFFERS_MEMORY_LIMIT` in the
environment, which is passed in and never read here. A relative path in the file is meant from the
file's own folder; `url` and `root` of a table `[engine]` are `engine` and `engine_root`, and
`processed` of `[retention]` is `retention_processed_days`. To add a setting, add a field, and its
table in `settings.toml`; `docs/environment.md` lists them for users.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from cardoffers_cli.kernel.words.errors import ConfigurationError
from cardoffers_cli.kernel.words.moments import zone_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cardoffers_cli.kernel.words.pickups import PickupPlace

_PREFIX = "CARDOFFERS_"
_PATHS = (
    *("store", "temp_directory", "webhook_ca_file", "processed_dir", "pyodide", "metrics_file"),
    *("approver_key", "copies_passphrase_file"),
)
_TABLES = {
    "engine": {"url": "engine", "root": "engine_root"},
    "hooks": {
        name: f"hooks_{name}"
        for name in ("on_start", "on_success", "on_failure", "on_findings", "ping", "deadline_s")
    },
    "metrics": {"file": "metrics_file", "mode": "metrics_mode"},
    "retention": {
        name: f"retention_{name}_days" for name in ("processed", "failed", "runs", "aside")
    },
}
"""Table of the file -> what a setting is called in it, and its own name."""

Hook = str | tuple[str, ...] | None


@dataclass(frozen=True)
class Settings:
    """What can be set, with its default; `settings.toml` says what to write."""

    store: Path = Path("cardoffers.duckdb")
    actor: str | None = None
    approver_key: Path | None = None
    account_wait_days: int = 2
    clock_tolerance_hours: int = 24
    audit_head_file: Path | None = None
    copies: str | None = None
    copies_passphrase: str | None = field(default=None, repr=False)
    copies_passphrase_file: Path | None = None
    copies_keep: str = "14d 6w"
    copies_max_age: str = "36h"
    lock_wait_s: int = 60
    request_wait_s: int = 10
    reporting_calls_per_minute: int = 60
    serve_connections: int = 1000
    serve_connections_per_address: int = 100
    serve_trusted_proxies: str = ""
    serve_wrong_keys_per_minute: int = 10
    memory_limit: str = "1GiB"
    threads: int = 0
    file_mode: str = "0600"
    temp_directory: Path | None = None
    temp_limit: str | None = None
    allow_insecure_webhooks: bool = False
    webhook_deadline_s: int = 15
    webhook_at_once: int = 64
    webhook_at_once_per_institution: int = 8
    webhook_ca_file: Path | None = None
    history_keep_days: int = 30
    retention_processed_days: int | None = None
    retention_failed_days: int | None = None
    retention_runs_days: int | None = None
    retention_aside_days: int | None = None
    processed_dir: Path | None = None
    quiet_s: float = 120
    file_most_bytes: int = 16 << 30
    file_most_unpacked_bytes: int = 64 << 30
    file_most_ratio: int = 200
    file_most_rejects: int = 5_000_000
    file_most_seconds: float = 3600
    file_most_per_institution: int = 1000
    engine: str | None = field(default=None, repr=False)  # it may carry a token
    engine_root: str | None = None
    time_zone: str | None = None
    issuer: str | None = None
    issuer_address: str | None = None
    issuer_tax_id: str | None = None
    payer_name: str | None = None
    payer_account: str | None = field(default=None, repr=False)  # it is shown masked
    payer_id: str | None = None
    hooks_on_start: Hook = field(default=None, repr=False)
    hooks_on_success: Hook = field(default=None, repr=False)
    hooks_on_failure: Hook = field(default=None, repr=False)
    hooks_on_findings: Hook = field(default=None, repr=False)
    hooks_ping: str | None = field(default=None, repr=False)
    hooks_deadline_s: float = 60
    metrics_file: Path | None = None
    metrics_mode: str = "0644"
    pyodide: Path | None = None
    pickup: dict[str, PickupPlace] = field(default_factory=dict)

    @property
    def mode(self) -> int:
        """Who may read the files that are written: `file_mode` as a number."""
        return int(self.file_mode, 8)


_SETTINGS = [setting.name for setting in fields(Settings)]


@cache
def _described() -> Mapping[str, Any]:
    """Return what `settings.toml` says of each setting."""
    return tomllib.loads(Path(__file__).with_name("settings.toml").read_text("utf-8"))


def read_settings(
    flags: Mapping[str, Any], environment: Mapping[str, str], config: Path | None = None
) -> Settings:
    """Gather the settings; flags that are None were not given.

    `config` is the file of the flag `--config`, else CARDOFFERS_CONFIG names one, else there is
    none. Raises `ConfigurationError`, which names the setting, where it stands and what to write.
    """
    named = config or (Path(text) if (text := environment.get(f"{_PREFIX}CONFIG")) else None)
    from_file = _read_file(named) if named else {}
    from_environment = {
        name: text for name in _SETTINGS if (text := environment.get(_variable(name), "")) != ""
    }
    from_flags = {name: value for name, value in flags.items() if value is not None}
    values: Mapping[str, Any] = {**from_file, **from_environment, **from_flags}
    if not from_file and values.keys() <= {"store"}:  # a path is right, and pydantic slow to load
        return Settings(Path(values["store"])) if values else Settings()
    return _checked(values, lambda name: _place(name, from_flags, from_environment, named))


def _checked(values: Mapping[str, Any], place_of: Callable[[str], str]) -> Settings:
    """Hold values against the types and rules of their settings."""
    from pydantic import ValidationError

    try:
        checked = _model().model_validate(values)
    except ValidationError as error:
        # What nobody knows comes first: it is often what is missing, in another spelling.
        first = min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
        where = [str(part) for part in first["loc"]]
        place = place_of(where[0])
        is_place = where[0] == "pickup" and where[1:]
        raise (_wrong_place(where, place) if is_place else _wrong(where[0], place)) from None
    return Settings(**{name: getattr(checked, name) for name in values})


@cache
def _model() -> Any:
    from pydantic import AfterValidator, ByteSize, ConfigDict, Field, create_model

    from cardoffers_cli.kernel.words.pickups import PickupPlace

    kinds = get_type_hints(Settings, localns={"PickupPlace": PickupPlace})
    kinds |= dict.fromkeys(("file_most_bytes", "file_most_unpacked_bytes"), ByteSize)
    kinds["serve_trusted_proxies"] = Annotated[str, AfterValidator(_check_networks)]
    kinds["time_zone"] = Annotated[str, AfterValidator(zone_name)]
    rules: Any = {
        name: (kinds[name], Field(None, **{key: of[key] for key in of if key != "says"}))
        for name in _SETTINGS
        for of in [_described()[name]]
    }
    return create_model("Given", __config__=ConfigDict(extra="forbid"), **rules)


def _check_networks(text: str) -> str:
    for part in filter(None, map(str.strip, text.split(","))):
        ip_network(part)
    return text


def _variable(name: str) -> str:
    return _PREFIX + name.upper()


def _read_file(path: Path) -> Mapping[str, Any]:
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigurationError(
            f"The configuration {path} cannot be read: {error.strerror}.",
            code="configuration_unreadable",
            hint="Name another file with --config, or unset CARDOFFERS_CONFIG.",
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"The configuration {path} is not TOML: {error}.",
            code="configuration_syntax",
            hint='Write one setting a line, for example: memory_limit = "2GiB"',
        ) from None
    # The settings may stand in a table.
    tables = {name: values[name] for name in _TABLES if isinstance(values.get(name), dict)}
    inside = {
        _TABLES[table].get(name, f"{table}.{name}"): value
        for table, members in tables.items()
        for name, value in members.items()
    }
    flat = {
        **({name: value for name, value in values.items() if name not in tables} | inside),
        **_places(values, path.parent),
    }
    paths = {name: path.parent / flat[name] for name in _PATHS if isinstance(flat.get(name), str)}
    return {**flat, **paths}


def _places(values: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Return the tables of places to fetch from, their paths meant from a folder."""
    places = values.get("pickup")
    if not isinstance(places, dict):
        return {}
    from cardoffers_cli.kernel.words.pickups import PATHS as PICKUP_PATHS

    return {
        "pickup": {
            name: {
                **place,
                **{
                    key: str(folder / place[key])
                    for key in PICKUP_PATHS
                    if isinstance(place.get(key), str)
                },
            }
            if isinstance(place, dict)
            else place
            for name, place in places.items()
        }
    }


def _place(
    name: str, flags: Mapping[str, Any], environment: Mapping[str, Any], config: Path | None
) -> str:
    if name in flags:
        return "on the command line"
    return f"in {_variable(name)}" if name in environment else f"in {config}"


def _wrong(name: str, place: str) -> ConfigurationError:
    if name not in _SETTINGS:
        return ConfigurationError(
            f"There is no setting {name!r} (it stands {place}).",
            code="setting_unknown",
            hint=f"The settings are: {', '.join(_SETTINGS)}.",
            setting=name,
        )
    return ConfigurationError(
        f"The setting {name} {place} is not valid.",
        code="setting_invalid",
        hint=f"Write {_described()[name]['says']}.",
        setting=name,
    )


def _wrong_place(where: Sequence[str], place: str) -> ConfigurationError:
    """Say which setting of a table `[pickup.INST]` is wrong: of the whole table, what it needs."""
    from cardoffers_cli.kernel.words.pickups import PickupPlace

    by_name = {member.alias or name: member for name, member in PickupPlace.model_fields.items()}
    table, setting = f"[{'.'.join(where[:2])}]", where[2] if where[2:] else None
    if setting is not None and setting not in by_name:
        return ConfigurationError(
            f"There is no setting {setting!r} in {table} (it stands {place}).",
            code="setting_unknown",
            hint=f"The settings there are: {', '.join(by_name)}.",
            setting=".".join(where),
        )
    needed = "from, and for sftp:// host_key and key_file; with decrypt_with or signed_by gpg_home"
    hint = f"Write {by_name[setting].description if setting else needed}."
    subject = f"The setting {setting} of {table}" if setting else f"The table {table}"
    return ConfigurationError(
        f"{subject} {place} is not valid.",
        code="setting_invalid",
        hint=hint,
        setting=".".join(where),
    )
