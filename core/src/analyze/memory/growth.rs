//! Compares the memory of two snapshots by call stack.

use std::collections::BTreeMap;

use super::allocation_life::{SnapshotAllocation, SnapshotDevice, lives};
use super::origin::site;
use super::snapshot::{held_at_peak, measured};
use crate::analyze::plot::Plot;
use crate::analyze::result::AnalysisResult;
use crate::id::StackId;
use crate::memory::MemorySnapshot;
use crate::sort;
use crate::sorted_map::SortedMap;
use crate::table::{Column, Table, int, put_name, text};
use crate::time::{add_ns, sum_ns};

/// The memory of one call stack in two snapshots; the first row of a table is that of all together.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryGrowthRow {
    device: SnapshotDevice,
    site: String,
    bytes: [i64; 2],
    num_blocks: [i64; 2],
    /// The stack in each snapshot.
    stacks: [Option<u32>; 2],
}

impl MemoryGrowthRow {
    fn change(&self) -> i64 {
        self.bytes[1].saturating_sub(self.bytes[0])
    }
}

pub(crate) static TABLE: Table<Vec<MemoryGrowthRow>> = Table {
    name: "memory_growth",
    doc: "the memory in use of one call stack when each snapshot was taken; first that of all",
    num_rows: Vec::len,
    columns: COLUMNS,
};

pub(crate) static AT_PEAK: Table<Vec<MemoryGrowthRow>> = Table {
    name: "memory_peak_growth",
    doc: "the memory in use of one call stack at the peak of its device in each snapshot; first that of all",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<MemoryGrowthRow>>] = &[
    int("device", |rows, at| rows[at].device),
    text("site", |rows, at, out| put_name(out, &rows[at].site)),
    int("before_bytes", |rows, at| Some(rows[at].bytes[0])),
    int("after_bytes", |rows, at| Some(rows[at].bytes[1])),
    int("change_bytes", |rows, at| Some(rows[at].change())),
    int("before_blocks", |rows, at| Some(rows[at].num_blocks[0])),
    int("after_blocks", |rows, at| Some(rows[at].num_blocks[1])),
    int("before_stack_id", |rows, at| rows[at].stacks[0].map(i64::from)),
    int("after_stack_id", |rows, at| rows[at].stacks[1].map(i64::from)),
];

const ALL: &str = "all memory";

/// Memory in use by call stack, before and after: at the end of each snapshot, and at its peak.
///
/// Stacks are equal if all their frames are. `site` is the innermost frame outside of torch.
/// `change_bytes = after_bytes - before_bytes`; changes add up to that of the first row. The
/// largest change comes first.
pub fn memory_growth(before: &MemorySnapshot, after: &MemorySnapshot) -> AnalysisResult {
    let snapshots = [before, after];
    let lives = snapshots.map(lives);
    let at_end = lives.each_ref().map(|lives| lives.iter().filter(|life| life.last.is_none()).collect());
    let devices = [0, 1].map(|side| measured(snapshots[side], &lives[side]).0);
    let at_peak = [0, 1].map(|side| held_at_peak(&lives[side], &devices[side]));
    AnalysisResult::of(&TABLE, growth(snapshots, at_end), "neither snapshot has memory in use")
        .and(&AT_PEAK, growth(snapshots, at_peak))
        .drawn(Plot::Change { label: "site", before: "before_bytes", after: "after_bytes" })
}

fn growth(snapshots: [&MemorySnapshot; 2], held: [Vec<&SnapshotAllocation>; 2]) -> Vec<MemoryGrowthRow> {
    let mut rows: BTreeMap<(SnapshotDevice, String, String), MemoryGrowthRow> = BTreeMap::new();
    for (side, held) in held.into_iter().enumerate() {
        let key = |life: &SnapshotAllocation| (life.device, life.stack.map(|stack| stack.0));
        let mut stacks: SortedMap<_, (i64, i64)> = SortedMap::of(held.iter().map(|life| key(life)));
        for life in held {
            let Some((bytes, num_blocks)) = stacks.get_mut(&key(life)) else { continue };
            add_ns(bytes, life.bytes);
            *num_blocks += 1;
        }
        for ((device, stack), (bytes, num_blocks)) in stacks.into_vec() {
            let (site, frames) = named(snapshots[side], stack.map(StackId));
            let row = rows.entry((device, site, frames)).or_default();
            add_ns(&mut row.bytes[side], bytes);
            row.num_blocks[side] += num_blocks;
            row.stacks[side] = row.stacks[side].or(stack);
        }
    }
    let named = |((device, site, _), row): (_, MemoryGrowthRow)| MemoryGrowthRow { device, site, ..row };
    let mut rows: Vec<_> = rows.into_iter().map(named).collect();
    if rows.is_empty() {
        return rows;
    }
    sort::by_key(&mut rows, |row| std::cmp::Reverse(row.change().unsigned_abs()));
    let sum = |of: &dyn Fn(&MemoryGrowthRow) -> i64| sum_ns(rows.iter().map(of));
    let all = MemoryGrowthRow {
        device: None,
        site: ALL.to_owned(),
        bytes: [0, 1].map(|side| sum(&|row| row.bytes[side])),
        num_blocks: [0, 1].map(|side| sum(&|row| row.num_blocks[side])),
        stacks: [None; 2],
    };
    rows.insert(0, all);
    rows
}

/// The origin of a stack, and all its frames: numbers of stacks differ between files.
fn named(snapshot: &MemorySnapshot, stack: Option<StackId>) -> (String, String) {
    let text = |id| snapshot.strings.text(id);
    let frames = stack.into_iter().flat_map(|stack| snapshot.stacks.frames(stack));
    let lines = frames.map(|frame| format!("{}\n{}\n{:?}", text(frame.function), text(frame.file), frame.line));
    (site(snapshot, stack), lines.collect::<Vec<_>>().join("\n"))
}
