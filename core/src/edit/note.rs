//! What was done to a trace, in its header: so a file of it says so, too.

use serde_json::Value;

use crate::trace::Trace;

/// The key in the Kineto file's header: a list of what was done, in its order.
pub(super) const KEY: &str = "kinetoscope_edits";

/// Adds to the list.
pub(super) fn note(trace: &mut Trace, words: &Value) {
    let mut list = match trace.header_value(KEY) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    list.push(words.clone());
    let (key, text) = (trace.strings.intern(KEY), Value::Array(list).to_string());
    let text = trace.strings.intern(&text);
    trace.header.retain(|(other, _)| *other != key);
    trace.header.push((key, text));
}
