"""The watch: what came in strangely, held against what an institution sent before.

`scan.py` looks for what is strange and records findings, each with its figures (read it first);
`observations.py` says what is held against what, `questions.py` lists, shows and accepts. May
import the slices before it. To add an observation, add its statement to `questions.sql` and its
sentence to `findings.toml`.
"""
