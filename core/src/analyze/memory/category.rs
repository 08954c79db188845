//! What allocations are for, as far as the time of their lives tells: when they were made, and when released.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::life::Life;
use super::{MemoryDevice, MemoryRow, put_device};
use crate::analyze::selection::Selection;
use crate::id::StrId;
use crate::link::LinkedTrace;
use crate::sort;
use crate::table::{Table, int, put_name, text};
use crate::time::{TimeRange, Ts, add_ns};
use crate::trace::kind::EventKind;

/// Allocations of one category on one device.
#[derive(Debug, Clone, Default)]
pub(super) struct CategoryRow {
    device: MemoryDevice,
    category: &'static str,
    num_allocations: i64,
    allocated_bytes: i64,
    peak_bytes: i64,
    kept_bytes: i64,
}

pub(super) static TABLE: Table<Vec<CategoryRow>> = Table {
    name: "memory_categories",
    doc: "what allocations on one device were for, as far as their lives tell",
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

/// Allocations by category, those that hold the most at their device's peak first.
///
/// What was allocated inside an `Optimizer.step` and never released is `optimizer_state`; inside the backward pass, and
/// alive at its end, a `gradient`, and not alive then `autograd_detail`; before it, and released in it, an `activation`.
/// What the operator, the backward operator or the step that allocated it released again was `temporary`. `preexisting` is
/// what was there before the first change, as the totals tell. The rest is `unknown`. So the `peak_bytes` of a device are
/// its `peak_allocated_bytes`, to the byte.
pub(super) fn categories(selection: &Selection<'_>, lives: &[Life], devices: &[MemoryRow]) -> Vec<CategoryRow> {
    let mut phases = Phases::of(selection.linked);
    let mut rows: BTreeMap<(MemoryDevice, &'static str), CategoryRow> = BTreeMap::new();
    for life in lives {
        let category = phases.category(life);
        let new = || CategoryRow { device: life.device, category, ..CategoryRow::default() };
        let row = rows.entry((life.device, category)).or_insert_with(new);
        row.num_allocations += 1;
        add_ns(&mut row.allocated_bytes, life.bytes);
        add_ns(&mut row.peak_bytes, if life.is_at_peak { life.bytes } else { 0 });
        add_ns(&mut row.kept_bytes, if life.until.is_none() { life.bytes } else { 0 });
    }
    let mut told: BTreeMap<MemoryDevice, (i64, i64)> = BTreeMap::new();
    for row in rows.values() {
        let (peak_bytes, kept_bytes) = told.entry(row.device).or_default();
        add_ns(peak_bytes, row.peak_bytes);
        add_ns(kept_bytes, row.kept_bytes);
    }
    for device in devices {
        let (peak_bytes, kept_bytes) = told.get(&device.device).copied().unwrap_or_default();
        // Where releases are missing, the others are more than the totals.
        let peak_bytes = device.peak_allocated_bytes.saturating_sub(peak_bytes).max(0);
        let kept_bytes = device.last_bytes.saturating_sub(kept_bytes).max(0);
        if peak_bytes != 0 || kept_bytes != 0 {
            let (device, category) = (device.device, "preexisting");
            let row = CategoryRow { device, category, peak_bytes, kept_bytes, ..CategoryRow::default() };
            rows.insert((device, category), row);
        }
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    sort::by(&mut rows, |a, b| {
        a.device.cmp(&b.device).then_with(|| (b.peak_bytes, b.allocated_bytes).cmp(&(a.peak_bytes, a.allocated_bytes)))
    });
    rows
}

/// What an event is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Optimizer,
    Backward,
    Operator,
    None,
}

/// When backward passes ran, and what events are part of.
struct Phases<'a> {
    linked: &'a LinkedTrace,
    parts: FxHashMap<StrId, Part>,
    /// Backward passes, in the order of time.
    backward: Vec<TimeRange>,
}

impl<'a> Phases<'a> {
    fn of(linked: &'a LinkedTrace) -> Self {
        let mut phases = Self { linked, parts: FxHashMap::default(), backward: Vec::new() };
        let (events, nesting) = (&linked.trace.events, &linked.links.nesting);
        let mut outermost: Vec<(TimeRange, Part)> = Vec::new();
        let mut is_inside = vec![false; events.len()];
        for row in nesting.order.iter().map(|row| *row as usize) {
            let part = phases.part(row);
            let is_covered = nesting.parent.get(row).is_some_and(|parent| is_inside[parent as usize]);
            is_inside[row] = is_covered || part != Part::None;
            if part != Part::None && !is_covered && !linked.trace.is_on_device(row) {
                outermost.push((TimeRange { start: events.start[row], end: events.end(row) }, part));
            }
        }
        sort::by_key(&mut outermost, |(range, _)| (range.start, range.end));
        let mut is_open = false;
        for (range, part) in outermost {
            match phases.backward.last_mut().filter(|_| is_open) {
                Some(last) if part == Part::Backward => last.end = last.end.max(range.end),
                // What begins while the pass runs is another thread's.
                Some(last) if range.start < last.end => {}
                _ => {
                    is_open = part == Part::Backward;
                    phases.backward.extend(is_open.then_some(range));
                }
            }
        }
        phases
    }

    /// What an event is by its name.
    fn part(&mut self, row: usize) -> Part {
        let trace = &self.linked.trace;
        let kind = trace.events.kind[row];
        if !matches!(kind, EventKind::Operator | EventKind::Annotation) {
            return Part::None;
        }
        let by_name = || match trace.event_name(row) {
            name if name.starts_with("Optimizer.step#") => Part::Optimizer,
            name if name.starts_with("autograd::engine::evaluate_function") => Part::Backward,
            _ => Part::Operator,
        };
        let part = *self.parts.entry(trace.events.name[row]).or_insert_with(by_name);
        if part == Part::Operator && kind == EventKind::Annotation { Part::None } else { part }
    }

    fn category(&mut self, life: &Life) -> &'static str {
        let Some((part, range)) = self.around(life) else { return "unknown" };
        let is_alive_at = |time: Ts| life.until.is_none_or(|until| until >= time);
        if !is_alive_at(range.end) {
            return "temporary";
        }
        let after = self.backward.partition_point(|pass| pass.start <= life.since);
        match part {
            Part::Optimizer if life.until.is_none() => "optimizer_state",
            Part::Backward => match after.checked_sub(1).map(|at| self.backward[at]) {
                Some(pass) if is_alive_at(pass.end) => "gradient",
                Some(_) => "autograd_detail",
                None => "unknown",
            },
            Part::Operator => match self.backward.get(after) {
                Some(pass) if is_alive_at(pass.start) && !is_alive_at(pass.end) => "activation",
                _ => "unknown",
            },
            _ => "unknown",
        }
    }

    /// The step or backward operator around an allocation, else the outermost operator; and when that ran.
    fn around(&mut self, life: &Life) -> Option<(Part, TimeRange)> {
        let (linked, mut found) = (self.linked, None);
        let mut row = life.around;
        while let Some(at) = row {
            let part = self.part(at as usize);
            let events = &linked.trace.events;
            let range = TimeRange { start: events.start[at as usize], end: events.end(at as usize) };
            match part {
                Part::None => {}
                Part::Operator => found = Some((part, range)),
                Part::Optimizer | Part::Backward => return Some((part, range)),
            }
            row = linked.links.nesting.parent.get(at as usize);
        }
        found
    }
}
