"""The catalogue: institutions, merchants, offers and links as files, in and out.

`files.py` reads the kinds of files (`catalogue.txt` lists their columns, `forms.py` reads cells),
`rows.py` holds rows against the store, `importing.py` takes them in one transaction (read it
first), `taking.py` writes, `writing.py` and `questions.py` give them out again; `merchants.py`
finds a merchant by what people know of it, `formats.py` says what files have to look like. May
import the slices before it. To add a column, add its line to `catalogue.txt` and the statements
that write and export it.
"""
