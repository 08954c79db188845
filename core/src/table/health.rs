//! The table of defects.

use super::column::{Column, Table, int, put, text};
use crate::chakra::Chakra;
use crate::flight::FlightRecorder;
use crate::link::LinkedTrace;
use crate::memory::{MemorySnapshot, MemoryTimeline};
use crate::warning::Warning;

/// A recording with counted defects.
pub(super) trait HasHealth: 'static {
    /// All kinds of defects, in the order of first sight.
    fn counted(&self) -> impl Iterator<Item = &Warning>;
}

/// One row a kind of defect.
pub(super) static HEALTH: Table = health();
/// The same of a Chakra trace.
pub(super) static CHAKRA_HEALTH: Table<Chakra> = health();
/// The same of a memory snapshot.
pub(super) static MEMORY_SNAPSHOT_HEALTH: Table<MemorySnapshot> = health();
/// The same of a memory timeline.
pub(super) static MEMORY_TIMELINE_HEALTH: Table<MemoryTimeline> = health();
/// The same of a flight recorder.
pub(super) static FLIGHT_HEALTH: Table<FlightRecorder> = health();

const fn health<S: HasHealth>() -> Table<S> {
    let num_rows = |source: &S| source.counted().count();
    Table {
        name: "health",
        doc: "a kind of defect, with its count and first position",
        num_rows,
        columns: HealthColumns::<S>::ALL,
    }
}

struct HealthColumns<S>(std::marker::PhantomData<S>);

impl<S: HasHealth> HealthColumns<S> {
    const ALL: &'static [Column<S>] = &[
        text("kind", |source, row, out| warning(source, row).is_some_and(|warning| put(out, warning.kind.name()))),
        int("count", |source, row| warning(source, row).map(|warning| warning.count as i64)),
        text("severity", |source, row, out| {
            warning(source, row).is_some_and(|warning| put(out, warning.kind.severity().name()))
        }),
        text("message", |source, row, out| {
            warning(source, row).is_some_and(|warning| put(out, warning.kind.message()))
        }),
        text("first", |source, row, out| {
            let place = warning(source, row).map(|warning| warning.first.to_string());
            place.is_some_and(|place| !place.is_empty() && put(out, &place))
        }),
    ];
}

fn warning<S: HasHealth>(source: &S, row: usize) -> Option<&Warning> {
    source.counted().nth(row)
}

impl HasHealth for LinkedTrace {
    fn counted(&self) -> impl Iterator<Item = &Warning> {
        self.warnings()
    }
}

impl HasHealth for Chakra {
    fn counted(&self) -> impl Iterator<Item = &Warning> {
        self.warnings.iter()
    }
}

impl HasHealth for MemorySnapshot {
    fn counted(&self) -> impl Iterator<Item = &Warning> {
        self.warnings.iter()
    }
}

impl HasHealth for MemoryTimeline {
    fn counted(&self) -> impl Iterator<Item = &Warning> {
        self.warnings.iter()
    }
}

impl HasHealth for FlightRecorder {
    fn counted(&self) -> impl Iterator<Item = &Warning> {
        self.warnings.iter()
    }
}
