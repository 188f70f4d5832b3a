"""What commands are made with: nothing in here imports a command.

Here live the front page (`main.py`, the list of all commands), what every command takes
(`commands.py`) and what several take (`options.py`), the context of a command (`context.py`:
settings, clock, ways to speak; read it first), the only writer to stdout (`show.py`, with
`blocks.py` and `layout.py`), errors and exit codes, the only writer to stderr (`exits.py`),
`progress.py`, `completing.py`, and commands that only read (`questions.py`). May import the rest of
the kernel; what is heavy inside functions, so that `--help` is instant.

To add a command: a function `(ctx: typer.Context, ...)` in `commands.py` of its slice, what its
help says beyond the docstring in `help.md`, with an example, and its line in `main.COMMANDS`.
"""
