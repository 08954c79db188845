"""What HTA's programs use besides its classes."""

from __future__ import annotations

import pandas

from kinetoscope.hta.common.trace_symbol_table import shorten_name

__all__ = ["flatten_column_names", "shorten_name"]


def flatten_column_names(df: pandas.DataFrame) -> None:
    """Joins the levels of the names of columns: `dur`, `sum` becomes `dur_sum`."""
    if isinstance(df.columns, pandas.MultiIndex):
        df.columns = ["_".join(str(level) for level in name).strip("_") for name in df.columns]
