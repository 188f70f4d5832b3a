"""Questions about layout profiles: guess one of a sample, check one on a file, list those kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.layout_model import parse_profile, read_profile
from cardoffers_cli.intake.layouts import StoredProfile, find_profile
from cardoffers_cli.intake.paging import read_sheet
from cardoffers_cli.intake.profiles.guessing import guess_layout, proposed, settings_told
from cardoffers_cli.intake.profiles.places import labels_of
from cardoffers_cli.intake.profiles.reading import ProfiledFile
from cardoffers_cli.intake.profiles.written import UNREADABLE
from cardoffers_cli.intake.sources import HEAD_BYTES, WIDE_MARKS, open_source
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import FileUnusable, NotFound, UsageError
from cardoffers_cli.kernel.words.ids import mask
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.intake.chunks import FileReading
    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.intake.profiles.guessing import GuessedLayout
    from cardoffers_cli.kernel.store.job import Job

_SHOWN_ROWS = 5
_PLAIN = {"amount", "currency", "transacted_at", "mcc", "instrument_type", "network"}
"""Fields whose values are shown as they are; tokens and texts are masked."""


class GuessedColumn(Record):
    """A field of a transaction, and where it seems to be in a sample."""

    field: str
    column: str
    written: str
    sureness: str
    why: str = shown(gives_way=1)


class NewProfile(Record):
    """A profile that was guessed from a sample: as TOML, and what it says of each field."""

    sample: str
    layout: str
    rows: int
    fields_: Sequence[GuessedColumn]
    toml: str
    profile: str | None


class CheckedField(Record):
    """A field as a profile reads it: in how many rows it is, and in how many not to be read."""

    field: str
    column: str
    rows: int
    empty: int
    unreadable: int
    example: str | None = shown(gives_way=1)


class CheckedProfile(Record):
    """What a profile makes of the beginning of a file; texts of its rows are masked."""

    file: str
    profile: str
    digest: str
    rows: int
    left_out: int
    fields_: Sequence[CheckedField]
    items_: Sequence[Mapping[str, Any]]


class ProfileRow(Record):
    """A profile in one line."""

    profile: str
    name: str | None
    form: str
    encoding: str
    fields_: Sequence[str] = shown(gives_way=1)
    digest: str = shown(gives_way=2)


def new_profile(
    guess: GuessedLayout, source: str, *, zone: str | None = None, to: Path | None = None
) -> NewProfile:
    """Make a profile of what was guessed of a sample."""
    toml = proposed(guess, "standard input" if source == "-" else Path(source).name, zone=zone)
    parse_profile(toml, "the guess")  # a guess that cannot be read is a fault of ours
    return NewProfile(
        sample=source,
        layout=guess.told(),
        rows=guess.rows,
        fields_=[
            GuessedColumn(
                field=name,
                column=field.label,
                written=settings_told(field.settings),
                sureness=field.sureness,
                why=field.why,
            )
            for name, field in guess.fields.items()
        ],
        toml=toml,
        profile=str(to) if to else None,
    )


def guessed(source: str, sheet: str | None = None) -> GuessedLayout:
    """Guess the layout of a file, or of a sheet; raise `FileUnusable` where it has none."""
    with open_source(source) as opened:
        read_sheet(opened, named=sheet, header=0)
        read, head = opened.sheet, opened.first_bytes()
        if not head.startswith(WIDE_MARKS):
            opened.head()  # refuses what is no text
    name = read.name if read else None
    guess = guess_layout(head, is_whole=len(head) < HEAD_BYTES, sheet=name)
    if guess is None:
        raise FileUnusable.from_table("intake", "layout_unknown")
    return guess


def check_profile(source: str, profile: Profile, how: FileReading, *, named: str) -> CheckedProfile:
    """Read the beginning of a file by a profile, and return what each column becomes."""
    with open_source(source) as opened, ProfiledFile(opened, how, profile) as file:
        rows = next(iter(file.canonical()), None)
        left_out = file.left_out
    first_rows = [] if rows is None else rows.to_dicts()
    return CheckedProfile(
        file=source,
        profile=named,
        digest=profile.digest,
        rows=len(first_rows),
        left_out=left_out,
        fields_=[
            _checked(name, label, [row[name] for row in first_rows])
            for name, label in labels_of(profile).items()
        ],
        items_=[
            {name: _shown(name, value) for name, value in row.items()}
            for row in first_rows[:_SHOWN_ROWS]
        ],
    )


def _checked(name: str, label: str, values: Sequence[str | None]) -> CheckedField:
    filled = [value for value in values if value is not None]
    readable = [value for value in filled if value != UNREADABLE]
    return CheckedField(
        field=name,
        column=label,
        rows=len(readable),
        empty=len(values) - len(filled),
        unreadable=len(filled) - len(readable),
        example=_shown(name, readable[0]) if readable else None,
    )


def _shown(name: str, value: Any) -> Any:
    return mask(value) if isinstance(value, str) and name not in _PLAIN else value


def kept_profiles(job: Job) -> list[ProfileRow]:
    """Return the profiles that institutions keep in the store, by institution."""
    with reading(job) as source:
        rows = source.store.records(StoredProfile, "intake/layouts:find", institution_id=None)
    return [
        shown_profile(parse_profile(row.toml, row.institution), row.institution) for row in rows
    ]


def kept_toml(job: Job, institution: str) -> str:
    """Return the profile that an institution keeps, as it was given; raise `NotFound`."""
    with reading(job) as source:
        owner = find_institution(source.store, institution)
        profile = find_profile(source.store, owner.id)
    if profile is None:
        raise NotFound(
            f"{owner.slug} keeps no profile: its files are in our own layout.",
            code="profile_missing",
            hint=f"`cardoffers institution set {owner.slug} --profile P.toml` gives it one.",
        )
    return profile.toml


def profiles_in(folder: Path) -> list[ProfileRow]:
    """Return the profiles of a folder by name; other TOML files are left out."""
    profiles = []
    for path in sorted(folder.glob("*.toml")):
        try:
            profiles.append(shown_profile(read_profile(path), str(path)))
        except UsageError:
            continue
    return profiles


def shown_profile(profile: Profile, named: str) -> ProfileRow:
    """Return a profile in one line."""
    widths = profile.form.widths
    form = f"fixed {sum(widths)}" if widths else f"delimited {profile.form.delimiter!r}"
    if profile.form.sheet is not None:
        form = f"sheet {profile.form.sheet}"
    return ProfileRow(
        profile=named,
        name=profile.name,
        form=form,
        encoding=profile.encoding,
        fields_=[*profile.fields.given()],
        digest=profile.digest,
    )
