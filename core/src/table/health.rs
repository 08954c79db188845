//! The table of defects survived.

use super::{Column, Table, int, put, text};
use crate::chakra::Chakra;
use crate::link::LinkedTrace;
use crate::memory::{MemorySnapshot, MemoryTimeline};
use crate::warning::Warning;

/// A recording whose defects were counted.
pub(super) trait HasHealth: 'static {
    /// A kind of defect, in the order of first sight.
    fn warning(&self, row: usize) -> Option<&Warning>;
}

/// One row a kind of defect.
pub(super) static HEALTH: Table = health(|linked| linked.warnings().count());
/// The same of a Chakra trace.
pub(super) static CHAKRA_HEALTH: Table<Chakra> = health(|chakra| chakra.warnings.iter().len());
/// The same of a memory snapshot.
pub(super) static MEMORY_SNAPSHOT_HEALTH: Table<MemorySnapshot> = health(|snapshot| snapshot.warnings.iter().len());
/// The same of a memory timeline.
pub(super) static MEMORY_TIMELINE_HEALTH: Table<MemoryTimeline> = health(|timeline| timeline.warnings.iter().len());

const fn health<S: HasHealth>(num_rows: fn(&S) -> usize) -> Table<S> {
    Table { name: "health", doc: "a kind of defect survived", num_rows, columns: Columns::<S>::ALL }
}

struct Columns<S>(std::marker::PhantomData<S>);

impl<S: HasHealth> Columns<S> {
    const ALL: &'static [Column<S>] = &[
        text("kind", |source, row, out| source.warning(row).is_some_and(|warning| put(out, warning.kind.name()))),
        int("count", |source, row| source.warning(row).map(|warning| warning.count as i64)),
        text("severity", |source, row, out| {
            source.warning(row).is_some_and(|warning| put(out, warning.kind.severity().name()))
        }),
        text("message", |source, row, out| source.warning(row).is_some_and(|warning| put(out, warning.kind.message()))),
        text("first", |source, row, out| {
            source.warning(row).is_some_and(|warning| put(out, &warning.first.to_string()))
        }),
    ];
}

impl HasHealth for LinkedTrace {
    fn warning(&self, row: usize) -> Option<&Warning> {
        self.warnings().nth(row)
    }
}

impl HasHealth for Chakra {
    fn warning(&self, row: usize) -> Option<&Warning> {
        self.warnings.iter().nth(row)
    }
}

impl HasHealth for MemorySnapshot {
    fn warning(&self, row: usize) -> Option<&Warning> {
        self.warnings.iter().nth(row)
    }
}

impl HasHealth for MemoryTimeline {
    fn warning(&self, row: usize) -> Option<&Warning> {
        self.warnings.iter().nth(row)
    }
}
