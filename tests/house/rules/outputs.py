"""Files are written through `kinetoscope._io.atomic` alone, which protects what was read."""

from __future__ import annotations

import ast

_WRITERS = {"write_text", "write_bytes"}
_NATIVE = {"write_chrome", "write_execution", "write_et_plus", "write_chakra", "write_param_comms"}
"""Methods of `_native` that write a file."""


def bypasses(name: str, source: str) -> list[str]:
    """Places that write a file under its own name: neither a `temporary`, nor through `write_atomic`."""
    tree = ast.parse(source)
    guarded = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _name(node.func) in {"write_atomic", "write_bytes"}
        for argument in node.args
        for part in ast.walk(argument)
    }
    return [
        f"{name}:{node.lineno}: found {ast.unparse(node)[:60]!r}: write through kinetoscope._io.atomic"
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and id(node) not in guarded and _writes(node)
    ]


def _writes(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute) and node.attr in _NATIVE and _name(node.value) in {"native", "_native"}:
        return True
    if not isinstance(node, ast.Call):
        return False
    called = _name(node.func)
    if isinstance(node.func, ast.Attribute):
        receiver = node.func.value
        if isinstance(receiver, ast.Name) and receiver.id == "temporary":
            return False
        return called in _WRITERS or (called == "open" and _is_for_writing(node.args[:1], node))
    return called == "open" and _is_for_writing(node.args[1:2], node)


def _is_for_writing(modes: list[ast.expr], call: ast.Call) -> bool:
    modes = modes + [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    return any(isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax+") for mode in modes)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
