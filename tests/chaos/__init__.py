"""Disturbances: kills, power cuts, full disks and damaged files, over every command that writes.

`scenarios.py` has one line for each such command, `places.py` the folders they begin in,
`children.py` runs one of them in a process that can be killed, `recorder.c` notes what it does to
its disk, `states.py` makes of that what a power cut might leave, and `judging.py` says what became
of the store. `strikes.py` and `flips.py` put these together, `tally.py` counts. The small edition
is `tests/test_chaos.py`, the large one `tests/benchmarks/chaos.py`.
"""
