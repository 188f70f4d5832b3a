"""Reports: rows to print and export, the funnel, and what the pages of reports are made of.

Lives here: `reports.py` (every report by its name; read it first), `funnel.py` (its windows and
counts) and `pages.py` (rows with what is counted beside them, in one opening of the store).
May import what `jobs` may, and of `jobs` the context. To add a report, add its function in
`services/` and its name in `reports.py`.
"""
