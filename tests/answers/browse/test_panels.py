"""The dialogs: every key is told, and an institution is chosen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cardoffers_cli.answers.browse.panels import LOOKING, SEARCHING
from screens import seen
from sizes import slow

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job


@slow
def test_the_institution_is_asked_for(made: Job) -> None:
    assert "Which institution?" in seen(made, institution=None)
    assert "1 found" in seen(made, "down", "enter", institution=None, query="theirs")


@slow
def test_every_key_of_the_footer_is_in_the_help(made: Job) -> None:
    help_page = seen(made, "?", query="won", size=(80, 60))
    for key in (*SEARCHING, *LOOKING):
        if key.show:
            assert re.search(
                rf"^  {re.escape(str(key.key_display or key.key))} +\w", help_page, re.MULTILINE
            )
