"""Jobs: what an operator runs, in three storeys; the upper ones import the lower ones.

`context/` is what every job is given and writes. Above it stand the use cases, each a module, or a
package of those that share parts; they never import each other. Compositions run several of them:
`night/`, `demo/`, `simulate`, `status` and `why`. A job owns the clock (`Job.now`), the transaction
and the run record; it opens the store, calls the steps of `pipeline/` and the operations of
`services/` in order, and returns what happened as plain data. May import everything below:
`pipeline`, `services`, `files`, `store`, `archive`, `engine`, `domain`. Read `context/job.py`
first, then `river/imports.py`. To add a job, add its module here and its command in `cli/`.
"""
