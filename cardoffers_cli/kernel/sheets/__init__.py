"""Pages for people to look at: one HTML file each, whole in itself, with pictures as inline SVG.

What lives here: what a page is (`pages.py`, read it first), its tables (`tables.py`) and pictures
(`pictures.py`), and for each page a module named after it, from rows to sections and the sentence
that answers its question. What is drawn where stands in `picture.svg.j2`; how things look in
`page.html.j2` and `style.css`.
What it may import: `domain/`, its neighbours in `files/` and jinja2; never a clock or a store.
jinja2 is imported where it is used, as it is heavy.
Where to add: a page as a new module; a kind of picture in `pictures.py` and its template.

A page loads nothing and runs no script; what names something in it is escaped by the template. A
picture shows nothing that the table beneath it does not.
"""
