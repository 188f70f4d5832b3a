"""Pages for people to look at: one HTML file each, whole in itself, with pictures as inline SVG.

What lives here: what a page is (`pages.py`, read it first), the parts of pages about money and
nights as functions from rows to a section (`sections.py`, `night.py`), specifications of pictures
in Vega-Lite (`charts.py`), and the pen that draws them (`drawing.py`).
What it may import: `domain/`, its neighbours in `files/`, jinja2 and vl_convert; never a clock or a
store. Both packages are imported where they are used, as they are heavy.
Where to add: a section in `sections.py`; a kind of picture in `charts.py`; how things look in
`page.html.j2` and `style.css`.

A page loads nothing and runs no script; what names something in it is escaped by the template. A
picture shows nothing that the table beneath it does not.
"""
