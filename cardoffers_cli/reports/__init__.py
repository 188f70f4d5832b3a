"""Reports: redemptions, settlements, offers, merchants, the funnel; as rows and as pages.

`questions.py` has the rows of each report (read it first), `work.py` what offers and merchants
brought, `funnel.py` who saw, added and redeemed. `page.py` and `pages.py` show them as pages. May
import the slices before it. To add a report follow the recipe in CONTRIBUTING.
"""
