"""Reads a trace, links it and writes its report with an installed wheel: `wheel_smoke.py TRACE`."""

import sys
from pathlib import Path

import kinetoscope as ks

trace = ks.read(sys.argv[1])
if not len(trace.events) or not len(trace.nodes):
    sys.exit(f"expected events and nodes, found {len(trace.events)} and {len(trace.nodes)}")
print(trace)
trace.report("report.html")
report = Path("report.html").read_text(encoding="utf-8")
if "<script" not in report or "<table" not in report:
    sys.exit("expected a report with tables and a timeline, found neither or one")
widget = trace.timeline()
if not widget._esm:  # noqa: SLF001 - anywidget keeps the module there; empty means that the wheel lacks the bundle
    sys.exit("expected the widget's module in the wheel, found none")
