"""The store as a whole: make, migrate, audit, back up, restore, recover, publish.

Lives here: `stores.py` (making and migrating, and what was lost; read it first), `doctor.py` (the
audits, which backups and restores ask too), `file_changes.py` (files that changed after they were
taken), `overview.py` (its state in numbers) and a module for each of the others. May import the
slices before it. To add an audit, add its statement to `audits.sql` of its slice.
"""
