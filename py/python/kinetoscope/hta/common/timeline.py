"""Timelines of the events in a frame."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

import pandas

from kinetoscope._base.warnings import warn
from kinetoscope.hta import drawing
from kinetoscope.hta.common.trace_df import (
    find_events_by_name_patterns_using_decoded_names,
    find_events_by_name_patterns_using_symbol_table,
)
from kinetoscope.hta.common.trace_filter import Filter
from kinetoscope.hta.common.trace_symbol_table import TraceSymbolTable

AnnotationStreamID: int = 0
"""The `stream` of annotations over kernels."""
CPUStreamID: int = -1
"""The `stream` of host events."""
DefaultTTL: int = 3600 * 24 * 30
"""30 days, in seconds."""

DefaultMustHaveColumns: list[str] = ["name", "ts", "dur"]
"""Columns that a frame must have."""
DefaultHoverColumns: list[str] = ["trace", "rank", "iteration", "stream", "cat", "index"]
"""Columns for tooltips."""
DefaultTaskLabelColumns: list[str] = ["stream", "rank", "trace", "depth"]
"""Columns whose values select the row of an event."""
DefaultCallStackHoverColumns: list[str] = [
    *("name", "cat", "index", "ts", "dur", "rank", "stream"),
    *("height", "depth", "tid", "index_correlation"),
]
"""Columns for tooltips of events with call stacks."""

REQUIRED_COLUMNS_FOR_CPU_GPU_ALIGNMENT = {
    *("index", "stream", "ts", "dur", "name"),
    *("first_kernel_start", "kernel_span", "num_kernels"),
}
"""Columns that `align_module_with_kernels` needs; a `CallGraph` adds the last three."""

_LONGEST_NAME = 45
_SHORTEST_LIMIT = 20
_KEPT = re.compile(r"##.+##$|<.+>$|Mem\w+(\s+\w+)?\s+\(.+\)$")
_BEFORE_ARGUMENTS = re.compile(r"[\w_:.#\s<>,]+")
_SHORT_FORMS = (
    ("(anonymous namespace)::", "anon::"),
    ("autograd::engine::evaluate_function: ", "autograd::"),
)


class EventType(Enum):
    """Device type of the events of a timeline."""

    GPUEvents = 0
    CPUEvents = 1
    AllEvents = 2


class PlotFormat(Enum):
    """Output of a timeline."""

    HTML = "html"
    """Return an HTML page."""
    Inline = "inline"
    """Show the picture."""
    File = "file"
    """Only write a file."""


@dataclass
class TimelinePlotSetting:
    """Columns, contents and size of a timeline."""

    auto_detect: bool = True
    """Whether `auto_detect_setting` sets the four fields below from the frame."""
    event_type: EventType = EventType.GPUEvents
    multi_ranks: bool = False
    multi_traces: bool = False
    multi_streams: bool = True
    x_start_column: str = "calibrated_start_global"
    x_end_column: str = "calibrated_end_global"
    task_column: str = "task"
    """Column with the label of an event's row."""
    color_column: str = "name"
    task_height: int = 30
    """Height of a row, in pixels."""
    amplify_short_events: bool = True
    short_events_display_duration: int = 1000
    """Displayed length of a short event, in µs."""
    use_global_time: bool = False
    """Whether to show datetimes, instead of µs since the first event."""
    plot_format: PlotFormat = PlotFormat.Inline
    compress_threads: bool = True
    """Whether host events of all threads share a row per depth."""


DefaultTimelinePlotSetting: TimelinePlotSetting = TimelinePlotSetting()
"""Default setting. `auto_detect_setting` changes it in place."""


def auto_detect_setting(events: pandas.DataFrame, setting: TimelinePlotSetting) -> None:
    """Sets `event_type`, `multi_ranks`, `multi_traces` and `multi_streams` from a frame.

    Does nothing if `auto_detect` is false.
    """
    if not setting.auto_detect:
        return
    setting.multi_ranks, setting.multi_traces, setting.multi_streams = (
        column in events.columns and len(events[column].dropna().unique()) > 1 for column in ("rank", "trace", "stream")
    )
    streams = set(events["stream"].unique()) if "stream" in events.columns else {CPUStreamID}
    if CPUStreamID not in streams:
        setting.event_type = EventType.GPUEvents
    else:
        setting.event_type = EventType.AllEvents if len(streams) > 1 else EventType.CPUEvents


def align_module_with_kernels(
    events_df: pandas.DataFrame,
    module_list: list[str],
    sym_table: TraceSymbolTable | None = None,
    include_original_cpu_events: bool = False,
) -> pandas.DataFrame:
    """Returns device events, and annotations over the kernels of matching host events.

    An annotation is a copy of the host event on stream 0. It runs from the start of the first
    kernel to the end of the last kernel. Patterns are regular expressions, matched at the start of
    names. Raises ValueError if columns are missing.
    """
    if missing := REQUIRED_COLUMNS_FOR_CPU_GPU_ALIGNMENT - set(events_df.columns):
        hint = "make a CallGraph of the trace first"
        raise ValueError(
            f"expected {sorted(REQUIRED_COLUMNS_FOR_CPU_GPU_ALIGNMENT)}, missing {sorted(missing)}; {hint}"
        )
    launching: pandas.DataFrame = events_df.loc[events_df["stream"].eq(CPUStreamID) & events_df["num_kernels"].ge(1)]
    matching = launching.loc[launching["index"].isin(_matching(launching, module_list, sym_table))]
    times = {"ts": matching["first_kernel_start"], "dur": matching["kernel_span"]}
    exact = {column: values.astype(events_df[column].dtype) for column, values in times.items()}
    annotations = matching.assign(**exact, stream=AnnotationStreamID)
    streams = events_df["stream"]
    kept = streams.ne(AnnotationStreamID) if include_original_cpu_events else streams.gt(AnnotationStreamID)
    return pandas.concat([events_df.loc[kept], annotations], ignore_index=True)


def prepare_timeline_events(
    df: pandas.DataFrame,
    setting: TimelinePlotSetting = DefaultTimelinePlotSetting,
    symbol_table: TraceSymbolTable | None = None,
    hover_columns: list[str] | None = None,
) -> pandas.DataFrame:
    """Adds the columns that `plot_events_timeline` needs, and sorts by row and time.

    `ts` counts from the first event, in µs. With a symbol table, decodes and shortens `name` and
    `cat`. If rows or columns are missing, warns (RuntimeWarning) and returns an empty frame.
    """
    missing = sorted(set(DefaultMustHaveColumns) - set(df.columns))
    if df.empty or missing:
        found = "no events" if df.empty else f"no columns {missing}"
        warn(f"no timeline was prepared: expected events with {DefaultMustHaveColumns}, found {found}")
        return pandas.DataFrame()
    wanted = {*DefaultMustHaveColumns, *DefaultTaskLabelColumns, *(hover_columns or DefaultHoverColumns)}
    events: pandas.DataFrame = df[[column for column in df.columns if column in wanted]].copy()
    auto_detect_setting(df, setting)
    if symbol_table is not None:
        _decode(events, symbol_table)
    _add_times(events, setting)
    events[setting.task_column] = _set_task_names(events, setting)
    return events.sort_values(by=_get_sort_columns(events, setting), kind="stable")


def plot_events_timeline(
    title: str,
    events: pandas.DataFrame,
    setting: TimelinePlotSetting = DefaultTimelinePlotSetting,
    hover_columns: list[str] | None = None,
    output_image_path: str | None = None,
) -> str | None:
    """Draws events that `prepare_timeline_events` prepared.

    Returns an HTML page if the setting's format is HTML.

    Writes `output_image_path`, if given, as `.html` or as an image. Draws with plotly if plotly is
    installed, otherwise SVG. If rows or columns are missing, warns (RuntimeWarning) and draws
    nothing.
    """
    if not _check_timeline_input(events, setting):
        return None
    hover = [column for column in hover_columns or DefaultHoverColumns if column in events.columns]
    columns = drawing.Columns(
        setting.x_start_column, setting.x_end_column, setting.task_column, setting.color_column, hover
    )
    intervals = drawing.Intervals(title, events, columns, setting.task_height)
    drawing.draw_intervals(intervals, output_image_path, is_shown=setting.plot_format == PlotFormat.Inline)
    return drawing.intervals_html(intervals) if setting.plot_format == PlotFormat.HTML else None


def get_fig_title_from_fig_name(fig_name: str, sep: str = r"\s+|_+|-+") -> str:
    """Returns a title such as `My Figure` from a name such as `my_figure`."""
    return " ".join(word.capitalize() for word in re.split(sep, fig_name or "untitled_figure") if word)


def get_fig_name_from_fig_title(title: str) -> str:
    """Returns a name such as `my_figure` from a title such as `My Figure`."""
    return "_".join((title or "Untitled Figure").lower().split())


class Timeline:
    """The timeline of a frame, prepared and ready to be drawn."""

    def __init__(
        self,
        timeline_events: pandas.DataFrame,
        symbol_table: TraceSymbolTable,
        filter_func: Filter | None = None,
        setting: TimelinePlotSetting = DefaultTimelinePlotSetting,
        hover_columns: list[str] | None = None,
    ) -> None:
        self.timeline_events: pandas.DataFrame = timeline_events
        """The prepared events."""
        self.symbol_table: TraceSymbolTable = symbol_table
        self.setting: TimelinePlotSetting = setting
        self.hover_columns: list[str] = hover_columns or DefaultHoverColumns
        """Columns for tooltips."""
        self.prepare(filter_func)

    @staticmethod
    def is_timeline_events(df: pandas.DataFrame, setting: TimelinePlotSetting) -> bool:
        """Returns whether a frame has the columns of prepared events."""
        return {setting.task_column, setting.x_start_column, setting.x_end_column} <= set(df.columns)

    def prepare(self, filter_func: Filter | None = None) -> None:
        """Filters and prepares the events, unless they are prepared already."""
        if self.is_timeline_events(self.timeline_events, self.setting):
            return
        if filter_func:
            self.timeline_events = filter_func(self.timeline_events, self.symbol_table).copy()
        self.timeline_events = prepare_timeline_events(
            self.timeline_events, self.setting, self.symbol_table, self.hover_columns
        )

    def plot(self, title: str, save_path: str | None = None) -> None:
        """Draws the timeline; `save_path` is `output_image_path` of `plot_events_timeline`."""
        plot_events_timeline(
            title,
            self.timeline_events,
            setting=self.setting,
            hover_columns=self.hover_columns,
            output_image_path=save_path,
        )


def _check_timeline_input(df: pandas.DataFrame, setting: TimelinePlotSetting) -> bool:
    needed = {setting.x_start_column, setting.x_end_column, setting.task_column, setting.color_column}
    missing = sorted(needed - set(df.columns))
    if df.empty or missing:
        found = "no events" if df.empty else f"no columns {missing}"
        warn(f"no timeline was drawn: expected events with {sorted(needed)}, found {found}; prepare_timeline_events")
        return False
    return True


def _matching(events: pandas.DataFrame, patterns: list[str], symbol_table: TraceSymbolTable | None) -> pandas.Series:
    """Returns `index` of the events with matching names."""
    if symbol_table is not None and not pandas.api.types.is_string_dtype(events["name"]):
        return find_events_by_name_patterns_using_symbol_table(events, patterns, symbol_table)
    for column in ("name", "s_name"):
        if column in events.columns and pandas.api.types.is_string_dtype(events[column]):
            return find_events_by_name_patterns_using_decoded_names(events, patterns, column)
    raise ValueError("expected texts in name or s_name, found numbers; pass the table of symbols")


def _simplify_name(name: str, max_length: int = _LONGEST_NAME) -> str:
    """Shortens a name to at most `max_length` characters (20 or more), without its arguments."""
    if not _KEPT.match(name):
        for long, short in _SHORT_FORMS:
            name = re.sub(r"^void\s+", "", name.replace(long, short))
        if found := _BEFORE_ARGUMENTS.match(name):
            name = found[0]
    longest = max(_SHORTEST_LIMIT, max_length)
    return name if len(name) < longest else f"{name[: longest - 3]}..."


def _decode(events: pandas.DataFrame, symbol_table: TraceSymbolTable) -> None:
    texts = [_simplify_name(symbol) for symbol in symbol_table.get_sym_table()]
    for column in {"name", "cat"} & set(events.columns):
        if pandas.api.types.is_integer_dtype(events[column]):
            events[column] = events[column].map(texts.__getitem__)


def _add_times(events: pandas.DataFrame, setting: TimelinePlotSetting) -> None:
    """Adds starts and ends, and shifts `ts` to start at the first event."""
    first = events["ts"].min()
    events["ts"] -= first
    shortest = setting.short_events_display_duration if setting.amplify_short_events else None
    ends = {
        setting.x_start_column: events["ts"],
        setting.x_end_column: events["ts"] + events["dur"].clip(lower=shortest),
    }
    for column, moments in ends.items():
        events[column] = pandas.to_datetime(moments + first, unit="us") if setting.use_global_time else moments


def _set_task_names(events: pandas.DataFrame, setting: TimelinePlotSetting) -> pandas.Series:
    """Returns the label of each event's row."""
    labels = []
    if setting.multi_traces:
        labels.append(_numbered("trace", events["trace"]))
    if setting.multi_ranks:
        labels.append(_numbered("rank", events["rank"]))
    if setting.event_type == EventType.CPUEvents:
        labels += _host_labels(events, setting)
    elif setting.event_type == EventType.GPUEvents and setting.multi_streams:
        labels.append(_numbered("gpu stream", events["stream"]))
    else:
        labels.append(_mixed_label(events))
    tasks = labels[0] if labels else pandas.Series("cpu events", index=events.index)
    for label in labels[1:]:
        tasks = tasks + " " + label
    return tasks


def _numbered(prefix: str, column: pandas.Series) -> pandas.Series:
    """Returns labels of equal width, so that text order equals numeric order."""
    if pandas.api.types.is_string_dtype(column):
        return f"{prefix} " + column.str.pad(width=5, side="right")
    return f"{prefix} " + column.astype(str).str.zfill(3)


def _host_labels(events: pandas.DataFrame, setting: TimelinePlotSetting) -> list[pandas.Series]:
    columns = {"depth": "cpu level"} if setting.compress_threads else {"tid": "tid", "depth": "cpu level"}
    return [_numbered(prefix, events[column]) for column, prefix in columns.items() if column in events.columns]


def _mixed_label(events: pandas.DataFrame) -> pandas.Series:
    streams = events["stream"]
    host = _numbered("cpu level", events["depth"]) if "depth" in events.columns else "cpu events"
    device = _numbered("gpu stream", streams).where(streams.ne(AnnotationStreamID), "gpu annotate")
    return device.where(streams.ne(CPUStreamID), host)


def _get_sort_columns(events: pandas.DataFrame, setting: TimelinePlotSetting) -> list[str]:
    columns = ["trace"] * setting.multi_traces + ["rank"] * setting.multi_ranks
    if setting.event_type == EventType.CPUEvents:
        columns += ["tid", "depth"]
    else:
        columns.append("stream")
    return [column for column in [*columns, "ts"] if column in events.columns]
