//! Counts the edits of a trace.

use crate::trace::Trace;

pub(super) const TRIMMED: &str = "trimmed";
pub(super) const REDACTED: &str = "redacted";

/// Kinds of removed rows when a trace is shrunk: key and display name.
pub(super) const SHRUNK: [(&str, &str); 6] = [
    ("shrunk_event", "short host events"),
    ("shrunk_frame", "Python frames"),
    ("shrunk_node", "Execution Trace nodes"),
    ("shrunk_instant", "instant events, such as allocations"),
    ("shrunk_arguments", "event arguments that no table shows"),
    ("shrunk_flow", "flow arrows that duplicate launches"),
];

/// Number of edited rows of a trace, by kind of edit.
pub(super) fn edits(trace: &Trace) -> Vec<(String, u64)> {
    let is_edit = |name: &str| name == TRIMMED || name == REDACTED || SHRUNK.iter().any(|(kind, _)| *kind == name);
    let edits = trace.warnings.iter().filter(|warning| is_edit(warning.kind.name()));
    edits.map(|warning| (warning.kind.name().to_owned(), warning.count)).collect()
}
