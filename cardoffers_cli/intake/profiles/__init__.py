"""Files in an institution's own layout, read by a profile (rules.md#profiles).

What lives here: a file that is read by a profile (`reading.py`, read it first), from bytes to lines
(`texts.py`), from lines to columns (`places.py`, `translation.py`), from their columns to our
fields (`translation.py`, `written.py` for amounts and times), and its last line (`places.py`); and
the profile a sample suggests (`guessing.py`). What it may import: the kernel, its neighbours in
`intake` and polars. Guessing does without polars, so that whoever meets a header it does not know
can ask what it seems to be; and so do `texts.py`, `places.py` and `written.py`, which the reading
in plain Python (`intake/plain`) shares; it is handed a profile as `refunds.py` has settled it.
Where to add: what a profile can say is a field in `intake/layout_model.py`, and is done here by the
module of its part; a word by which columns are known stands in `words.toml`.
"""
