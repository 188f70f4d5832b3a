"""`cardoffers certify`: what files of an institution have shown, sealed, and checked again."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.cli.kernel import show
from cardoffers_cli.cli.kernel.commands import Format
from cardoffers_cli.cli.kernel.desk import Desk
from cardoffers_cli.cli.kernel.options import (
    Currency,
    Delimiter,
    LayoutProfile,
    NoProfile,
    Timezone,
    argument,
    checked_as,
    institution_option,
    layout_for,
    option,
)
from cardoffers_cli.domain.errors import NotFound, UsageError

if TYPE_CHECKING:
    from cardoffers_cli.domain.certificates import Certificate

NOT_REACHED = 3
CHECKED = show.read_columns("certificate.again")


def certify(
    ctx: typer.Context,
    sources: Annotated[list[str], argument("FILE...", "Files, in the order of their sending.")],
    *,
    level: Annotated[
        Literal["format", "content", "life-cycle"], option("The level that is asked for.")
    ] = "format",
    check: Annotated[
        Path | None, option("Hold this certificate against the files.", metavar="PAGE")
    ] = None,
    institution: Annotated[
        str | None,
        institution_option(help="Whose files: with the catalogue and the secret of a store."),
    ] = None,
    key_file: Annotated[
        Path | None, option("A private file with the key that signs.", metavar="FILE")
    ] = None,
    currency: Currency = None,
    delimiter: Delimiter = ",",
    profile: LayoutProfile = None,
    no_profile: NoProfile = False,
    assume_timezone: Timezone = None,
) -> None:
    """Certify what files have shown, level by level, on a page that can be checked again."""
    from cardoffers_cli.jobs.river import certify as job

    desk = Desk.of(ctx)
    _refuse_streams(sources)
    desk.writes(
        {}, reads=[*sources, *([check] if check else []), *([key_file] if key_file else [])]
    )
    owner = job.owner_of(desk.job, institution) if institution else None
    key = job.read_key(key_file) if key_file else owner.key if owner else None
    currency = currency or (owner.currency if owner else None)
    reading = checked_as(desk.now, currency, delimiter, profile, zone=assume_timezone)
    if institution:
        is_other = no_profile or delimiter != ","
        layout = layout_for(desk, institution, reading.profile, is_other=is_other)
        reading = replace(reading, profile=layout)

    def told(source: str) -> None:
        desk.note(f"Reading {source}")

    if check:
        found = job.check(_read(check), str(check), sources, reading, desk.job, key=key, told=told)
        told_again = show.Sheet("checks", CHECKED, found.checks)
        desk.show(found, told_again, exit_code=0 if found.ok else NOT_REACHED)
        return
    made = job.certify(sources, reading, desk.job, owner=owner, key=key, told=told)
    _show(desk, made, level.replace("-", " "))


def _show(desk: Desk, made: "Certificate", wanted: str) -> None:
    """Show a certificate; as a page and as JSON it has nothing beside it, as both are checked."""
    from cardoffers_cli.domain.certificates import reaches
    from cardoffers_cli.domain.json_text import dumps
    from cardoffers_cli.files.html import certificate as page

    exit_code = 0 if reaches(made.level, wanted) else NOT_REACHED
    if desk.format in {Format.html, Format.json}:
        is_page = desk.format is Format.html
        content = page.page_bytes(made) if is_page else f"{dumps(made, indent=2)}\n".encode()
        desk.write(content, exit_code=exit_code)
        return
    blocks: list[Any] = [
        show.Sheet("checks", page.CHECKS, made.checks, title="Checks"),
        show.Sheet("files", page.FILES, made.files, title="Files"),
        show.Text([page.headline(made), page.seal_told(made)]),
    ]
    desk.show(made, *blocks, exit_code=exit_code)


def _refuse_streams(sources: list[str]) -> None:
    """Refuse standard input, which cannot be read again when the certificate is checked."""
    if "-" in sources:
        raise UsageError("Standard input cannot be certified.", hint="Name files.")


def _read(page: Path) -> bytes:
    try:
        return page.read_bytes()
    except OSError as error:
        raise NotFound(
            f"The certificate {page} cannot be read: {error.strerror}.",
            code="file_missing",
            hint="`cardoffers certify FILE… -o certificate.html` writes one.",
        ) from None
