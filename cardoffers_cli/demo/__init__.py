"""The demo: the whole service on sample data in ten seconds, told as it goes; and the help.

`work.py` runs it (read it first), `story.py` with `story.toml` tells it. May import every slice
before it. To add a part, add its call to `work.py` and its words to `story.toml`. It runs on the
sample data that travels with the product, in a folder of its own, and says at its end which
commands did what was shown. `help_commands.py` shows the pages of `docs/` and what each slice adds.
"""
