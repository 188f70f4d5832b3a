"""The program's door: `cardoffers`, or `python -m cardoffers_cli`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line of this process."""
    from typer.main import get_command  # noqa: PLC0415

    from cardoffers_cli.cli import exits  # noqa: PLC0415
    from cardoffers_cli.cli.main import app  # noqa: PLC0415

    exits.end_on_sigterm()
    get_command(app).main(args=sys.argv[1:], prog_name="cardoffers")


if __name__ == "__main__":
    main()
