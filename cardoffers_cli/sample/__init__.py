"""Sample data: an invented bank's catalogue and transaction files, of any size, from a seed.

What lives here: one module per thing made (`merchants`, `offers`, `links`, `engagement`,
`purchases`, `refunds`, `strangers`, `dirty`), the numbers behind them (`chance`), the vocabulary
(`words`), who takes part (`plan`) and the pen (`writing`).
What it may import: `domain/`, polars and the standard library; never a clock or a store.
Where to add: a category or a name in `words.toml`; a column in the module that makes its table; a
kind of faulty row in `dirty.toml`, or in `dirty.py` if it is a fault of the line.
Read first: `sample.py`, which makes everything in order; then `chance.py`.

Every value is a function of (seed, name of the value, number of the row) in integer arithmetic and
the float operations that round alike everywhere (+ - * / and the square root), so the same plan
gives the same bytes on every machine.
"""
