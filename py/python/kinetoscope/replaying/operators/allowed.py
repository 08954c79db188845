"""Operators that a trace may name: no name of a trace leads to other code."""

from __future__ import annotations

import re

from kinetoscope.replaying.operators.schema import Signature, qualified

NAMESPACES = frozenset({"aten", "prims", "quantized", "mkldnn", "onednn", "fbgemm", "torchvision"})
"""Namespaces of operators that compute, and do nothing else."""

_FILES = re.compile(r"(^|_)(file|filename|path|url|uri)(name)?($|_)")
_REFUSED = {"aten::from_file", "aten::_print", "aten::format", "aten::manual_seed", "aten::set_grad_enabled"}
_RESERVED = {"load_library", "import_module", "classes", "loaded_libraries", "higher_order", "torch"}


def refusal(name: str, signature: Signature | None, namespaces: frozenset[str] = frozenset()) -> str | None:
    """Returns why an operator does not run, or None if it may.

    `namespaces` allows further libraries, which a user trusts.
    """
    found = qualified(name)
    if found is None:
        return "it is not an operator of a library"
    namespace, operator = found
    if namespace in _RESERVED or (namespace not in NAMESPACES and namespace not in namespaces):
        return f"the library {namespace[:40]} is not on the list: name it in namespaces (--namespaces) if you trust it"
    if f"{namespace}::{operator}" in _REFUSED:
        return "it does not only compute"
    if signature is not None and any(
        each.type.rstrip("?") == "str" and _FILES.search(each.name) for each in signature.parameters
    ):
        return "it names a file"
    return None
