"""Rows that people read: tables, files in any format, pages, pictures.

A `Sheet` is rows of one record with its columns; read `sheets.py` first. `exports.py` writes one in
every format, `workbooks.py` as a workbook. A page is one template over tables and at most one
picture (`pages.py`, `tables.py`, `pictures.py`, `page.html.j2`, `style.css`). May import
`kernel/words` and `kernel/disk`; jinja2 and xlsxwriter are imported nowhere else. To add a format,
add it to `exports.py`.
"""
