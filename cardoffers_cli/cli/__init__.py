"""The command line: parse, open, one call, show.

Lives here: one module per command or group of commands, some 25 lines each command; `options`
(what every command takes), `desk` (settings, clock, ways to speak), `show` (the only writer to
stdout), `exits` (errors, exit codes, the only writer to stderr). May import: jobs, services,
pipeline, files, domain, settings. Typer and rich live here and nowhere else.
To add a command: a function `(ctx: typer.Context, …)` in a module here, and its line in
`main.COMMANDS`. Heavy imports stand inside the function, so that `--help` is instant.
Read first: main.py, then desk.py.
"""
