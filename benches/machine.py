"""Versions and machine of a measurement."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timezone
from pathlib import Path

import kinetoscope as ks


def conditions() -> str:
    """The day, the versions, the machine, and what else it was doing."""
    day = f"{datetime.now(timezone.utc):%Y-%m-%d}"
    load = f"load {os.getloadavg()[0]:.1f} before the first case" if hasattr(os, "getloadavg") else ""
    return ", ".join(filter(None, [day, f"kinetoscope {ks.__version__}", _python(), _machine(), load]))


def _python() -> str:
    return f"Python {platform.python_version()}"


def _machine() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    models = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in models if line.startswith("model name")), "unknown CPU")
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores of {model}"
