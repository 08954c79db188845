//! Keeps defects in the header of a written trace: the file has no sign of what was lost before.

use serde_json::{Map, Value};

use crate::error::Position;
use crate::trace::Trace;
use crate::warning::{WarningKind, Warnings};

/// The key in the header: how often each defect was found, by its name.
pub(crate) const KEY: &str = "kinetoscope_defects";
/// The key with the same of each rank, in the file of a job.
pub(crate) const KEY_OF_RANKS: &str = "kinetoscope_defects_of_ranks";

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

/// The value of the key; `None` where nothing was lost.
pub(crate) fn counts(trace: &Trace) -> Option<Value> {
    let kept = trace.warnings.iter().filter(|warning| KEPT.contains(&warning.kind));
    let counts: Map<String, Value> =
        kept.map(|warning| (warning.kind.name().to_owned(), warning.count.into())).collect();
    (!counts.is_empty()).then_some(Value::Object(counts))
}

/// Turns the keys of a header that was read into warnings. Those of ranks stay in the header, until
/// the file is split.
pub(crate) fn take(trace: &mut Trace) {
    let of_file = trace.header_value(KEY);
    let of_ranks = match trace.header_value(KEY_OF_RANKS) {
        Some(Value::Object(ranks)) => ranks.into_iter().map(|(_, counts)| counts).collect(),
        _ => Vec::new(),
    };
    of_file.iter().chain(&of_ranks).for_each(|counts| warn(&mut trace.warnings, counts));
    forget(trace, KEY);
}

/// Leaves a rank of a job's file its own defects.
pub(crate) fn take_of_rank(trace: &mut Trace, rank: i64) {
    let Some(of_ranks) = trace.header_value(KEY_OF_RANKS) else { return };
    // Those that were found when the file was read have a place in it.
    trace.warnings.retain(|warning| warning.first != Position::default() || !KEPT.contains(&warning.kind));
    if let Some(counts) = of_ranks.get(rank.to_string()) {
        warn(&mut trace.warnings, counts);
    }
    forget(trace, KEY_OF_RANKS);
}

fn warn(warnings: &mut Warnings, counts: &Value) {
    for kind in KEPT {
        let count = counts.get(kind.name()).and_then(Value::as_u64).unwrap_or(0);
        warnings.push_many(kind, count, Position::default);
    }
}

fn forget(trace: &mut Trace, wanted: &str) {
    let strings = &trace.strings;
    trace.header.retain(|(key, _)| strings.text(*key) != wanted);
}
