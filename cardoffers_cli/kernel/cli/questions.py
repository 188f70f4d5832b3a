"""Questions: commands that show what one statement of the store returns.

One is told once. Its record has the columns of the statement, which are those of the sheet and of
the JSON, and says in its docstring what `--help` shows. What may be asked is listed by the names in
`ASKED` and those of the statement's parameters. The store is read or, while it is held, its
snapshot; no row shows a card number.
"""

from collections.abc import Mapping
from inspect import Parameter, getdoc
from typing import TYPE_CHECKING, Any

import typer

from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import Format, declared
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.show import Sheet
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.kernel.words.records import Record

ASKED: Mapping[str, tuple[Any, Any]] = {
    "ctx": (typer.Context, Parameter.empty),
    "institution": (options.AnyInstitution, None),
    "one_institution": (options.Institution, Parameter.empty),
    "from_at": (options.From, None),
    "to_at": (options.To, None),
    "limit": (options.Limit, 100),
    "all_rows": (options.All, False),
    "raw": (options.Raw, False),
}
"""What several questions ask: how it is typed, and its default."""


def question(
    app: typer.Typer,
    name: str,
    address: str,
    shape: "type[Record]",
    *,
    asks: str,
    says: str = "",
    sheet: str = "",
    data: bool = True,
    totals_by: str = "",
    counts: str = "",
    page: "Callable[..., None] | None" = None,
    fixed: Mapping[str, Any] | None = None,
    **own: tuple[Any, Any],
) -> None:
    """Add a command that shows the records of a statement, as it `says` or their class does.

    It `asks` for what `ASKED` has, and for its `own` parameters, as they are listed there. Its JSON
    has the rows as `data`, or is their list. `totals_by` names the columns that keep totals apart;
    `counts` is the word for rows whose number each has in a field, called as several of them are.
    `page` shows it as HTML, given the context and what was asked; `fixed` is given to the
    statement.
    """

    def answer(ctx: typer.Context, *, raw: bool = False, **parameters: Any) -> None:
        from cardoffers_cli.kernel.store.reading import read_rows

        context = CommandContext.of(ctx)
        if page and context.format is Format.html:
            page(context, **parameters)
            return
        if "limit" in parameters:
            extent = options.Extent(limit=parameters["limit"], all_rows=parameters.pop("all_rows"))
            parameters["limit"] = extent.most
        rows = read_rows(context.job, shape, address, **parameters, **(fixed or {}))
        table = Sheet.of(shape, sheet or name, rows, totals_by=tuple(totals_by.split()))
        context.show({"data": rows} if data else rows, table, raw=raw)
        if counts and rows and (total := rows[0][f"{counts}s"]) > len(rows):
            context.note(f"There are {counted(total, counts)}: --all for every one.")

    typed = {word: own.get(word) or ASKED[word] for word in ["ctx", *asks.split()]}
    app.command(name, help=says or getdoc(shape))(declared(answer, **typed))
