//! Finds memory of a snapshot that each iteration keeps.

use std::cmp::Reverse;

use super::allocation_life::{SnapshotAllocation, SnapshotDevice};
use super::origin::site;
use super::training_run::TrainingRuns;
use crate::memory::MemorySnapshot;
use crate::sort;
use crate::sorted_map::SortedMap;
use crate::table::{Table, float, int, put_name, text};
use crate::time::{add_ns, sum_ns};

/// Iterations that must keep memory.
const MIN_ITERATIONS: usize = 2;
/// The backward passes with which so many iterations count: from one pass to the next, and without
/// the first and the last two.
pub(crate) const MIN_PASSES: usize = MIN_ITERATIONS + 4;

/// The memory of one origin that grows with each iteration.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryLeakRow {
    device: SnapshotDevice,
    site: String,
    kept_bytes: i64,
    num_blocks: i64,
    num_iterations: i64,
}

impl MemoryLeakRow {
    fn confidence(&self) -> f64 {
        self.num_iterations as f64 / (self.num_iterations + 2) as f64
    }
}

pub(crate) static TABLE: Table<Vec<MemoryLeakRow>> = Table {
    name: "memory_leaks",
    doc: "an origin whose memory is kept by each training iteration after the first, up to the snapshot",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].device),
        text("site", |rows, at, out| put_name(out, &rows[at].site)),
        int("iteration_bytes", |rows, at| Some(rows[at].kept_bytes / rows[at].num_iterations.max(1))),
        int("kept_bytes", |rows, at| Some(rows[at].kept_bytes)),
        int("num_blocks", |rows, at| Some(rows[at].num_blocks)),
        int("num_iterations", |rows, at| Some(rows[at].num_iterations)),
        float("confidence", |rows, at| Some(rows[at].confidence())),
    ],
};

/// Origins that keep memory in each iteration, those that keep most first.
///
/// An iteration is from one backward pass to the next. The first does not count: it fills caches.
/// Nor do the last two: the end of the recording cuts them off from the next pass.
pub(super) fn leaks(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    runs: &TrainingRuns,
) -> Vec<MemoryLeakRow> {
    let mut rows = Vec::new();
    let devices: SortedMap<_, ()> = SortedMap::of(snapshot.actions.iter().map(|action| action.device));
    for (device, ()) in devices.iter() {
        let starts = runs.backward_starts(*device);
        if starts.len() >= MIN_PASSES {
            rows.extend(of_device(snapshot, lives, *device, &starts[1..starts.len() - 2]));
        }
    }
    sort::by_key(&mut rows, |row: &MemoryLeakRow| Reverse(row.kept_bytes));
    rows
}

/// Iterations begin at `starts`; the last is where they end.
fn of_device(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    device: SnapshotDevice,
    starts: &[usize],
) -> Vec<MemoryLeakRow> {
    let num_iterations = starts.len() - 1;
    let of_device = || lives.iter().filter(|life| life.device == device);
    let kept: Vec<(usize, &SnapshotAllocation)> = of_device()
        .filter(|life| life.last.is_none() && life.released.is_none())
        .filter_map(|life| {
            let first = life.first?;
            let at = starts.partition_point(|start| *start <= first).checked_sub(1)?;
            (at < num_iterations).then_some((at, life))
        })
        .collect();
    let mut sites: SortedMap<Option<u32>, String> =
        SortedMap::of(kept.iter().map(|(_, life)| life.stack.map(|stack| stack.0)));
    for (stack, name) in sites.iter_mut() {
        *name = site(snapshot, stack.map(crate::id::StackId));
    }
    let mut named: Vec<(&str, usize, i64)> = Vec::new();
    for (at, life) in kept {
        let name = sites.get(&life.stack.map(|stack| stack.0)).map_or("", String::as_str);
        named.push((name, at, life.bytes));
    }
    sort::ascending(&mut named);
    let is_leak = |all: &&[(&str, usize, i64)]| all.chunk_by(|a, b| a.1 == b.1).count() == num_iterations;
    let row = |all: &[(&str, usize, i64)]| MemoryLeakRow {
        device,
        site: all[0].0.to_owned(),
        kept_bytes: sum_ns(all.iter().map(|(.., bytes)| *bytes)),
        num_blocks: all.len() as i64,
        num_iterations: num_iterations as i64,
    };
    let rows: Vec<_> = named.chunk_by(|a, b| a.0 == b.0).filter(is_leak).map(row).collect();
    // All memory must grow as well: it does not where as much from before is given back.
    let mut grown = 0;
    for life in of_device() {
        let is_in_use = |at: usize| i64::from(life.is_after(at));
        add_ns(&mut grown, life.bytes.saturating_mul(is_in_use(starts[num_iterations]) - is_in_use(starts[0])));
    }
    if grown < sum_ns(rows.iter().map(|row| row.kept_bytes)) / 2 { Vec::new() } else { rows }
}
