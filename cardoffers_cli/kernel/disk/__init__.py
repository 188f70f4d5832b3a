"""Folders and files on a disk: opened safely, written as a whole or not at all.

`folders.py` opens folders without following links, and says what a full or broken disk means; read
it first. `outputs.py` writes what people asked for, and keeps it from others. May import
`kernel/words`. To add a way to read or write that no slice has to itself, add it here.
"""
