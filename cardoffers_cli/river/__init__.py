"""The river: from a file to the ledger, one step, one verb, one module, one SQL file.

    file -read-> chunks -stage-> Staged -number-> Numbered
        -find_known-> KnownReferences -find_repeats-> Repeats -admit-> purchases, refunds
    purchases -find_undecided-> Undecided -resolve-> Resolutions -match-> Candidates
        -redeem-> Decided -keep-> decisions, redemptions, ledger entries
    redemptions -publish-> outbox -deliver-> attempts    ledger entries -settle-> settlements

A step takes handles and returns one (`handles.py`, read it first): a frozen value that names the
temporary tables behind it (`kernel/store/binding.py`), so what flows from step to step is seen in
the run that calls them. What is simulated goes the same way, in a transaction that is not kept.
Files, calls and simulated events go one way in two sizes, which `stage.py` tells apart: of many
rows each step makes its table, of few a table stands for its rows or its SELECT.

The runs that call the steps are here too: `imports.py` with `receiving.py`, `events.py`,
`engines.py`, `settlements.py`, `simulate.py`, `withdrawals.py`. Done twice, a step does nothing the
second time. May import the kernel, intake and archive; steps never import each other. To add a
step, add its module, its SQL file, its test, its handle, and its call in a run.
"""
