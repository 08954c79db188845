//! Reads from the header of a trace that it lies beside another one.

use serde_json::Value;

use super::edit_log::{BESIDE, edits};
use crate::trace::Trace;

/// The trace of another tool on the time axis of the trace that it describes: no rank of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Companion {
    /// The tool.
    pub tool: String,
    /// The method that placed it: `annotations`, `recorded` or `offset`.
    pub align: String,
    /// The nanoseconds that were added to its times.
    pub offset_ns: i64,
    /// The median distance of single annotations from the offset, in nanoseconds.
    pub spread_ns: Option<i64>,
    /// Annotations that fit the offset.
    pub num_matches: u64,
    /// Annotations that both traces have.
    pub num_common: u64,
}

impl Companion {
    /// `None` for a trace that is no companion. The sum of all moves, with the method of the last.
    pub fn of(trace: &Trace) -> Option<Self> {
        let edits = edits(trace);
        let moves = || edits.iter().filter(|edit| edit["edit"] == BESIDE);
        let last = moves().next_back()?;
        let text = |key: &str| last[key].as_str().unwrap_or_default().to_owned();
        Some(Self {
            tool: text("tool"),
            align: text("align"),
            offset_ns: moves().filter_map(offset).fold(0, i64::saturating_add),
            spread_ns: last["spread_ns"].as_i64(),
            num_matches: last["num_matches"].as_u64().unwrap_or_default(),
            num_common: last["num_common"].as_u64().unwrap_or_default(),
        })
    }
}

fn offset(edit: &Value) -> Option<i64> {
    edit["offset_ns"].as_i64()
}
