//! Classifies allocations by the phases in which they were made and released.

use rustc_hash::FxHashMap;

use super::allocation::Allocation;
use super::device::{MemoryDevice, put_device};
use super::row::MemoryRow;
use crate::analyze::selection::Selection;
use crate::id::StrId;
use crate::link::LinkedTrace;
use crate::memory::timeline::MemoryCategory;
use crate::sort;
use crate::sorted_map::SortedMap;
use crate::table::{Table, int, put_name, text};
use crate::time::{TimeRange, Ts, add_ns, sum_ns};
use crate::trace::kind::EventKind;

/// Allocations of one category on one device.
#[derive(Debug, Clone, Default)]
pub(crate) struct CategoryRow {
    device: MemoryDevice,
    category: &'static str,
    num_allocations: i64,
    allocated_bytes: i64,
    peak_bytes: i64,
    kept_bytes: i64,
}

pub(crate) static TABLE: Table<Vec<CategoryRow>> = Table {
    name: "memory_categories",
    doc: "one category of allocations on one device, inferred from their lifetimes",
    num_rows: Vec::len,
    columns: &[
        text("device", |rows, at, out| put_device(out, rows[at].device)),
        text("category", |rows, at, out| put_name(out, rows[at].category)),
        int("num_allocations", |rows, at| Some(rows[at].num_allocations)),
        int("allocated_bytes", |rows, at| Some(rows[at].allocated_bytes)),
        int("peak_bytes", |rows, at| Some(rows[at].peak_bytes)),
        int("kept_bytes", |rows, at| Some(rows[at].kept_bytes)),
    ],
};

/// The category of memory from before the first change.
pub(super) const PREEXISTING: &str = "preexisting";
const UNKNOWN: &str = MemoryCategory::Unknown.name();

/// The category of each allocation.
pub(super) fn names(selection: &Selection<'_>, lives: &[Allocation]) -> Vec<&'static str> {
    let mut phases = TrainingPhases::of(selection.linked);
    lives.iter().map(|life| phases.category(life)).collect()
}

/// Allocations by category, those that hold the most at their device's peak first.
///
/// Memory allocated inside `Optimizer.step` and never released is `optimizer_state`. Memory
/// allocated inside the backward pass is `gradient` if alive at its end, else `autograd_detail`.
/// Memory allocated before the pass and released in it is `activation`. Memory released by the
/// operator, backward operator or step that allocated it is `temporary`. `preexisting` was there
/// before the first change, according to the totals. The rest has the category that a
/// snapshot of the allocator told, or is `unknown`. So the `peak_bytes` of a device add up to its
/// `peak_allocated_bytes`.
pub(super) fn categories(lives: &[Allocation], names: &[&'static str], devices: &[MemoryRow]) -> Vec<CategoryRow> {
    let keys: Vec<_> = lives.iter().zip(names).map(|(life, name)| (life.made.device, *name)).collect();
    let of_devices = devices.iter().map(|row| (row.device, PREEXISTING));
    let mut rows: SortedMap<_, CategoryRow> = SortedMap::of(keys.iter().copied().chain(of_devices));
    for (key, row) in rows.iter_mut() {
        (row.device, row.category) = *key;
    }
    for (life, key) in lives.iter().zip(&keys) {
        let Some(row) = rows.get_mut(key) else { continue };
        row.num_allocations += i64::from(life.first.is_some());
        add_ns(&mut row.allocated_bytes, life.made_bytes());
        add_ns(&mut row.peak_bytes, if life.is_at_peak { life.made.bytes } else { 0 });
        add_ns(&mut row.kept_bytes, if life.until.is_none() { life.made.bytes } else { 0 });
    }
    for device in devices {
        let all = rows.iter().as_slice();
        let first = all.partition_point(|((of, _), _)| *of < device.device);
        let of_device = || all[first..].iter().take_while(|((of, _), _)| *of == device.device);
        let peak_bytes = sum_ns(of_device().map(|(_, row)| row.peak_bytes));
        let kept_bytes = sum_ns(of_device().map(|(_, row)| row.kept_bytes));
        // Where releases are missing, the others are more than the totals.
        let peak_bytes = device.peak_allocated_bytes.saturating_sub(peak_bytes).max(0);
        let kept_bytes = device.last_bytes.saturating_sub(kept_bytes).max(0);
        if let Some(row) = rows.get_mut(&(device.device, PREEXISTING)) {
            (row.peak_bytes, row.kept_bytes) = (peak_bytes, kept_bytes);
        }
    }
    let mut rows = rows.into_values();
    rows.retain(|row| row.num_allocations > 0 || row.peak_bytes != 0 || row.kept_bytes != 0);
    sort::by(&mut rows, |a, b| {
        a.device.cmp(&b.device).then_with(|| (b.peak_bytes, b.allocated_bytes).cmp(&(a.peak_bytes, a.allocated_bytes)))
    });
    rows
}

/// The training phase of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrainingPhase {
    Optimizer,
    Backward,
    Operator,
    None,
}

/// Times of backward passes, and the phase of each event.
struct TrainingPhases<'a> {
    linked: &'a LinkedTrace,
    parts: FxHashMap<StrId, TrainingPhase>,
    /// Backward passes, in the order of time.
    backward: Vec<TimeRange>,
}

impl<'a> TrainingPhases<'a> {
    fn of(linked: &'a LinkedTrace) -> Self {
        let mut phases = Self { linked, parts: FxHashMap::default(), backward: Vec::new() };
        let (events, nesting) = (&linked.trace.events, &linked.links.nesting);
        let mut outermost: Vec<(TimeRange, TrainingPhase)> = Vec::new();
        let mut is_inside = vec![false; events.len()];
        for row in nesting.order.iter().map(|row| *row as usize) {
            let part = phases.part(row);
            let is_covered = nesting.parent.get(row).is_some_and(|parent| is_inside[parent as usize]);
            is_inside[row] = is_covered || part != TrainingPhase::None;
            if part != TrainingPhase::None && !is_covered && !linked.trace.is_on_device(row) {
                outermost.push((TimeRange { start: events.start.at(row), end: events.end(row) }, part));
            }
        }
        sort::by_key(&mut outermost, |(range, _)| (range.start, range.end));
        let mut is_open = false;
        for (range, part) in outermost {
            match phases.backward.last_mut().filter(|_| is_open) {
                Some(last) if part == TrainingPhase::Backward => last.end = last.end.max(range.end),
                // An event that begins during the pass belongs to another thread.
                Some(last) if range.start < last.end => {}
                _ => {
                    is_open = part == TrainingPhase::Backward;
                    phases.backward.extend(is_open.then_some(range));
                }
            }
        }
        phases
    }

    /// The phase that a name means.
    fn part(&mut self, row: usize) -> TrainingPhase {
        let trace = &self.linked.trace;
        let kind = trace.events.kind[row];
        if !matches!(kind, EventKind::Operator | EventKind::Annotation) {
            return TrainingPhase::None;
        }
        let by_name = || match trace.event_name(row) {
            name if name.starts_with("Optimizer.step#") => TrainingPhase::Optimizer,
            name if name.starts_with("autograd::engine::evaluate_function") => TrainingPhase::Backward,
            _ => TrainingPhase::Operator,
        };
        let part = *self.parts.entry(trace.events.name.at(row)).or_insert_with(by_name);
        if part == TrainingPhase::Operator && kind == EventKind::Annotation { TrainingPhase::None } else { part }
    }

    fn category(&mut self, life: &Allocation) -> &'static str {
        match self.inferred(life) {
            UNKNOWN => life.made.purpose.map_or(UNKNOWN, MemoryCategory::name),
            known => known,
        }
    }

    fn inferred(&mut self, life: &Allocation) -> &'static str {
        let Some((part, range)) = self.around(life) else { return UNKNOWN };
        let is_alive_at = |time: Ts| life.until.is_none_or(|until| until >= time);
        if !is_alive_at(range.end) {
            return "temporary";
        }
        let after = self.backward.partition_point(|pass| pass.start <= life.made.time);
        match part {
            TrainingPhase::Optimizer if life.until.is_none() => "optimizer_state",
            TrainingPhase::Backward => match after.checked_sub(1).map(|at| self.backward[at]) {
                Some(pass) if is_alive_at(pass.end) => "gradient",
                Some(_) => "autograd_detail",
                None => UNKNOWN,
            },
            TrainingPhase::Operator => match self.backward.get(after) {
                Some(pass) if is_alive_at(pass.start) && !is_alive_at(pass.end) => "activation",
                _ => UNKNOWN,
            },
            _ => UNKNOWN,
        }
    }

    /// The step or backward operator around an allocation, else the outermost operator; and when
    /// that ran.
    fn around(&mut self, life: &Allocation) -> Option<(TrainingPhase, TimeRange)> {
        let (linked, mut found) = (self.linked, None);
        let mut row = life.made.around;
        while let Some(at) = row {
            let part = self.part(at as usize);
            let events = &linked.trace.events;
            let range = TimeRange { start: events.start.at(at as usize), end: events.end(at as usize) };
            match part {
                TrainingPhase::None => {}
                TrainingPhase::Operator => found = Some((part, range)),
                TrainingPhase::Optimizer | TrainingPhase::Backward => return Some((part, range)),
            }
            row = linked.links.nesting.parent.get(at as usize);
        }
        found
    }
}
