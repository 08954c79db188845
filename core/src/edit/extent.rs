//! Reads the trimmed range of a trace from its header.

use serde_json::Value;

use super::edit_log::{BESIDE, TRIM, edits};
use crate::time::{TimeRange, Ts};
use crate::trace::Trace;

/// The range that a trace was trimmed to, and the extent of the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrimExtent {
    /// The range of interest. Events that reach beyond it are whole.
    pub range: TimeRange,
    /// From the first event of the recording to its last.
    pub whole: TimeRange,
}

impl TrimExtent {
    /// `None` for a whole recording. Several trims intersect. Trims before a move to another clock
    /// do not count.
    ///
    /// ```
    /// use kinetoscope::edit::{TrimExtent, trim};
    /// use kinetoscope::time::{TimeRange, Ts};
    /// use kinetoscope::{Input, Limits, LinkedTrace, read};
    /// let json = br#"[{"ph": "X", "cat": "cpu_op", "name": "a", "tid": 1, "ts": 1, "dur": 9}]"#;
    /// let linked = LinkedTrace::new(read([Input::new(json)], Limits::default())?);
    /// let range = TimeRange { start: Ts(2_000), end: Ts(3_000) };
    /// let extent = TrimExtent::of(&trim(&linked, range).trace);
    /// assert_eq!(extent, Some(TrimExtent { range, whole: linked.trace.range() }));
    /// assert_eq!(TrimExtent::of(&linked.trace), None);
    /// # Ok::<(), kinetoscope::Error>(())
    /// ```
    pub fn of(trace: &Trace) -> Option<Self> {
        let edits = edits(trace);
        // Earlier ranges are those of another clock.
        let edits = edits.rsplit(|edit| edit["edit"] == BESIDE).next()?;
        let trims: Vec<_> = edits.iter().filter(|edit| edit["edit"] == TRIM).collect();
        let whole = range(trims.first()?, ["whole_start_ns", "whole_end_ns"])?;
        let ranges = trims.into_iter().filter_map(|edit| range(edit, ["start_ns", "end_ns"]));
        let shared = |all: TimeRange, one: TimeRange| {
            let start = all.start.max(one.start);
            TimeRange { start, end: all.end.min(one.end).max(start) }
        };
        Some(Self { range: ranges.fold(whole, shared), whole })
    }
}

fn range(edit: &Value, [start, end]: [&str; 2]) -> Option<TimeRange> {
    let range = TimeRange { start: Ts(edit[start].as_i64()?), end: Ts(edit[end].as_i64()?) };
    (range.start <= range.end).then_some(range)
}
