"""A token that came by another way than a file, judged by the rules of transaction files."""

from __future__ import annotations

from cardoffers_cli.intake import rules
from cardoffers_cli.intake.predicates import predicate
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.findings import CODES


def check_token(column: str, token: str) -> None:
    """Raise `UsageError` with the code of the first rule that a token breaks.

    `column` is what the token would be in a file: one of `TOKENS`. The message names the column
    and the rule, never the value.
    """
    row = {column: _text(token) or None}
    for rule in rules.RULES:
        code = CODES[rule.code]
        if rule.column == column and code.level == "error" and predicate(rule.broken)(row):
            raise UsageError(f"The {rule.message}.", code=code.code, hint=code.advice)


def _text(token: str) -> str:
    """Mark what is no Unicode text: a command line carries such bytes as lone surrogates."""
    return token.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
