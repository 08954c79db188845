"""Calls that exist on some operating systems only, and text files without an encoding."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

MODULES = {"fcntl", "grp", "msvcrt", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty", "winreg"}
"""Modules that another system lacks."""

CALLS = {
    "os": {
        *("chown", "chroot", "fork", "forkpty", "getegid", "geteuid", "getgid", "getloadavg", "getpgid", "getpgrp"),
        *(
            "getpriority",
            "getuid",
            "initgroups",
            "killpg",
            "lchown",
            "mkfifo",
            "mknod",
            "nice",
            "openpty",
            "posix_spawn",
        ),
        *(
            "register_at_fork",
            "sched_getaffinity",
            "sched_setaffinity",
            "sendfile",
            "setpriority",
            "setsid",
            "startfile",
        ),
        *("statvfs", "sysconf", "uname", "wait", "waitpid", "O_BINARY", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK"),
        *("PRIO_PROCESS", "name", "sep", "altsep"),
    },
    "signal": {
        "SIGALRM",
        "SIGHUP",
        "SIGKILL",
        "SIGQUIT",
        "SIGUSR1",
        "SIGUSR2",
        "alarm",
        "pthread_sigmask",
        "setitimer",
    },
    "sys": {"platform"},
    "time": {"clock_gettime", "tzset"},
    "shlex": {"quote", "split"},
}
"""Names of modules that another system lacks, or that answer differently there."""

TEXT_METHODS = {"read_text", "write_text"}


def dependent(name: str, source: str) -> list[str]:
    """Uses of a name that only some systems have."""
    return [f"{name}:{line}: {used} differs between systems: call _base/system.py" for line, used in _uses(source)]


def without_encoding(name: str, source: str) -> list[str]:
    """Text files whose encoding would be the system's: a code page on Windows."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [
        f"{name}:{call.lineno}: expected encoding=, found none" for call in calls if _is_text_without_encoding(call)
    ]


def _uses(source: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = CALLS.get(module, set())
            yield from (
                (node.lineno, f"{module}.{alias.name}")
                for alias in node.names
                if module in MODULES or alias.name in names
            )
        elif _is_listed(node):
            yield node.lineno, ast.unparse(node)


def _is_listed(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether a node is one of `CALLS`."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return node.attr in CALLS.get(node.value.id, set())


def _is_text_without_encoding(call: ast.Call) -> bool:
    if any(keyword.arg in {"encoding", None} for keyword in call.keywords):
        return False
    if isinstance(call.func, ast.Attribute) and call.func.attr in TEXT_METHODS:
        return not (call.func.attr == "read_text" and call.args) and len(call.args) <= 1
    if isinstance(call.func, ast.Name) and call.func.id == "open":
        mode = _mode(call, 1)
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "open":
        mode = _mode(call, 0)
        return mode is not None and set(mode) <= set("rwxa+t") and bool(mode)
    else:
        return False
    return mode is None or "b" not in mode


def _mode(call: ast.Call, place: int) -> str | None:
    found = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] or call.args[place : place + 1]
    if found and isinstance(found[0], ast.Constant) and isinstance(found[0].value, str):
        return found[0].value
    return None
