//! Counts events with a defect as one warning.

use crate::error::Position;
use crate::trace::Trace;
use crate::warning::{WarningKind, Warnings};

/// Counts events, given by row, as of one kind.
pub(super) fn count_events(
    trace: &Trace,
    kind: WarningKind,
    rows: impl Iterator<Item = usize>,
    warnings: &mut Warnings,
) {
    let (mut count, mut first) = (0, None);
    for row in rows {
        count += 1;
        first.get_or_insert(row);
    }
    let event = first.map(|row| u64::from(trace.events.position.at(row)));
    warnings.push_many(kind, count, || Position { event, ..Position::default() });
}
