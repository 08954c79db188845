//! Adds the history of the memory allocator to a trace of the same run.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::json;

use super::edit_log::{MEMORY, edits, note};
use super::memory_record::{BlockKey, MemoryRecord, MemoryRecords, NAME, signed};
use super::memory_thread::MemoryThreads;
use crate::error::{Error, ErrorKind};
use crate::id::StrId;
use crate::link::LinkedTrace;
use crate::memory::AllocatorHistory;
use crate::memory::allocator_history::{AllocatorBlock, AllocatorChange};
use crate::sort;
use crate::time::{TimeRange, Ts};
use crate::trace::Trace;
use crate::trace::flow::Instant;
use crate::trace::kind::EventKind;

/// The profiler and the allocator read the same clock, one after the other.
const MAX_LAG_NS: i64 = 1_000_000;
/// The least share of the profiler's records that a snapshot of the same run has.
const MIN_SHARE: f64 = 0.5;

/// The trace with what a snapshot of the allocator knows about memory at that time.
///
/// Records of the profiler (`[memory]`) stay. If the allocator has an equal change (device,
/// address, at most its size, and time within a millisecond), they get the arguments `line`, the
/// line of Python that allocated, and `category`, the purpose of the memory. Changes that the
/// profiler lacks are added, on the thread with an operator at that time; of several, the one whose
/// Python frames have the line; else on a thread of their own. Memory in use as the trace begins is
/// added as records `[memory in use]` at the first time of the trace. Lines are named as the
/// trace's Python frames are.
///
/// # Errors
/// When no change is inside the trace, or when most records of the profiler are no changes: the
/// files are not of the same run. When the trace has a snapshot already.
pub fn with_memory(linked: &LinkedTrace, mut history: AllocatorHistory) -> Result<Trace, Error> {
    if edits(&linked.trace).iter().any(|edit| edit["edit"] == MEMORY) {
        let [expected, found] = ["a trace without a memory snapshot", "one with a snapshot"].map(String::from);
        return Err(ErrorKind::Request { expected, found }.into());
    }
    rename_lines(&linked.trace, &mut history);
    let range = linked.trace.range();
    let near = near(range, &history.changes);
    let changes: Vec<&AllocatorChange> = history.changes[near.clone()].iter().collect();
    let records = records(&linked.trace);
    let matched = of_one_process(&records, matched(&records, &changes));
    let is_inside = |change: &&&AllocatorChange| range.start <= change.time && change.time <= range.end;
    if matched.is_empty() && !changes.iter().any(|change| is_inside(&change)) {
        return Err(other_time(range, &history.changes));
    }
    check(&records, &changes, &matched)?;
    let mut is_matched = vec![false; changes.len()];
    matched.iter().for_each(|(_, change)| is_matched[*change] = true);
    let unmatched = changes.iter().zip(&is_matched).filter_map(|(change, is_matched)| (!is_matched).then_some(change));
    let new: Vec<&AllocatorChange> = unmatched.filter(is_inside).copied().collect();
    let is_before = |at: usize| {
        let is_record = near.contains(&at) && is_matched[at - near.start];
        !is_record && history.changes[at].time < range.start
    };
    let mut held = held(&history, is_before);
    let allocated = first_allocated(&records);
    held.retain(|block| !allocated.contains(&(block.device, signed(block.address))));

    let mut trace = linked.trace.clone();
    let mut facts = MemoryRecords::default();
    for (record, change) in &matched {
        let row = records[*record].row;
        let args = trace.instants[row].args;
        trace.instants[row].args = facts.extended(&mut trace, args, &changes[*change].block);
    }
    let mut threads = MemoryThreads::of(linked);
    facts.push_held(&mut trace, &mut threads, range.start, &held);
    facts.push_changes(&mut trace, &mut threads, &new);
    let counts = json!({"edit": MEMORY, "num_matched": matched.len(), "num_added": new.len(), "num_held": held.len()});
    note(&mut trace, &counts);
    Ok(trace)
}

/// Names lines as the trace's Python frames are: the profiler cuts off the folder of the program.
fn rename_lines(trace: &Trace, history: &mut AllocatorHistory) {
    let tail = |name: &str| name.rsplit_once('/').map_or(name, |(_, tail)| tail).to_owned();
    let mut names: FxHashMap<String, Vec<&str>> = FxHashMap::default();
    let mut is_seen: FxHashSet<StrId> = FxHashSet::default();
    let kinds = trace.events.name.iter().zip(trace.events.kind.iter());
    for (name, _) in kinds.filter(|(name, kind)| **kind == EventKind::Python && is_seen.insert(*name)) {
        let name = trace.strings.text(name);
        names.entry(tail(name)).or_default().push(name);
    }
    let renamed = |line: &Arc<str>| {
        let is_end = |name: &&&str| line.strip_suffix(**name).is_some_and(|folder| folder.ends_with('/'));
        let found = names.get(&tail(line))?.iter().filter(is_end).max_by_key(|name| name.len());
        found.map(|name| Arc::from(*name))
    };
    let mut known: FxHashMap<Arc<str>, Arc<str>> = FxHashMap::default();
    let changed = history.changes.iter_mut().map(|change| &mut change.block);
    for line in history.before.iter_mut().chain(changed).filter_map(|block| block.line.as_mut()) {
        let line_of_trace = || renamed(line).unwrap_or_else(|| Arc::clone(line));
        let new = Arc::clone(known.entry(Arc::clone(line)).or_insert_with(line_of_trace));
        *line = new;
    }
}

/// Places of changes that may be in a trace.
fn near(range: TimeRange, changes: &[AllocatorChange]) -> Range<usize> {
    let first = Ts(range.start.0.saturating_sub(MAX_LAG_NS));
    let last = Ts(range.end.0.saturating_add(MAX_LAG_NS));
    let start = changes.partition_point(|change| change.time < first);
    let end = changes.partition_point(|change| change.time <= last);
    start..end.max(start)
}

fn key(change: &AllocatorChange) -> BlockKey {
    (change.block.device, signed(change.block.address), change.is_release)
}

/// Records of the profiler about memory of devices.
fn records(trace: &Trace) -> Vec<MemoryRecord> {
    let rows = trace.instants.iter().enumerate();
    let rows = rows.filter(|(_, instant)| trace.strings.text(instant.name) == NAME);
    rows.filter_map(|(row, instant): (usize, &Instant)| MemoryRecord::of(trace, row, instant)).collect()
}

/// Places of records with those of equal changes, each once, in the order of time.
fn matched(records: &[MemoryRecord], changes: &[&AllocatorChange]) -> Vec<(usize, usize)> {
    let mut equal: FxHashMap<BlockKey, [Vec<usize>; 2]> = FxHashMap::default();
    for (at, change) in changes.iter().enumerate() {
        equal.entry(key(change)).or_default()[1].push(at);
    }
    for (at, record) in records.iter().enumerate() {
        equal.entry(record.key).or_default()[0].push(at);
    }
    let mut found = Vec::new();
    for [mut of_records, of_changes] in equal.into_values() {
        sort::by_key(&mut of_records, |at| records[*at].time);
        let mut next = of_changes.into_iter().peekable();
        for record in of_records {
            let lag = |change: usize| changes[change].time.0.saturating_sub(records[record].time.0);
            while next.next_if(|change| lag(*change) < -MAX_LAG_NS).is_some() {}
            let is_equal =
                |change: &usize| lag(*change) <= MAX_LAG_NS && changes[*change].block.bytes <= records[record].bytes;
            found.extend(next.next_if(is_equal).map(|change| (record, change)));
        }
    }
    sort::ascending(&mut found);
    found
}

/// The pairs of the process with the most of them: a snapshot is of one process.
fn of_one_process(records: &[MemoryRecord], matched: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let process = |(record, _): &(usize, usize)| records[*record].process;
    let mut nums: FxHashMap<StrId, usize> = FxHashMap::default();
    matched.iter().for_each(|pair| *nums.entry(process(pair)).or_default() += 1);
    let most = nums.into_iter().max_by_key(|(process, num)| (*num, Reverse(*process))).map(|(process, _)| process);
    matched.into_iter().filter(|pair| Some(process(pair)) == most).collect()
}

/// Whether the files are of the same run, by the records of one process in the time of the changes.
fn check(records: &[MemoryRecord], changes: &[&AllocatorChange], matched: &[(usize, usize)]) -> Result<(), Error> {
    let (first, last) = (changes[0].time, changes[changes.len() - 1].time);
    let process = matched.first().map(|(record, _)| records[*record].process);
    let is_common = |record: &&MemoryRecord| {
        first <= record.time && record.time <= last && process.is_none_or(|process| process == record.process)
    };
    let num_common = records.iter().filter(is_common).count();
    if matched.len() as f64 >= num_common as f64 * MIN_SHARE {
        return Ok(());
    }
    let expected = String::from("a memory snapshot of the same process and run");
    let found = format!("one with {} of the trace's {num_common} records of device memory", matched.len());
    Err(ErrorKind::Request { expected, found }.into())
}

/// Devices and addresses that the trace allocates before it releases them: they are not in use as
/// it begins.
fn first_allocated(records: &[MemoryRecord]) -> FxHashSet<(i64, i64)> {
    let mut firsts: FxHashMap<(i64, i64), (Ts, bool)> = FxHashMap::default();
    for MemoryRecord { time, key: (device, address, is_release), .. } in records {
        let first = firsts.entry((*device, *address)).or_insert((*time, *is_release));
        *first = (*first).min((*time, *is_release));
    }
    firsts.into_iter().filter(|(_, (_, is_release))| !is_release).map(|(place, _)| place).collect()
}

/// The blocks in use after the changes that are before the trace.
fn held(history: &AllocatorHistory, is_before: impl Fn(usize) -> bool) -> Vec<&AllocatorBlock> {
    let mut blocks: FxHashMap<(i64, u64), (usize, &AllocatorBlock)> = FxHashMap::default();
    let place = |block: &AllocatorBlock| (block.device, block.address);
    for (order, block) in history.before.iter().enumerate() {
        blocks.insert(place(block), (order, block));
    }
    for at in (0..history.changes.len()).filter(|at| is_before(*at)) {
        let AllocatorChange { block, is_release, .. } = &history.changes[at];
        if *is_release {
            blocks.remove(&place(block));
        } else {
            blocks.insert(place(block), (history.before.len() + at, block));
        }
    }
    let mut blocks: Vec<_> = blocks.into_values().collect();
    sort::by_key(&mut blocks, |(order, _)| *order);
    blocks.into_iter().map(|(_, block)| block).collect()
}

fn other_time(range: TimeRange, changes: &[AllocatorChange]) -> Error {
    let expected = format!("a memory snapshot with actions from {} to {} ns", range.start.0, range.end.0);
    let found = match (changes.first(), changes.last()) {
        (Some(first), Some(last)) => format!("actions from {} to {} ns", first.time.0, last.time.0),
        _ => String::from("no action with a time (PyTorch 2.1 and later record times, if the history is enabled)"),
    };
    ErrorKind::Request { expected, found }.into()
}
