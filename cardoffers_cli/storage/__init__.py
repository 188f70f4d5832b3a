"""The store as a whole: make, migrate, audit, back up, restore, recover, publish.

Lives here: `stores.py` (making and migrating, and what was lost; read it first), `doctor.py` (the
audits, which backups and restores ask too), `file_changes.py` (files that changed after they were
taken), and a module for each of the others. May import what `jobs` may, and of `jobs` the context.
To add an audit, add its statement in `kernel/store/audits/`; to add a job, its module here.
"""
