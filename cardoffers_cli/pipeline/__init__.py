"""The river: one step, one verb, one module, one SQL file of the same name.

    file -stage-> staged rows -number-> numbers -judge-> verdicts -admit-> purchases
    purchases -resolve-> resolutions -match-> candidates -redeem-> redemptions -settle-> settlements
    redemptions -publish-> outbox -deliver-> attempts

A step reads the tables on its left and writes those on its right, inside the transaction of the
job that calls it; done twice it does nothing the second time. May import `store`, `engine`,
`domain`; steps never import each other. Read `stage.py` first, then follow the arrows. To add a
step, add its module, its SQL file, its test, and its call in `jobs/`.
"""
