"""`cardoffers profile`: files in an institution's own layout."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from cardoffers_cli.intake import file_options
from cardoffers_cli.intake.file_options import checked_as, currency_decimals
from cardoffers_cli.kernel.cli import options, show
from cardoffers_cli.kernel.cli.commands import group, needed_output, own_output, zone
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import argument, option
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.sentences import counted

app = group("Describe an institution's own file layout, and read its files.")


Profiled = Annotated[Path, argument("PROFILE", "A layout profile, TOML.")]


@app.command()
def new(
    ctx: typer.Context,
    sample: Annotated[str, argument("SAMPLE", "A file as it is exported; - is stdin.")],
    *,
    sheet: file_options.SheetName = None,
    time_zone: Annotated[
        str | None,
        option(
            "The zone of its times, if they name none.", "--zone", metavar="ZONE", callback=zone
        ),
    ] = None,
    dry_run: options.DryRun = False,
) -> None:
    """Guess the layout of a file, and write a profile to review."""
    from cardoffers_cli.intake.questions import GuessedColumn, guessed, new_profile

    output = own_output(ctx)
    context = CommandContext.of(ctx)
    guess = guessed(sample, sheet)
    if time_zone is None and guess.lacks_zone:
        answer = context.answer(
            "In which time zone are its times? Such as Europe/London; empty: none"
        )
        time_zone = zone(answer or None)
    if output is None:
        profile = new_profile(guess, sample, zone=time_zone)
        context.say(profile.toml)
        context.note(f"{profile.layout}.")
        return
    context.writes({"-o": output}, reads=[sample])
    profile = new_profile(guess, sample, zone=time_zone, to=output)
    if not dry_run:
        show.write(profile.toml.encode(), output, mode=context.settings.mode)
    document = {**profile, "dry_run": dry_run}
    context.show(
        document,
        show.Sheet.of(GuessedColumn, "fields", profile.fields_),
        show.Text([f"{profile.layout}."]),
    )
    context.note(f"Next: `cardoffers profile check {output} {sample}`.")


@app.command()
def check(
    ctx: typer.Context,
    profile: Profiled,
    source: Annotated[str, argument("FILE", "A file in its layout; - is stdin.")],
    *,
    currency: file_options.Currency = None,
    assume_timezone: file_options.Timezone = None,
) -> None:
    """Show how a profile reads each column of a file; texts are masked."""
    from cardoffers_cli.intake.layout_model import read_profile
    from cardoffers_cli.intake.questions import CheckedField, check_profile

    context = CommandContext.of(ctx)
    reading = checked_as(context.now, currency, ",", None, zone=assume_timezone)
    layout = read_profile(profile)
    result = check_profile(source, layout, reading, named=str(profile))
    names = [field.field for field in result.fields_]
    columns = [show.Column("line", kind="integer"), *(show.Column(name) for name in names)]
    wrong = [field.field for field in result.fields_ if field.unreadable]
    if not wrong:
        command = "profile convert" if layout.makes_tokens else "validate"
        file, to = (
            quote(source) if source != "-" else "FILE",
            " -o canonical.csv" * layout.makes_tokens,
        )
        context.note(f"Next: `cardoffers {command} {file} --profile {quote(str(profile))}{to}`.")
    context.show(
        result,
        show.Sheet.of(CheckedField, "fields", result.fields_, title="Fields"),
        show.Sheet("rows", tuple(columns), result.items_, title="First rows"),
        exit_code=3 if wrong else 0,
        why=f"The profile cannot read {', '.join(wrong)} in every row." if wrong else "",
    )


@app.command("show")
def show_(
    ctx: typer.Context,
    profile: Annotated[str, argument("PROFILE", "A profile, or the institution that keeps one.")],
) -> None:
    """Show a profile in one line; wrong ones are refused, with the place."""
    from cardoffers_cli.intake.layout_model import parse_profile, read_profile
    from cardoffers_cli.intake.questions import kept_toml, shown_profile

    context = CommandContext.of(ctx)
    if Path(profile).suffix or Path(profile).exists():
        layout = read_profile(Path(profile))
    else:
        layout = parse_profile(kept_toml(context.job, profile), profile)
    summary = shown_profile(layout, profile)
    fields = {**summary, "fields": " ".join(summary.fields_)}
    context.show(summary, show.Sheet.of_fields("profile", fields))


@app.command("list")
def list_(
    ctx: typer.Context,
    folder: Annotated[
        Path | None, argument("[DIR]", "A folder of profiles [those that institutions keep].")
    ] = None,
) -> None:
    """List the profiles that institutions keep, or those of a folder."""
    from cardoffers_cli.intake.questions import ProfileRow, kept_profiles, profiles_in

    context = CommandContext.of(ctx)
    profiles = kept_profiles(context.job) if folder is None else profiles_in(folder)
    rows = [{**profile, "fields": " ".join(profile.fields_)} for profile in profiles]
    context.show(profiles, show.Sheet.of(ProfileRow, "profiles", rows))


@app.command()
def sample(
    ctx: typer.Context,
    profile: Profiled,
    *,
    rows: Annotated[int, option("Rows.", min=1)] = 1000,
    seed: Annotated[int, option("Same seed and profile, same bytes.", min=0)] = 1,
    currency: file_options.Currency = None,
    dry_run: options.DryRun = False,
) -> None:
    """Write sample data in the layout of a profile, to the file that -o names."""
    from cardoffers_cli.intake.layout_model import read_profile
    from cardoffers_cli.sample.plan import Plan
    from cardoffers_cli.sample.work import sample_profile

    output = needed_output(ctx, "sample.csv")
    context = CommandContext.of(ctx)
    context.writes({"-o": output}, reads=[profile])
    result = sample_profile(
        read_profile(profile),
        Plan(rows=rows, seed=seed, institutions=1, links=0),
        output,
        named=str(profile),
        decimals=currency_decimals(currency),
        dry_run=dry_run,
    )
    context.show(result)


@app.command()
def convert(
    ctx: typer.Context,
    source: Annotated[str, argument("FILE", "A file in the profile's layout; - is stdin.")],
    *,
    profile: file_options.LayoutProfile,
    currency: file_options.Currency = None,
    assume_timezone: file_options.Timezone = None,
    allow_unterminated: file_options.AllowUnterminated = False,
    errors: file_options.Errors = None,
    rejected: file_options.Rejected = None,
    raw_rejected: file_options.RawRejected = False,
    refunds: Annotated[
        Path | None, option("Write its refunds too, as a file of refunds (.csv).", metavar="FILE")
    ] = None,
) -> None:
    """Write the good rows of a file in our own layout, to the file that -o names."""
    from cardoffers_cli.intake.layout_model import read_profile, read_token_key
    from cardoffers_cli.river.checking_commands import show_files
    from cardoffers_cli.river.checks import convert as run
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
