"""What the commands are made with: nothing in here imports a command.

Lives here: `commands` (what every command takes), `options` (what several take), `context`
(settings, clock, ways to speak), `show` (the only writer to stdout) with `blocks` and `layout`,
`exits` (errors, exit codes, the only writer to stderr), `progress`, `completing`, and what a few
commands share. May import: jobs, services, files, domain, settings; what is heavy inside functions.
Add here what a second command needs; what one command needs alone stands in its own module.
Read first: context.py.
"""
