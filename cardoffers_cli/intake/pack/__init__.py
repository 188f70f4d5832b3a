"""The check of transaction files as one HTML file, for people who can install nothing.

What lives here: the page (`page.html.j2`, `page.js`, `page.css`) and its words; the worker that
runs Python beside it (`worker.js`); what Python runs there (`checking.py`, with `intake/plain` the
only code of ours that does); the runtime that carries all of it; and `building.py`, which puts
these together: read it first. What it may import: the kernel and its neighbours in `intake/`.
`checking.py` and all that it imports use the standard library only: `building.py` refuses anything
else. Where to add: a word of the page in `kernel/words/languages/`; a fact that is told of the
check in `page.js` and `building.py`.

The page fetches nothing, and its policy lets nothing be fetched: the runtime and the rules are in
it. Nothing of a row is shown that the command would not show.
"""
