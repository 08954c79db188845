"""Drop-in interface of HolisticTraceAnalysis (HTA): change only the imports of a program.

::

    from kinetoscope.hta.trace_analysis import TraceAnalysis
    from kinetoscope.hta.common import execution_trace

    analyzer = TraceAnalysis(trace_dir="traces")
    et = execution_trace.load_execution_trace("traces/torch_et_0.json.gz")
    execution_trace.correlate_execution_trace(analyzer.t, 0, et)
    execution_trace.add_et_column(analyzer.t.get_trace(0), et, "op_schema")

docs/hta.md lists the results that differ from HTA's, with the reasons. Needs pandas and pyarrow
(`kinetoscope[pandas]`).
"""

from kinetoscope._base.optional import expect

expect("kinetoscope.hta", "kinetoscope[pandas]", "pandas", "pyarrow")

from kinetoscope.hta.common import execution_trace  # noqa: E402 - after the check
from kinetoscope.hta.trace_analysis import TraceAnalysis  # noqa: E402 - as above

__all__ = ["TraceAnalysis", "execution_trace"]
