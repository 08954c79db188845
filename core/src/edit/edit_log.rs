//! Records edits in the header of a trace.

use serde_json::Value;

use crate::trace::Trace;

/// The key in the Kineto file's header: a list of edits in their order.
pub(super) const KEY: &str = "kinetoscope_edits";

/// The name of a trim in the list.
pub(super) const TRIM: &str = "trim";

/// The name of the addition of a memory snapshot in the list.
pub(super) const MEMORY: &str = "memory";

/// The name of the move of another tool's trace to the time axis of a trace.
pub(super) const BESIDE: &str = "beside";

/// The list; none where nothing was done.
pub(super) fn edits(trace: &Trace) -> Vec<Value> {
    match trace.header_value(KEY) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

/// Adds to the list.
pub(super) fn note(trace: &mut Trace, words: &Value) {
    let mut list = edits(trace);
    list.push(words.clone());
    let (key, text) = (trace.strings.intern(KEY), Value::Array(list).to_string());
    let text = trace.strings.intern(&text);
    trace.header.retain(|(other, _)| *other != key);
    trace.header.push((key, text));
}
