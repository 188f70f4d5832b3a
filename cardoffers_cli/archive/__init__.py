"""The archive: what grows with purchases, outside of the store, and Spark, which works there.

Here live the archive of an open store (`archive.py`, read it first), its parts and which of them
are to become one (`parts.py`), where it may be (`places.py`: a folder; `buckets.py`: below a URL),
and the engine that reads it in place: where that works and what it is given (`target.py`), its
plans (`spark.py`), its session (`connecting.py`), what it raises (`failures.py`). Users read
*history* where the code says archive: in messages, settings, fields and the tables of the store.
May import `domain`, `sql` and `lasting`; the store that lists an archive is known here by what it
can be asked (`Lister`). pyspark is imported nowhere else, fsspec by `pickup` too. To add a table
that is archived, name it in `parts.py` and in the headers of `sql/archive/`.
"""
