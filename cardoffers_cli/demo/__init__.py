"""Stores to try things with: the demo, and a store that begins with an example.

Lives here: `demo.py` (the whole service in one go; read it first) and `example.py`.
May import what `jobs` may, and every use case. To add a step to the demo, add it to `demo.py` and
its screen to `demo/story.py`.
"""
