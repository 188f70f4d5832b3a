"""Copies of the store outside its disk: points, and the repositories that keep them.

A point is one state of the store with everything that belongs to it. `points.py` says what it is
and takes it (read it first); `plain.py` keeps points as files in a folder. May import the slices
before it. To add a file to points, add it to `FILES` of `points.py`.
"""
