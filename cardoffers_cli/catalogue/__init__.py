"""The catalogue and settings: merchants, offers, programs, links, institutions, webhooks.

Lives here: `importing.py` (a folder of files; read it first), `rows.py` (a single row by hand, the
same way), `institutions.py` and `webhooks.py` (settings, which are such rows), `changes.py` (who
changed what). May import what `jobs` may, and of `jobs` the context. To add a kind of file, add it
to `KINDS` in `catalogue/catalogue_kinds.py`; to add a setting, its column there.
"""
