"""Run a card-linked-offers service as batch jobs on a DuckDB store."""

__version__ = "0.1.0"
