"""Print what an installation consists of, as a software bill of materials: CycloneDX 1.6, JSON.

    .locked/bin/python .ci/sbom.py > sbom.json

Run it with the Python of the environment that has the product. It lists the product and whatever it
reaches through the requirements that hold in that environment; what merely lies there, such as pip,
is left out. The same environment makes the same bytes: there is no time in it, and its serial
number is derived from the rest.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, distributions
from typing import Any
from uuid import NAMESPACE_URL, uuid5

PRODUCT = "cardoffers-cli"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def normal(name: str) -> str:
    """Return the one spelling of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed() -> dict[str, Distribution]:
    """Return what is installed, by name."""
    return {normal(each.metadata["Name"]): each for each in distributions()}


def requirements(found: dict[str, Distribution], name: str) -> list[str]:
    """Return the names of what one package requires and that is there.

    Markers are not evaluated: what is required elsewhere is not installed here, and what an extra
    would bring belongs to the installation if it was brought.
    """
    named = (_NAME.match(line) for line in found[name].requires or ())
    return sorted({normal(each[0]) for each in named if each} & found.keys() - {name})


def reached(found: dict[str, Distribution]) -> list[str]:
    """Return the names of the product and of all that it requires, step by step."""
    known, waiting = set[str](), [PRODUCT]
    while waiting:
        name = waiting.pop()
        if name not in known:
            known.add(name)
            waiting += requirements(found, name)
    return sorted(known)


def component(found: dict[str, Distribution], name: str) -> dict[str, Any]:
    """Return one package as a component."""
    metadata = found[name].metadata
    expression, text = metadata["License-Expression"], metadata["License"]
    licences: list[dict[str, Any]] = []
    if expression:
        licences = [{"expression": expression}]
    elif text and "\n" not in text:
        licences = [{"license": {"name": text}}]
    return {
        "type": "application" if name == PRODUCT else "library",
        "bom-ref": reference(found, name),
        "name": name,
        "version": found[name].version,
        "purl": reference(found, name),
        **({"licenses": licences} if licences else {}),
    }


def reference(found: dict[str, Distribution], name: str) -> str:
    """Return the package URL of one package."""
    return f"pkg:pypi/{name}@{found[name].version}"


def bill() -> dict[str, Any]:
    """Return the bill of materials of the environment that runs this."""
    found = installed()
    names = reached(found)
    content = {
        "metadata": {"component": component(found, PRODUCT)},
        "components": [component(found, name) for name in names if name != PRODUCT],
        "dependencies": [
            {
                "ref": reference(found, name),
                "dependsOn": [reference(found, each) for each in requirements(found, name)],
            }
            for name in names
        ],
    }
    serial = uuid5(NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        **content,
    }


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=1)
    sys.stdout.write("\n")
