//! Allocator records of the profiler.

use rustc_hash::FxHashMap;

use super::device::MemoryDevice;
use crate::analyze::selection::Selection;
use crate::id::StrId;
use crate::link::LinkedTrace;
use crate::sort;
use crate::trace::Trace;
use crate::trace::args::FieldValue;
use crate::trace::flow::Instant;
use crate::trace::kind::EventKind;

/// A record of an allocator, at a point in time.
pub(in crate::analyze) struct AllocatorRecord<'a> {
    pub(in crate::analyze) instant: &'a Instant,
    trace: &'a Trace,
    numbers: FxHashMap<&'a str, i64>,
}

/// All of one name in a selection, by time; those of one time in the order of the file.
pub(in crate::analyze) fn allocator_records<'a>(
    selection: &Selection<'a>,
    name: &str,
) -> impl Iterator<Item = AllocatorRecord<'a>> + use<'a> {
    let trace = &selection.linked.trace;
    let mut instants: Vec<_> = trace
        .instants
        .iter()
        .filter(|instant| trace.strings.text(instant.name) == name)
        .filter(|instant| selection.has(instant.time))
        .collect();
    sort::by_key(&mut instants, |instant| (instant.time, instant.position));
    let numbers = move |instant: &Instant| {
        let pairs = trace.args.pairs(&trace.strings, instant.args);
        pairs.filter_map(|(key, value)| Some((key, value.parse().ok()?))).collect()
    };
    instants.into_iter().map(move |instant| AllocatorRecord { instant, trace, numbers: numbers(instant) })
}

impl AllocatorRecord<'_> {
    /// An argument that is a whole number.
    pub(in crate::analyze) fn number(&self, key: &str) -> Option<i64> {
        self.numbers.get(key).copied()
    }

    /// An argument that is the same text for many records, as JSON.
    pub(in crate::analyze) fn json(&self, key: &str) -> Option<StrId> {
        let fields = self.trace.args.template(self.instant.args).fields();
        fields.iter().find_map(|field| match field.value {
            FieldValue::Json(json) if self.trace.strings.text(field.key) == key => Some(json),
            _ => None,
        })
    }

    /// The device of the memory.
    pub(in crate::analyze) fn device(&self) -> MemoryDevice {
        (self.number("Device Type").unwrap_or(0), self.number("Device Id").unwrap_or(-1))
    }

    /// Row of the innermost event around it, on its thread.
    pub(in crate::analyze) fn around(&self, linked: &LinkedTrace) -> Option<u32> {
        linked.links.nesting.around(&linked.trace.events, self.instant.track, self.instant.time)
    }
}

/// Row of the innermost operator that an event is or is inside of.
pub(in crate::analyze) fn operator(linked: &LinkedTrace, row: u32) -> Option<u32> {
    let mut outwards = std::iter::successors(Some(row), |row| linked.links.nesting.parent.get(*row as usize));
    outwards.find(|row| linked.trace.events.kind[*row as usize] == EventKind::Operator)
}
