//! Keeps defects in the header of a written trace: the file has no sign of what was lost before.

use serde_json::{Map, Value};

use crate::error::Position;
use crate::trace::Trace;
use crate::warning::{WarningKind, Warnings};

/// The key in the header: how often each defect was found, by its name.
pub(crate) const KEY: &str = "kinetoscope_defects";

/// Defects that lose something, or that are mended in what is written.
const KEPT: [WarningKind; 11] = [
    WarningKind::Truncated,
    WarningKind::DamagedCompression,
    WarningKind::SecondDocument,
    WarningKind::MalformedElement,
    WarningKind::NotAnEvent,
    WarningKind::LostPacket,
    WarningKind::DamagedMessage,
    WarningKind::DamagedTable,
    WarningKind::OversizedValue,
    WarningKind::UnmatchedEnd,
    WarningKind::UnfinishedBegin,
];

/// The value of the key, as JSON; `None` where nothing was lost.
pub(crate) fn text<'a>(traces: impl Iterator<Item = &'a Trace>) -> Option<String> {
    let mut all = Warnings::default();
    traces.for_each(|trace| all.extend(&trace.warnings));
    let kept = all.iter().filter(|warning| KEPT.contains(&warning.kind));
    let counts: Map<String, Value> =
        kept.map(|warning| (warning.kind.name().to_owned(), warning.count.into())).collect();
    (!counts.is_empty()).then(|| Value::Object(counts).to_string())
}

/// Turns the key of a header that was read into warnings.
pub(crate) fn take(trace: &mut Trace) {
    let Some(Value::Object(counts)) = trace.header_value(KEY) else { return };
    for kind in KEPT {
        let count = counts.get(kind.name()).and_then(Value::as_u64).unwrap_or(0);
        trace.warnings.push_many(kind, count, Position::default);
    }
    let strings = &trace.strings;
    trace.header.retain(|(key, _)| strings.text(*key) != KEY);
}
