"""What the commands are made with: nothing in here imports a command.

Lives here: `options` (what every command takes), `desk` (settings, clock, ways to speak), `show`
(the only writer to stdout) with `blocks` and `layout`, `exits` (errors, exit codes, the only writer
to stderr), `progress`, `completing`, and what some commands share. May import: jobs, services,
files, domain, settings, and inside functions what is heavy.
Add what a second command needs; what one command needs alone stands in that command's module.
Read first: desk.py.
"""
