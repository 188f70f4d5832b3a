from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.institutions.work import (
    InstitutionLayout,
    all_institutions,
    set_institution,
    show_institution,
)
from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.questions import kept_profiles, kept_toml
from cardoffers_cli.kernel.words.errors import CardoffersError, NotFound, Refused, UsageError
from sizes import one_in, slow
from tables import given, select, uid
from work import new_store

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    job = new_store(tmp_path)
    with job.store() as store:
        given(store, "institutions", "institution\nalder\nbrook")
        given(store, "merchants", "merchant\nbakery")
        given(store, "offers", "offer merchant\nof-1 bakery")
        given(store, "links", "institution cardholder offer\nalder ann of-1")
    return job


def audit(job: Job) -> list[tuple[Any, ...]]:
    with job.store(read_only=True) as store:
        return select(
            store, "select subject, subject_id, field, old_value, new_value, actor from audit_log"
        )


def test_all_are_listed_by_slug(job: Job) -> None:
    assert ["alder", "brook"] == [each["slug"] for each in all_institutions(job)]


def test_one_is_shown_by_slug_or_id(job: Job) -> None:
    shown = show_institution(job, "alder")
    assert (uid("alder"), "GBP", 2, ("en", "es")) == (
        shown["institution_id"],
        shown["currency"],
        shown["minor_unit"],
        shown["languages"],
    )
    assert shown == show_institution(job, str(uid("alder")).upper())


def test_an_unknown_one_is_not_found_and_the_nearest_is_named(job: Job) -> None:
    with pytest.raises(NotFound) as error:
        show_institution(job, "Aldr")
    assert "institution_not_found" == error.value.code
    assert "alder" in str(error.value.hint)


# field, text -> value, old value
SET = [
    ("name", "Älder", "Älder", "alder"),
    ("plan", "enterprise", "enterprise", "growth"),
    ("languages", "es|pt-BR", ("es", "pt-BR"), "en|es"),
    ("max_active_offers", "7", 7, "100"),
    ("widget_limit", "20", 20, "10"),
    ("settlement_hold_days", "3", 3, "0"),
    ("require_marker", "true", True, "false"),
]


@pytest.mark.parametrize(("field", "text", "value", "old"), SET)
@one_in(2)
def test_a_setting_changes_and_the_old_value_is_kept(
    job: Job, field: str, text: str, value: Any, old: str
) -> None:
    dry = set_institution(job, "alder", {field: text}, dry_run=True)
    assert (value, []) == (dry[field], audit(job))
    done = set_institution(job, "alder", {field: text})
    assert {**dry, "dry_run": False} == done
    assert value == show_institution(job, "alder")[field]
    assert [("institution", "alder", field, old, text, "tester")] == audit(job)
    assert [] == set_institution(job, "alder", {field: text})["changes"]


# institution, field, text -> error, code
REFUSED: list[tuple[str, str, str, type[CardoffersError], str]] = [
    ("alder", "plan", "gold", UsageError, "value_invalid"),
    ("alder", "languages", "de", UsageError, "value_invalid"),
    ("alder", "widget_limit", "0", UsageError, "value_invalid"),
    ("alder", "currency", "XXX", UsageError, "value_invalid"),
    ("alder", "name", "", UsageError, "required_missing"),
    ("alder", "currency", "EUR", Refused, "currency_in_use"),
    ("elm", "plan", "growth", NotFound, "institution_not_found"),
]


@pytest.mark.parametrize(("slug", "field", "text", "error", "code"), REFUSED)
@one_in(3)
def test_what_will_not_do_is_refused(  # noqa: PLR0917 - a table
    job: Job, slug: str, field: str, text: str, error: type[CardoffersError], code: str
) -> None:
    before = all_institutions(job)
    with pytest.raises(error) as raised:
        set_institution(job, slug, {field: text})
    assert (code, []) == (raised.value.code, audit(job))
    assert before == all_institutions(job)


PROFILE = """
form = {delimiter = ";"}
[fields]
amount = {column = "Betrag"}
"""


@slow
def test_a_layout_is_kept_and_its_digests_are_audited(job: Job) -> None:
    digest = parse_profile(PROFILE, "P").digest
    dry = set_institution(job, "alder", {}, layout=InstitutionLayout(toml=PROFILE), dry_run=True)
    assert ([("profile", None, digest)], [], []) == (
        [(each.field, each.old_value, each.new_value) for each in dry.changes],
        kept_profiles(job),
        audit(job),
    )
    set_institution(job, "alder", {}, layout=InstitutionLayout(toml=PROFILE))
    assert PROFILE == kept_toml(job, "alder")
    assert [digest] == [each.digest for each in kept_profiles(job)]
    again = set_institution(
        job, "alder", {}, layout=InstitutionLayout(toml=f"# as before\n{PROFILE}")
    )
    assert [] == again.changes
    set_institution(job, "alder", {}, layout=InstitutionLayout(toml=None))
    assert [] == kept_profiles(job)
    assert [
        ("institution", "alder", "profile", None, digest, "tester"),
        ("institution", "alder", "profile", digest, None, "tester"),
    ] == audit(job)
    with pytest.raises(NotFound):
        kept_toml(job, "alder")


def test_a_currency_not_in_use_may_change(job: Job) -> None:
    assert "JPY" == set_institution(job, "brook", {"currency": "JPY"})["currency"]
