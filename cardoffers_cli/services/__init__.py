"""Services: one-record operations and reads over the store.

Here lives what is neither a step of the river nor a job: institutions, the catalogue, a
cardholder's feed and links, import records, redemptions, webhooks, reports, the state of
everything, and what answers are made of: explanations, timelines, search. May import `store` and
`domain`; services never import each other or a step. Jobs open the transactions around what writes.
Read `institutions.py` first. To add one, add its module and its SQL file of the same name.
"""
