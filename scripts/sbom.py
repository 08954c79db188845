"""Writes the bill of materials of a wheel in the format CycloneDX.

It lists the packages of all wheels together, so that one file serves all. It has no time, no serial
number and no path, so that each machine writes the same bytes.
"""

from __future__ import annotations

import json
import re
from typing import Any

from third_party import Inventory, Package, text

_VERSION = re.compile(r'^version = "([^"]+)"', re.MULTILINE)
_ALGORITHMS = {"cargo": "SHA-256", "npm": "SHA-512"}


def document(found: Inventory) -> str:
    """The bill of materials as JSON."""
    version = _VERSION.search(text("Cargo.toml"))
    if version is None:
        raise ValueError("Cargo.toml: expected a version, found none")
    own = f"pkg:pypi/kinetoscope@{version[1]}"
    names = {"": own, **{title: _purl(package) for title, package in found.packages.items()}}
    content = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "pre-build"}],
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": "kinetoscope",
                "version": version[1],
                "licenses": [{"expression": "Apache-2.0"}],
                "purl": own,
            },
        },
        "components": [_component(package) for package in found.packages.values()],
        "dependencies": [
            {"ref": names[title], "dependsOn": sorted(names[used] for used in found.uses.get(title, ()))}
            for title in ("", *found.packages)
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _component(package: Package) -> dict[str, Any]:
    """An entry of the list."""
    version = {"version": package.version} if package.version else {}
    purl = {} if package.kind == "generic" else {"purl": _purl(package)}
    digest = [{"alg": _ALGORITHMS[package.kind], "content": package.digest}] if package.digest else []
    return {
        "type": "library",
        "bom-ref": _purl(package),
        "name": package.name,
        **version,
        "scope": "excluded" if package.is_macro else "required",
        **({"hashes": digest} if digest else {}),
        "licenses": [{"expression": package.license}],
        **purl,
        "externalReferences": [{"type": "website", "url": package.url}],
        "properties": [{"name": "kinetoscope:part", "value": part} for part in sorted(package.parts)],
    }


def _purl(package: Package) -> str:
    """The address of a package, which also identifies it in the file."""
    name = package.name.lower().replace(" ", "-")
    return f"pkg:{package.kind}/{name.replace('@', '%40')}{'@' + package.version if package.version else ''}"
