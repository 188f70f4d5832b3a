"""The intake: files of rows as columns, each cell judged by the rules, with its place.

A file is opened (`sources.py`), its layout recognised (`headers.py`), cut into chunks of columns
(`chunks.py`, `paging.py`, `json_chunks.py`, `worksheets.py`) and judged by the rules of its kind
(`rules.py`, `rulebook.py`; read `transactions.py` first). `profiles/` reads an institution's own
layout, `plain/` judges without polars, where rows are few and in a browser, `pack/` is that page,
`schemas/` says what a file has to look like.

May import the kernel. To add a rule for rows, add it to `rules.py` and its finding to
`kernel/words/findings.toml`; a column, see the recipe in CONTRIBUTING.
"""
