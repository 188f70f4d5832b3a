"""The river: from a file to the ledger, one step, one verb, one module, one SQL file.

    file -read-> chunks -stage-> Staged -number-> Numbered
        -find_known-> KnownReferences -find_repeats-> Repeats -admit-> purchases, refunds
    purchases -find_undecided-> Undecided -resolve-> Resolutions -match-> Candidates
        -redeem-> Decided -keep-> decisions, redemptions, ledger entries
    redemptions -publish-> outbox -deliver-> attempts    ledger entries -settle-> settlements

A step takes handles and returns one (`handles.py`, read it first): a frozen value that names the
temporary tables behind it. A statement declares in its header which of them it reads, changes and
makes, with their columns, and runs only with those it is handed (`kernel/store/binding.py`): so
what flows from step to step is seen in the run that calls them. Each table has a name of its own,
so two runs on one connection never meet; the transaction of the run drops them all at its end. The
plans of `plan/` run so on every engine. What is simulated goes the same way, in a transaction that
is not kept.

Files, calls and simulated events go one way in two sizes, which `stage.py` tells apart. Of many
rows each step makes its table. Of few there is none: a table stands for its rows or its SELECT, and
the statement that writes, or asks, computes what it needs together, by the same text. What needs no
engine is done without one: texts get their numbers, and references their hashes, from lists
(`kernel/store/interning.py`, `kernel/words/ids.py`). Both sizes are held to the same outcome.

The runs that call the steps are here too: `imports.py` with `receiving.py`, `events.py`,
`engines.py`, `settlements.py`, `simulate.py`, `withdrawals.py`. Done twice, a step does nothing the
second time. May import the kernel, intake and archive; steps never import each other. To add a
step, add its module, its SQL file, its test, its handle, and its call in a run.
"""
