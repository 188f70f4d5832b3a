"""List institutions, show one, make one, and change its settings.

A change goes the way of a catalogue row: the present values with the new ones among them are judged
by the rules of `institutions` files, compared, written and audited. So there is one set of rules.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cardoffers_cli.catalogue.files import KINDS
from cardoffers_cli.catalogue.questions import FieldChange
from cardoffers_cli.catalogue.rows import write_row
from cardoffers_cli.institutions import calendars
from cardoffers_cli.institutions.accounts import AccountOptions, change_account, find_account
from cardoffers_cli.institutions.changes import change_settings, change_watch
from cardoffers_cli.institutions.holds import change_hold, shown_hold
from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.layouts import keep_profile
from cardoffers_cli.kernel.store import approval_requests
from cardoffers_cli.kernel.store.institutions import (
    Institution,
    find_institution,
    list_institutions,
)
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import Run, run_record
from cardoffers_cli.kernel.words.card_forms import declared_lengths, lengths_text, read_lengths
from cardoffers_cli.kernel.words.errors import Refused, UsageError
from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

_KIND = "institutions"


class InstitutionDetails(
    Record,
    sheet="* approvals approval_limit webhook_events credit_days -minor_unit -tax_id -tax_note"
    " -address -country -numbers -account -account_holder -account_address -watch -expects"
    " -holidays -legal_hold -shares_tokens_with -time_zone -accepts_percent -changes -approval"
    " -dry_run",
):
    """An institution with its program, under the names its catalogue file has.

    `minor_unit` is the decimals of its currency. One that is changed has its `changes`, and the
    approval that these needed, if any.
    """

    slug: str
    institution_id: UUID
    name: str
    plan: str
    currency: str
    minor_unit: int
    languages: tuple[str, ...]
    max_active_offers: int | None
    widget_limit: int
    settlement_hold_days: int
    webhook_url: str | None
    require_marker: bool
    refund_window_days: int = shown("refund window", gives_way=3)
    refund_auto_link: str = shown("refunds link", gives_way=2)
    clawback_days: int | None = shown("clawback", gives_way=1)
    webhook_events: str = shown("events", gives_way=6)
    approvals: str = shown(gives_way=5)
    approval_limit: Amount | None = shown("limit", "number", gives_way=4)
    credit_days: int = shown("credit days", gives_way=7)
    hold_short: str = shown("hold short", gives_way=8)
    tax_id: str | None = if_any()
    tax_note: str | None = if_any()
    address: str | None = if_any()
    country: str | None = if_any()
    time_zone: str | None = if_any()
    accepts_percent: bool | None = if_any()
    numbers: str | None = if_any()
    account: str | None = if_any()
    account_holder: str | None = if_any()
    account_address: str | None = if_any()
    watch: str | None = if_any()
    expects: str | None = if_any()
    holidays: str | None = if_any()
    legal_hold: str | None = if_any()
    shares_tokens_with: str | None = if_any()
    changes: Sequence[FieldChange] | None = if_any()
    approval: str | None = if_any()
    dry_run: bool | None = if_any()


def all_institutions(job: Job) -> list[InstitutionDetails]:
    """Return every institution with its program, by slug."""
    with reading(job) as source:
        return [_shown(institution) for institution in list_institutions(source.store)]


def show_institution(job: Job, slug_or_id: str) -> InstitutionDetails:
    """Return one institution with its program; raise `NotFound`."""
    with reading(job) as source:
        return _whole(source.store, find_institution(source.store, slug_or_id))


def add_institution(
    job: Job, cells: Mapping[str, str | None], *, dry_run: bool = False
) -> InstitutionDetails:
    """Make an institution with its program.

    Raises `Refused` where there is one of its slug, and as `write_row` does.
    """
    with job.store() as store, store.transaction(keep=not dry_run):
        slug = cells["slug"] or ""
        if store.value("kernel/store/institutions:is_known", slug=slug):
            raise Refused.from_table("institutions", "institution_exists", slug=slug)
        with run_record(store, kind="institution_add", now=job.now, actor=job.actor) as run:
            write_row(store, _KIND, {**cells, "institution_id": str(uuid4())}, run)
            run.counts["institution"] = slug
        institution = find_institution(store, slug)
    return replace(_shown(institution), dry_run=dry_run)


@dataclass(frozen=True, kw_only=True)
class InstitutionLayout:
    """The layout profile that an institution is to have: its TOML, or none."""

    toml: str | None

    @property
    def digest(self) -> str | None:
        """The digest of what it says."""
        return None if self.toml is None else parse_profile(self.toml, "the profile").digest


def set_institution(
    job: Job,
    slug_or_id: str,
    values: Mapping[str, str],
    *,
    settings: Mapping[str, Any] | None = None,
    layout: InstitutionLayout | None = None,
    account: AccountOptions | None = None,
    watch: bool | None = None,
    calendar: calendars.CalendarOptions | None = None,
    legal_hold: str | None = None,
    numbers: Sequence[str] = (),
    token_sharers: Sequence[str] | None = None,
    dry_run: bool = False,
) -> InstitutionDetails:
    """Change settings of an institution.

    `values` holds new settings by column, as text in the form of catalogue files; `settings` those
    that the security log is told of, as they are kept, to which `numbers` adds the lengths of
    numbers of fields, as FIELD=DIGITS, and `token_sharers` others that share its tokens; `layout`
    is the profile its files are read by from now on, `calendar` which are expected, `legal_hold` on
    or off. Raises `NotFound`, `UsageError` for a value of the wrong form, `Refused` for a currency
    in use, and `ApprovalNeeded`.
    """
    approval = None
    with approval_requests.approvable(job, dry_run=dry_run) as store:
        institution = find_institution(store, slug_or_id)
        with run_record(store, kind="institution_set", now=job.now, actor=job.actor) as run:
            changes = change_institution(store, institution, values, run) if values else []
            if layout:
                changes = [*changes, *_change_layout(store, institution, layout, run)]
            if account:
                more, approval = change_account(
                    *(store, institution, account, run),
                    wait_days=job.settings.account_wait_days,
                    dry_run=dry_run,
                )
                changes = [*changes, *more]
            if watch is not None:
                changes = [*changes, *change_watch(store, institution, run, is_on=watch)]
            if calendar:
                changes = [*changes, *calendars.change_calendar(store, institution, calendar, run)]
            if legal_hold:
                changes = [*changes, *change_hold(store, institution, legal_hold, run)]
            settings = dict(settings or {})
            if numbers:
                lengths = read_lengths(institution.numbers)
                for declaration in numbers:
                    lengths |= declared_lengths(declaration)
                settings["numbers"] = lengths_text(lengths)
            if token_sharers is not None:
                slugs = {find_institution(store, sharer).slug for sharer in token_sharers}
                others = "|".join(sorted(slugs - {institution.slug}))
                settings["shares_tokens_with"] = others or None
            more, policy = _change_policy(store, institution, settings, run, dry_run=dry_run)
            changes, approval = [*changes, *more], approval or policy
            run.counts["changed"] = len(changes)
        after = _whole(store, find_institution(store, institution.slug))
    return replace(after, changes=changes, approval=approval, dry_run=dry_run)


def change_institution(
    store: Store, institution: Institution, values: Mapping[str, str], run: Run
) -> list[FieldChange]:
    """Change settings in the caller's transaction; return each change. Raises as above."""
    return write_row(store, _KIND, {**_cells(institution), **values}, run)


def _change_layout(
    store: Store, institution: Institution, layout: InstitutionLayout, run: Run
) -> list[FieldChange]:
    slug, new = institution.slug, layout.digest
    old = keep_profile(store, institution.id, slug, toml=layout.toml, digest=new, **run.by)
    if old == new:
        return []
    return [FieldChange(subject_id=slug, field="profile", old_value=old, new_value=new)]


def _change_policy(
    store: Store, institution: Institution, settings: Mapping[str, Any], run: Run, *, dry_run: bool
) -> tuple[list[FieldChange], str | None]:
    """Change settings that the security log is told of; return each, and the state of an approval.

    Those of approvals need one where these are on: whoever could turn them off alone would need no
    second person for anything. So does the time zone, which moves amounts to another statement.
    """
    limit = settings.get("approval_limit")
    if limit is not None and (limit < 0 or limit != quantize(limit, institution.currency)):
        raise UsageError(
            f"{limit} is no amount of {institution.currency}.",
            hint="Write one from 0 with the currency's decimals, such as 100; or none.",
        )
    settings = {name: new for name, new in settings.items() if new != getattr(institution, name)}
    approval = None
    changed = {
        name: [None if each is None else str(each) for each in (getattr(institution, name), new)]
        for name, new in settings.items()
        if name in {"approvals", "approval_limit", "time_zone"}
    }
    if settings.get("approvals") == approval_requests.ON:
        approval_requests.check_approvers(store, institution.slug)
    if changed:
        approval = approval_requests.require_approval(
            store,
            run,
            institution,
            action="time_zone_set" if changed.keys() == {"time_zone"} else "approvals_set",
            subject=", ".join(f"{name} {new or 'none'}" for name, (_, new) in changed.items()),
            details=changed,
            dry_run=dry_run,
        )
    return change_settings(store, institution, settings, run), approval


def _whole(store: Store, institution: Institution) -> InstitutionDetails:
    """Return an institution with its account, masked, its watch, files and legal hold, if any."""
    more: dict[str, str | None] = {"watch": "on"} if institution.is_watched else {}
    if hold := shown_hold(store, institution):
        more["legal_hold"] = hold
    if account := find_account(store, institution.id):
        more |= {"account": account.masked, "account_holder": account.holder}
        more |= {"account_address": account.address}
    if calendar := calendars.newest_calendar(store, institution.id):
        more |= {name: text or None for name, text in calendars.calendar_texts(calendar).items()}
    return InstitutionDetails(**{**_shown(institution), **more})


def _shown(institution: Institution) -> InstitutionDetails:
    values = asdict(institution)
    del values["is_watched"]  # told as `watch`, where it is on
    return InstitutionDetails(institution_id=values.pop("id"), **values)


def _cells(institution: Institution) -> dict[str, str | None]:
    """Return an institution as the cells of a catalogue file."""
    values = {**asdict(institution), "institution_id": institution.id}
    values["languages"] = "|".join(institution.languages)
    cells = {name: values[name] for name in KINDS[_KIND].names}
    return {name: None if value is None else str(value) for name, value in cells.items()}
