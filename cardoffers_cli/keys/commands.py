"""`cardoffers key`: the keys that institutions call the HTTP contract with."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli import completing, options
from cardoffers_cli.kernel.cli.commands import group, moment
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import argument, option, typed
from cardoffers_cli.kernel.cli.show import Sheet
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.kernel.words.moments import format_minute, parse_duration
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from cardoffers_cli.keys.work import NewApiKey

app = group("Make, list, rotate, revoke and check API keys.")


def expiry(value: str | None) -> datetime | Literal["never"] | None:
    """Read when a key is to end: a day, a moment, or never."""
    return "never" if value == "never" else moment(value)


def overlap_of(value: str | None) -> timedelta | None:
    """Read how long the old key of a rotation still works."""
    try:
        return parse_duration(value) if value else None
    except ValueError:
        raise typer.BadParameter(f"{value!r} is no length of time; write 7d, 12h or 30m") from None


KeyId = Annotated[
    str,
    argument(
        "KEY_ID",
        "The key: its id, the beginning of that, or latest.",
        autocompletion=completing.keys,
    ),
]
Expires = Annotated[
    str | None,
    option("When the key ends [as usual: after a year].", metavar="DATE|never", callback=expiry),
]
KeyFile = Annotated[
    Path | None, option("Write the key to a new file of yours, and show it not.", metavar="FILE")
]


@app.command()
def create(
    ctx: typer.Context,
    *,
    institution: options.Institution,
    name: Annotated[str, option("What uses the key.")],
    scopes: Annotated[str, option("Of offers, reporting, transactions.", metavar="A,B")],
    expires: Expires = None,
    key_file: KeyFile = None,
    dry_run: options.DryRun = False,
) -> None:
    """Make a key. It is shown this once, and kept nowhere: not here, not in the store."""
    from cardoffers_cli.keys.work import KeyRequest, create_key

    context = CommandContext.of(ctx)
    context.writes({"--key-file": key_file})
    wanted: Mapping[str, Any] = {
        "institution": institution,
        "name": name,
        "scopes": tuple(part.strip() for part in scopes.split(",") if part.strip()),
        "expires": expires,
    }
    request = KeyRequest(**wanted)
    _hand_over(context, create_key(request, context.job, key_file=key_file, dry_run=dry_run))


@app.command("list")
def list_(ctx: typer.Context, *, institution: options.AnyInstitution = None) -> None:
    """List keys: what they may do, until when, when they were last used; never the keys."""
    from cardoffers_cli.keys.work import ApiKeyRow, list_keys

    context = CommandContext.of(ctx)
    keys = list_keys(context.job, institution)
    context.show(keys, Sheet.of(ApiKeyRow, "keys", [_row(key) for key in keys]))


@app.command("show")
def show_(ctx: typer.Context, key_id: KeyId) -> None:
    """Show one key; never the key itself."""
    from cardoffers_cli.keys.work import show_key

    context = CommandContext.of(ctx)
    key = show_key(key_id, context.job)
    context.show(key, _fields(key))


@app.command()
def rotate(
    ctx: typer.Context,
    key_id: KeyId,
    *,
    overlap: Annotated[
        str | None,
        option(
            "How long the old key still works [until it is revoked].",
            metavar="7d",
            callback=overlap_of,
        ),
    ] = None,
    expires: Expires = None,
    key_file: KeyFile = None,
    dry_run: options.DryRun = False,
) -> None:
    """Make a key's successor, of the same scopes; both work until the old one ends."""
    from cardoffers_cli.keys.work import rotate_key

    context = CommandContext.of(ctx)
    context.writes({"--key-file": key_file})
    chosen: Mapping[str, Any] = {"overlap": overlap, "expires": expires, "key_file": key_file}
    key = rotate_key(key_id, context.job, **chosen, dry_run=dry_run)
    _hand_over(context, key)
    ends_at = key.old_key_ends_at
    until = f"until {format_minute(ends_at)}, or until" if ends_at else "until"
    revoke_it = f"cardoffers key revoke {key.replaces}"
    context.note(f"The old key works {until} it is revoked: `{revoke_it}`.")


@app.command()
def revoke(
    ctx: typer.Context, key_id: KeyId, *, yes: options.Yes = False, dry_run: options.DryRun = False
) -> None:
    """Revoke a key at once. This is final."""
    from cardoffers_cli.keys.work import revoke_key

    context = CommandContext.of(ctx)
    ended = revoke_key(key_id, context.job, dry_run=True)
    if not dry_run:
        which = f"{ended.name} ({ended.key_masked}) of {ended.institution}"
        context.confirm(f"Revoke the key {which}? Calls with it fail from now on.", yes=yes)
        ended = revoke_key(str(ended.key_id), context.job)
    context.show(ended, _fields(ended))


@app.command()
def check(ctx: typer.Context) -> None:
    """Tell what a key may do and until when; the key comes from standard input."""
    from cardoffers_cli.keys.work import check_key

    context = CommandContext.of(ctx)
    key = check_key(next(typed("-")).strip(), context.job)
    context.show(key, _fields(key))


@app.command()
def notices(ctx: typer.Context, *, dry_run: options.DryRun = False) -> None:
    """Tell institutions of keys that end soon: 14 days before, 3 days before, on the day."""
    from cardoffers_cli.keys.notices import KeyNotice, give_notices

    context = CommandContext.of(ctx)
    result = give_notices(context.job, dry_run=dry_run)
    if not result.notices:
        context.note("No notice is owed.")
    context.show(result, Sheet.of(KeyNotice, "notices", result.notices))


def _hand_over(context: CommandContext, key: "NewApiKey") -> None:
    """Show a new key, the only time; a file that it goes to is for its owner only.

    It is in the store by now: where that file cannot be written, the key is still shown.
    """
    if key.key is not None:
        context.note("Keep the key safe: it is shown this once.")
    elif key.key_file is not None:
        context.note(f"Wrote the key to {key.key_file}")
    try:
        context.show(key, _fields(key), private=True)
    except (OSError, CardoffersError):
        if key.key is not None and context.output is not None:
            context.note(f"The key {key.key_id} was made, but {context.output} was not written.")
            context.say(key.key)
        raise


def _row(key: Record) -> Mapping[str, Any]:
    legacy = " (legacy)" if key.get("is_legacy") else ""
    return {**key, "scopes": "|".join(key["scopes"]) + legacy}


def _fields(key: Record) -> Sheet:
    return Sheet.of_fields("key", _row(key))
