"""A missing optional library: one sentence with the command that installs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

READ = "import kinetoscope as ks; trace = ks.read({path!r}); "
GRAPH = "from kinetoscope.hta.path_graph import _networkx; _networkx()"
CALLBACKS = "import kinetoscope.callbacks."
CASES = {
    "to_polars": (READ + "trace.events.to_polars()", ["polars"], "polars for to_polars", "'kinetoscope[polars]'"),
    "to_arrow": (READ + "trace.events.to_arrow()", ["pyarrow"], "pyarrow for to_arrow", "'kinetoscope[pyarrow]'"),
    "to_pandas": (READ + "trace.events.to_pandas()", ["pandas"], "pandas for to_pandas", "'kinetoscope[pandas]'"),
    "to_pandas, arrow": (
        *(READ + "trace.events.to_pandas()", ["pyarrow"]),
        *("pyarrow for to_pandas", "'kinetoscope[pandas]'"),
    ),
    "parquet": (READ + "trace.export('x.parquet')", ["pyarrow"], "pyarrow for .parquet", "'kinetoscope[pyarrow]'"),
    "xlsx": (READ + "trace.to_xlsx('x.xlsx')", ["xlsxwriter"], "xlsxwriter for .xlsx", "'kinetoscope[xlsx]'"),
    "sql": (READ + "trace.sql('select 1')", ["duckdb"], "duckdb for sql", "'kinetoscope[sql]'"),
    "timeline": (READ + "trace.timeline()", ["anywidget"], "anywidget for timeline()", "anywidget"),
    "remote": (
        *("import kinetoscope as ks; ks.read('memory://x')", ["fsspec", "fsspec.core"]),
        *("fsspec for memory://x", "'kinetoscope[remote]'"),
    ),
    "hta": ("import kinetoscope.hta", ["pandas"], "pandas for kinetoscope.hta", "'kinetoscope[pandas]'"),
    "hta, arrow": (
        *("import kinetoscope.hta.trace_analysis", ["pyarrow"]),
        *("pyarrow for kinetoscope.hta", "'kinetoscope[pandas]'"),
    ),
    "networkx": (GRAPH, ["networkx"], "networkx for this critical path", "networkx"),
    "lightning": (
        *(CALLBACKS + "lightning", ["lightning", "pytorch_lightning"]),
        *("pytorch_lightning for kinetoscope.callbacks.lightning", "'kinetoscope[lightning]'"),
    ),
    "transformers": (
        *(CALLBACKS + "transformers", ["transformers"]),
        *("transformers for kinetoscope.callbacks.transformers", "'kinetoscope[transformers]'"),
    ),
    "accelerate": (
        *(CALLBACKS + "accelerate", ["accelerate", "accelerate.utils"]),
        *("accelerate for kinetoscope.callbacks.accelerate", "'kinetoscope[accelerate]'"),
    ),
}


@pytest.mark.parametrize(("code", "blocked", "missing", "install"), CASES.values(), ids=CASES)
def test_the_error_has_the_command(
    code: str, blocked: list[str], missing: str, install: str, data: Path, tmp_path: Path
) -> None:
    before = f"import sys; sys.modules |= dict.fromkeys({blocked!r})\n"
    program = before + code.format(path=str(data / "minimal_cpu/kineto_trace_0.json.gz"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    expected = f"ImportError: expected {missing}"
    last = done.stderr.splitlines()[-1]
    assert (last.startswith(expected), last.endswith(f", found none: pip install {install}")) == (True, True), last
    assert "During handling" not in done.stderr
