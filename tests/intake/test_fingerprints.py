from __future__ import annotations

import pytest

from cardoffers_cli.intake.chunks import check_token
from cardoffers_cli.kernel.words.errors import UsageError

COLUMNS = ("cardholder_token", "card_token")

REFUSED = [
    ("required_missing", ""),
    ("card_number", "4111111111111111"),
    ("card_number", "4111 1111-1111 1111"),
    ("token_placeholder", "NULL"),
    ("spreadsheet_damage", "7.1E+14"),
    ("spreadsheet_damage", " kanarie"),
    ("personal_data", "kanarie@example.com"),
    ("control_character", "kanarie\x07"),
    ("control_character", "kanarie\u202e"),
    ("token_invalid", "kanarie kanarie"),
    ("token_invalid", "kanarié"),
    ("token_invalid", "kanarie\udcff"),
    ("token_invalid", "k" * 257),
]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize(("code", "token"), REFUSED)
def test_a_token_is_refused_as_in_a_file_and_not_repeated(
    column: str, code: str, token: str
) -> None:
    with pytest.raises(UsageError) as error:
        check_token(column, token)
    assert code == error.value.code
    said = f"{error.value.message} {error.value.hint}"
    assert column in said
    assert not token or token not in said


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("token", ["a", "4111111111111112", "k" * 256, "x@y"])
def test_others_pass(column: str, token: str) -> None:
    check_token(column, token)
