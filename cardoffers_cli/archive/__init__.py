"""The archive: closed months as Parquet files, here or in a bucket, and other engines.

`archive.py` says what a store's archive holds (read it first), `buckets.py` and `connecting.py`
reach it, `parts.py` are its files, `export.py` moves rows there and merges them, `target.py` is
where rows go. `duck.py` and `spark.py` run the plans of `river/plan/`; `river/engines.py` calls
them. May import the kernel and intake; pyspark, grpc and fsspec are imported here. To add an
engine, add a module with the same functions as `duck.py`.
"""
