"""The settings: flag, environment, file, default, in that order.

One name per setting: `memory_limit` in the TOML file is `CARDOFFERS_MEMORY_LIMIT` in the
environment, which is passed in and never read here. A relative path in the file is meant from the
file's own folder; `url` and `root` of a table `[engine]` are `engine` and `engine_root`, and
`processed` of `[retention]` is `retention_processed_days`. To add a setting, add a field;
`docs/environment.md` lists them for users.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from cardoffers_cli.kernel.words.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cardoffers_cli.kernel.words.pickups import PickupPlace

_PREFIX = "CARDOFFERS_"
_PATHS = (
    *("store", "temp_directory", "webhook_ca_file", "processed_dir", "pyodide", "metrics_file"),
    "approver_key",
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
_HOOK = "a command, as text or as a list of its words, or an https URL"
Hook = str | tuple[str, ...] | None
_SIZE = r"^[1-9][0-9]*(\.[0-9]+)? ?([KMGT]i?B)$"


def _setting(*default: Any, description: str, repr: bool = True, **rules: Any) -> Any:  # noqa: A002
    """Declare a setting: its default, what to write, and what pydantic holds a value against."""
    default_value = {"default": default[0]} if default else {"default_factory": dict}
    return field(**default_value, repr=repr, metadata={"description": description, "rules": rules})


@dataclass(frozen=True)
class Settings:
    """What can be set, with its default; each description says what to write."""

    store: Path = _setting(Path("cardoffers.duckdb"), description="the path of the store")
    actor: str | None = _setting(
        None,
        pattern=r"^[\w.@-]{1,64}$",
        description="the name of who works here, letters, digits and .@-_, where several people"
        " share a user of the system",
    )
    approver_key: Path | None = _setting(
        None, description="the SSH key of who works here, with which requests are signed"
    )
    account_wait_days: int = _setting(
        2,
        ge=0,
        description="days that a changed account is not paid where approvals are on, from 0",
    )
    clock_tolerance_hours: int = _setting(
        24, ge=0, description="hours that --as-of may be ahead, a whole number from 0"
    )
    audit_head_file: Path | None = _setting(
        None, description="a file to which each nightly run appends the head of the security log"
    )
    lock_wait_s: int = _setting(
        60, ge=0, description="seconds to wait for a busy store, a whole number from 0"
    )
    request_wait_s: int = _setting(
        10, ge=1, description="seconds that a request waits for a busy store, a whole number from 1"
    )
    reporting_calls_per_minute: int = _setting(
        60, ge=1, description="reporting calls that a key has in a minute, a whole number from 1"
    )
    serve_connections: int = _setting(
        1000, ge=1, le=100_000, description="connections at once, a whole number from 1"
    )
    serve_connections_per_address: int = _setting(
        100, ge=1, le=100_000, description="of them, those of one address, a whole number from 1"
    )
    serve_trusted_proxies: str = _setting(
        "",
        description="addresses or networks of proxies between commas, such as 10.0.0.5,10.1.0.0/16",
    )
    serve_wrong_keys_per_minute: int = _setting(
        10,
        ge=1,
        description="wrong keys of an address that are answered at once, a whole number from 1",
    )
    memory_limit: str = _setting("1GiB", pattern=_SIZE, description="a size such as 512MiB or 2GiB")
    threads: int = _setting(0, ge=0, description="a whole number; 0 means all cores")
    file_mode: str = _setting(
        "0600",
        pattern=r"^0?[0-7]{3}$",
        description="the mode of reports and of files of rows, in octal, such as 0640",
    )
    temp_directory: Path | None = _setting(
        None, description="a folder for what does not fit into memory; unset: beside the store"
    )
    temp_limit: str | None = _setting(
        None,
        pattern=_SIZE,
        description="the most it may hold, a size such as 20GiB; unset: most of what is free",
    )
    allow_insecure_webhooks: bool = _setting(
        False, description="true or false; true is for development only"
    )
    webhook_deadline_s: int = _setting(
        15, ge=1, le=15, description="seconds that one attempt may take, from 1 to 15"
    )
    webhook_at_once: int = _setting(
        64, ge=1, le=1000, description="attempts at once, from 1 to 1000"
    )
    webhook_at_once_per_institution: int = _setting(
        8, ge=1, le=1000, description="attempts at once for one institution, from 1 to 1000"
    )
    webhook_ca_file: Path | None = _setting(
        None, description="a PEM file of authorities to trust beside the public ones"
    )
    history_keep_days: int = _setting(
        30,
        ge=1,
        description="days that parts of the history stay after they were merged, a whole number "
        "from 1",
    )
    retention_processed_days: int | None = _setting(
        None, ge=1, description="days that imported files are kept, from 1; unset: for ever"
    )
    retention_failed_days: int | None = _setting(
        None,
        ge=1,
        description="days that files that could not be imported are kept, from 1; unset: for ever",
    )
    retention_runs_days: int | None = _setting(
        None,
        ge=1,
        description="days that folders of nightly runs are kept, from 1; unset: for ever",
    )
    retention_aside_days: int | None = _setting(
        None,
        ge=1,
        description="days that files that were put aside are kept, from 1; unset: for ever",
    )
    processed_dir: Path | None = _setting(
        None, description="a folder for the files that nightly runs took; unset: beside the store"
    )
    quiet_s: float = _setting(
        120,
        ge=0,
        allow_inf_nan=False,
        description="seconds that a file without a marker must not have been written to, from 0",
    )
    file_most_bytes: int = _setting(
        16 << 30, ge=1, description="the most that a file may have, a size such as 16GiB"
    )
    file_most_unpacked_bytes: int = _setting(
        64 << 30, ge=1, description="the most it may unpack to, a size such as 64GiB"
    )
    file_most_ratio: int = _setting(
        200, ge=1, description="how many times its size it may unpack to, a whole number from 1"
    )
    file_most_rejects: int = _setting(
        5_000_000, ge=1, description="invalid rows that it may have, a whole number from 1"
    )
    file_most_seconds: float = _setting(
        3600, gt=0, allow_inf_nan=False, description="seconds that it may take, more than 0"
    )
    file_most_per_institution: int = _setting(
        1000, ge=1, description="files of one institution in a nightly run, a whole number from 1"
    )
    engine: str | None = _setting(
        None,
        pattern=r"^(sc://|session$)",
        repr=False,  # it may carry a token
        description="the address of Spark Connect, such as sc://host:15002, or `session`, which is"
        " that of spark-submit; unset: none is used",
    )
    engine_root: str | None = _setting(
        None,
        min_length=1,
        description="how the engine names the place of the history, a path or a URL, if otherwise",
    )

    issuer: str | None = _setting(
        None,
        min_length=1,
        description="who issues invoices: name, address and tax id, as a text of one line or more",
    )
    payer_name: str | None = _setting(
        None, min_length=1, description="who pays institutions, as the bank knows the account"
    )
    payer_account: str | None = _setting(
        None,
        min_length=1,
        repr=False,  # it is shown masked
        description="the account that pays institutions: IBAN/BIC or ROUTING/NUMBER",
    )
    payer_id: str | None = _setting(
        None,
        pattern=r"^[A-Z0-9]{1,10}$",
        description="the company identification that the bank gave for NACHA",
    )
    hooks_on_start: Hook = _setting(None, repr=False, description=_HOOK)
    hooks_on_success: Hook = _setting(None, repr=False, description=_HOOK)
    hooks_on_failure: Hook = _setting(None, repr=False, description=_HOOK)
    hooks_on_findings: Hook = _setting(None, repr=False, description=_HOOK)
    hooks_ping: str | None = _setting(
        None, repr=False, description="the https URL of a check of a ping service"
    )
    hooks_deadline_s: float = _setting(
        60,
        gt=0,
        le=3600,
        allow_inf_nan=False,
        description="seconds that a command may take, more than 0, at most 3600",
    )
    metrics_file: Path | None = _setting(
        None, description="a file for the metrics of nightly runs, whose name ends in .prom"
    )
    metrics_mode: str = _setting(
        "0644",
        pattern=r"^0?[0-7]{3}$",
        description="the mode of the file of metrics, in octal, such as 0640",
    )
    pyodide: Path | None = _setting(
        None,
        description="the npm package of the runtime that `pack build` puts into a page; unset: "
        "beside the store",
    )
    pickup: dict[str, PickupPlace] = _setting(
        description="a table [pickup.INST] for each institution whose files are fetched;"
        " `cardoffers help pickup` has an example",
    )

    @property
    def mode(self) -> int:
        """Who may read the files that are written: `file_mode` as a number."""
        return int(self.file_mode, 8)


_SETTINGS = {setting.name: setting for setting in fields(Settings)}


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
    rules: Any = {
        name: (kinds[name], Field(None, **setting.metadata["rules"]))
        for name, setting in _SETTINGS.items()
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
        hint=f"Write {_SETTINGS[name].metadata['description']}.",
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
