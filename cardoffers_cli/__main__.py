"""The program's door: `cardoffers`, or `python -m cardoffers_cli`."""

from __future__ import annotations

from cardoffers_cli.kernel.cli.main import main

if __name__ == "__main__":
    main()
