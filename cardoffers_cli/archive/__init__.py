"""The archive: what grows with purchases, as Parquet here or in a bucket, and other engines.

`archive.py` says what a store's archive holds (read it first), `buckets.py` and `connecting.py`
reach it, `export.py` moves rows there and makes few parts of many, `target.py` is where rows go.
`duck.py` and `spark.py` run the plans of `river/plan/`; `river/engines.py` calls them. May import
the kernel and intake; pyspark, grpc and fsspec are imported here. To add an engine, add a module
with the same functions as `duck.py`.
"""
