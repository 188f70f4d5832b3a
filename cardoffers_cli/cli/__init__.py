"""The command line: parse, open, one call, show.

Lives here: one module per command or group of commands, some 25 lines each command; `kernel/`, what
they are made with and which imports none of them; `main`, which assembles them. May import: jobs,
services, pipeline, files, domain, settings. Typer and rich live here and nowhere else.
To add a command: a function `(ctx: typer.Context, …)` in a module here, what its help says beyond
the docstring in `help.md`, with an example, and its line in `main.COMMANDS`. Heavy imports stand
inside the function, so that `--help` is instant.
Read first: main.py, then kernel/context.py.
"""
