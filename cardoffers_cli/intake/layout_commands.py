"""`cardoffers profile`: files in an institution's own layout."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from cardoffers_cli.kernel.cli import options, show
from cardoffers_cli.kernel.cli.commands import group, own_output
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import argument, checked_as, currency_decimals, option, zone
from cardoffers_cli.kernel.words.counting import counted
from cardoffers_cli.kernel.words.errors import UsageError

app = group("Say how an institution's own files are laid out, and read them so.")


Profiled = Annotated[Path, argument("PROFILE", "A layout profile, TOML.")]


@app.command()
def new(
    ctx: typer.Context,
    sample: Annotated[str, argument("SAMPLE", "A file as it is exported; - is stdin.")],
    *,
    sheet: options.SheetName = None,
    time_zone: Annotated[
        str | None,
        option(
            "The zone of its times, if they name none.", "--zone", metavar="ZONE", callback=zone
        ),
    ] = None,
    dry_run: options.DryRun = False,
) -> None:
    """Guess the layout of a file, and write a profile of it to be read and fixed."""
    from cardoffers_cli.intake.layouts import GuessedColumn, guessed, new_profile

    output = own_output(ctx)
    context = CommandContext.of(ctx)
    guess = guessed(sample, sheet)
    if time_zone is None and guess.lacks_zone:
        answer = context.answer(
            "In which time zone are its times? Such as Europe/London; empty: none"
        )
        time_zone = zone(answer or None)
    if output is None:
        made = new_profile(guess, sample, zone=time_zone)
        context.say(made.toml)
        context.note(f"{made.layout}.")
        return
    context.writes({"-o": output}, reads=[sample])
    made = new_profile(guess, sample, zone=time_zone, to=output)
    if not dry_run:
        show.write(made.toml.encode(), output, mode=context.settings.mode)
    document = {**made, "dry_run": dry_run}
    context.show(
        document,
        show.Sheet.of(GuessedColumn, "fields", made.fields_),
        show.Text([f"{made.layout}."]),
    )
    context.note(f"Next: `cardoffers profile check {output} {sample}`.")


@app.command()
def check(
    ctx: typer.Context,
    profile: Profiled,
    source: Annotated[str, argument("FILE", "A file in its layout; - is stdin.")],
    *,
    currency: options.Currency = None,
    assume_timezone: options.Timezone = None,
) -> None:
    """Show what each column of a file becomes by a profile; texts are masked."""
    from cardoffers_cli.intake.layouts import CheckedField, check_profile
    from cardoffers_cli.intake.profiles.loading import read_profile

    context = CommandContext.of(ctx)
    reading = checked_as(context.now, currency, ",", None, zone=assume_timezone)
    layout = read_profile(profile)
    found = check_profile(source, layout, reading, named=str(profile))
    names = [each.field for each in found.fields_]
    columns = [show.Column("line", kind="integer"), *(show.Column(name) for name in names)]
    wrong = [each.field for each in found.fields_ if each.unreadable]
    if not wrong:
        context.note(f"Next: {_next(source, profile, makes_tokens=layout.makes_tokens)}.")
    context.show(
        found,
        show.Sheet.of(CheckedField, "fields", found.fields_, title="Fields"),
        show.Sheet("rows", tuple(columns), found.items_, title="First rows"),
        exit_code=3 if wrong else 0,
        why=f"The profile cannot read {', '.join(wrong)} in every row." if wrong else "",
    )


def _next(source: str, profile: Path, *, makes_tokens: bool) -> str:
    """Return the command that comes after a profile that reads a file."""
    file, by = ("FILE" if source == "-" else quote(source)), quote(str(profile))
    if makes_tokens:
        return f"`cardoffers profile convert {file} --profile {by} -o canonical.csv`"
    return f"`cardoffers validate {file} --profile {by}`"


@app.command("show")
def show_(
    ctx: typer.Context,
    profile: Annotated[str, argument("PROFILE", "A profile, or the institution that keeps one.")],
) -> None:
    """Show a profile in one line; wrong ones are refused, with the place."""
    from cardoffers_cli.intake.layout_model import parse_profile
    from cardoffers_cli.intake.layouts import kept_toml, shown_profile
    from cardoffers_cli.intake.profiles.loading import read_profile

    context = CommandContext.of(ctx)
    if Path(profile).suffix or Path(profile).exists():
        layout = read_profile(Path(profile))
    else:
        layout = parse_profile(kept_toml(context.job, profile), profile)
    found = shown_profile(layout, profile)
    fields = {**found, "fields": " ".join(found.fields_)}
    context.show(found, show.Sheet.of_fields("profile", fields))


@app.command("list")
def list_(
    ctx: typer.Context,
    folder: Annotated[
        Path | None, argument("[DIR]", "A folder of profiles [those that institutions keep].")
    ] = None,
) -> None:
    """List the profiles that institutions keep, or those of a folder."""
    from cardoffers_cli.intake.layouts import ProfileRow, kept_profiles, profiles_in

    context = CommandContext.of(ctx)
    found = kept_profiles(context.job) if folder is None else profiles_in(folder)
    rows = [{**each, "fields": " ".join(each.fields_)} for each in found]
    context.show(found, show.Sheet.of(ProfileRow, "profiles", rows))


@app.command()
def sample(
    ctx: typer.Context,
    profile: Profiled,
    *,
    rows: Annotated[int, option("Rows.", min=1)] = 1000,
    seed: Annotated[int, option("Same seed and profile, same bytes.", min=0)] = 1,
    currency: options.Currency = None,
    dry_run: options.DryRun = False,
) -> None:
    """Write sample data in the layout of a profile, to the file that -o names."""
    from cardoffers_cli.intake.profiles.loading import read_profile
    from cardoffers_cli.sample.plan import Plan
    from cardoffers_cli.sample.work import sample_profile

    output = own_output(ctx)
    if output is None:
        raise UsageError("-o sample.csv is missing.", hint="Name the file to write.")
    context = CommandContext.of(ctx)
    context.writes({"-o": output}, reads=[profile])
    made = sample_profile(
        read_profile(profile),
        Plan(rows=rows, seed=seed, institutions=1, links=0),
        output,
        named=str(profile),
        decimals=currency_decimals(currency),
        dry_run=dry_run,
    )
    context.show(made)


@app.command()
def convert(
    ctx: typer.Context,
    source: Annotated[str, argument("FILE", "A file in the profile's layout; - is stdin.")],
    *,
    profile: options.LayoutProfile,
    currency: options.Currency = None,
    assume_timezone: options.Timezone = None,
    allow_unterminated: options.AllowUnterminated = False,
    errors: options.Errors = None,
    rejected: options.Rejected = None,
    raw_rejected: options.RawRejected = False,
    refunds: Annotated[
        Path | None, option("Write its refunds too, as a file of refunds (.csv).", metavar="FILE")
    ] = None,
) -> None:
    """Write the good rows of a file in our own layout, to the file that -o names."""
    from cardoffers_cli.intake.profiles.loading import read_profile, read_token_key
    from cardoffers_cli.intake.report_commands import show_files
    from cardoffers_cli.river.convert import convert as run
    from cardoffers_cli.river.receiving import Outputs

    output = own_output(ctx)
    if output is None or profile is None:
        missing = "-o canonical.csv" if profile else "--profile P.toml"
        raise UsageError(f"{missing} is missing.", hint="Add it: see the example in --help.")
    context = CommandContext.of(ctx)
    written = {"-o": output, "--errors": errors, "--rejected": rejected, "--refunds": refunds}
    context.writes(written, reads=[source, profile])
    layout = read_profile(profile)
    if refunds and layout.negatives != "refund":
        raise UsageError(
            "The profile does not say that negative amounts are refunds.",
            hint=f'Add `negatives = "refund"` to {profile}, above its first table.',
        )
    reading = checked_as(
        *(context.now, currency, ",", None),
        zone=assume_timezone,
        allow_unterminated=allow_unterminated,
        token_key=read_token_key(layout, profile),
    )
    outputs = Outputs(errors=errors, rejected=rejected, raw=raw_rejected)
    with context.progress(f"Converting {source}") as bar:
        report = run(
            source,
            layout,
            reading,
            context.job,
            to=output,
            refunds_to=refunds,
            outputs=outputs,
            progress=bar.update,
        )
    if report.file_error is None:
        context.note(f"Wrote {output}")
    if refunds and report.refunds:
        context.note(f"Wrote {counted(report.refunds.valid, 'refund')} to {refunds}")
    show_files(context, [report.document()], [report])
