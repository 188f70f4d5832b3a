"""Who runs a command is what the system knows, and else what the setting says."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.cli import people
from cardoffers_cli.kernel.cli.people import name_of, person

if TYPE_CHECKING:
    from pathlib import Path

USER = name_of(os.getuid())
UNKNOWN = 987_654
"""A user without a name."""

# expected, what the system says of the login, the setting `actor`
PERSONS = [
    (USER, None, None),
    (USER, "4294967295", None),
    (USER, "broken", None),
    (USER, str(os.getuid()), None),
    (f"{UNKNOWN} as {USER}", str(UNKNOWN), None),
    (f"bob as {USER}", None, "bob"),
    (f"bob as {USER}", str(os.getuid()), "bob"),
    (USER, None, USER),
    (f"{UNKNOWN} as {USER}", str(UNKNOWN), "bob"),
]


@pytest.mark.parametrize(("expected", "login", "named"), PERSONS)
def test_who_logged_in_comes_before_the_setting(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    expected: str,
    login: str | None,
    named: str | None,
) -> None:
    """Nobody who is known goes by another name."""
    file = tmp_path / "loginuid"
    if login is not None:
        file.write_text(login)
    monkeypatch.setattr(people, "LOGIN", file)
    assert expected == person(named)


def test_a_name_that_could_pass_for_another_is_refused(cardoffers: Any) -> None:
    ended = cardoffers("status", CARDOFFERS_ACTOR="bob as root")
    assert (13, True) == (ended.exit_code, "The setting actor" in ended.stderr)
