//! Reads and writes records of memory as the profiler has them.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::memory_thread::MemoryThreads;
use crate::id::{StrId, TemplateId, TrackId};
use crate::memory::allocator_history::{AllocatorBlock, AllocatorChange};
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::args::{ArgsRef, ArgsTemplate, FieldValue, TemplateField};
use crate::trace::flow::Instant;

/// The name of the profiler's records.
pub(super) const NAME: &str = "[memory]";
/// The name of records about memory that is in use as the trace begins.
pub(super) const HELD: &str = "[memory in use]";
/// The number of the CUDA device type; builds for `ROCm` use it, too.
const CUDA: i64 = 1;
/// Numbers of a record in the order of Kineto.
const NUMBERS: [&str; 6] = ["Bytes", "Device Id", "Device Type", "Addr", "Total Allocated", "Total Reserved"];
/// Of these, those of memory in use.
const NUM_HELD: usize = 4;

/// A device, an address, and whether it is a release: what a record and a change of the allocator
/// have in common.
pub(super) type BlockKey = (i64, i64, bool);

/// A record of the profiler about memory of a device.
pub(super) struct MemoryRecord {
    pub(super) row: usize,
    pub(super) process: StrId,
    pub(super) time: Ts,
    pub(super) key: BlockKey,
    /// The size of the block, which may be larger than what was requested.
    pub(super) bytes: i64,
}

impl MemoryRecord {
    pub(super) fn of(trace: &Trace, row: usize, instant: &Instant) -> Option<Self> {
        let pairs = trace.args.pairs(&trace.strings, instant.args);
        let numbers: FxHashMap<&str, i64> = pairs.filter_map(|(key, text)| Some((key, text.parse().ok()?))).collect();
        let is_of_device = *numbers.get("Device Type")? != 0;
        let bytes = *numbers.get("Bytes")?;
        let key = (*numbers.get("Device Id")?, *numbers.get("Addr")?, bytes < 0);
        let process = trace.track(instant.track).process;
        is_of_device.then_some(Self { row, process, time: instant.time, key, bytes: bytes.saturating_abs() })
    }
}

/// Addresses are written as signed numbers.
pub(super) fn signed(address: u64) -> i64 {
    i64::from_ne_bytes(address.to_ne_bytes())
}

/// The position after those of all rows.
pub(super) fn next_position(trace: &Trace) -> u32 {
    let positions = trace.events.position.iter();
    let points = trace.instants.iter().map(|row| row.position).chain(trace.counters.iter().map(|row| row.position));
    let others = trace.flows.iter().map(|row| row.position).chain(trace.metadata.iter().map(|row| row.position));
    positions.chain(points).chain(others).max().map_or(0, |last| last.saturating_add(1))
}

/// A template, a line and a category.
type MemoryTemplateKey = (TemplateId, Option<String>, &'static str);

/// Writes records; knows the templates that it made.
#[derive(Default)]
pub(super) struct MemoryRecords {
    plain: FxHashMap<usize, TemplateId>,
    extended: FxHashMap<MemoryTemplateKey, TemplateId>,
}

impl MemoryRecords {
    /// Adds memory that is in use as the trace begins.
    pub(super) fn push_held(
        &mut self,
        trace: &mut Trace,
        threads: &mut MemoryThreads<'_>,
        time: Ts,
        held: &[&AllocatorBlock],
    ) {
        if held.is_empty() {
            return;
        }
        let track = threads.other(trace);
        let mut position = next_position(trace);
        for block in held {
            self.push(trace, HELD, (position, track, time), (block, &numbers(block, false)));
            position = position.saturating_add(1);
        }
    }

    /// Adds changes, each on its thread.
    pub(super) fn push_changes(
        &mut self,
        trace: &mut Trace,
        threads: &mut MemoryThreads<'_>,
        changes: &[&AllocatorChange],
    ) {
        let tracks: Vec<_> = changes.iter().map(|change| threads.of_change(trace, change)).collect();
        let mut position = next_position(trace);
        for (change, track) in changes.iter().zip(tracks) {
            let totals = [change.allocated_bytes, change.reserved_bytes];
            let numbers: Vec<i64> = numbers(&change.block, change.is_release).into_iter().chain(totals).collect();
            self.push(trace, NAME, (position, track, change.time), (&change.block, &numbers));
            position = position.saturating_add(1);
        }
    }

    fn push(
        &mut self,
        trace: &mut Trace,
        name: &str,
        (position, track, time): (u32, TrackId, Ts),
        (block, numbers): (&AllocatorBlock, &[i64]),
    ) {
        let args = ArgsRef { template: self.template(trace, numbers.len()), start: trace.args.push_values(numbers) };
        let args = self.extended(trace, args, block);
        let [name, category] = [name, "cpu_instant_event"].map(|text| trace.strings.intern(text));
        trace.instants.push(Instant { position, name, category, track, time, args });
    }

    /// The template of a record with so many numbers.
    fn template(&mut self, trace: &mut Trace, num_numbers: usize) -> TemplateId {
        *self.plain.entry(num_numbers).or_insert_with(|| {
            let mut key = |key: &str| trace.strings.intern(key);
            let mut field = |name: &str| TemplateField { key: key(name), value: FieldValue::Slot(0), is_outer: false };
            let fields = NUMBERS[..num_numbers].iter().map(|name| field(name)).collect();
            trace.args.push(ArgsTemplate::new(fields, &trace.strings))
        })
    }

    /// Arguments with the line and the category of a block.
    pub(super) fn extended(&mut self, trace: &mut Trace, args: ArgsRef, block: &AllocatorBlock) -> ArgsRef {
        let key = (args.template, block.line.as_deref().map(String::from), block.category.name());
        let make = |(_, line, category): &MemoryTemplateKey| {
            let texts = [("line", line.as_deref()), ("category", Some(*category))];
            let texts = texts.into_iter().filter_map(|(key, text)| Some((key, Value::from(text?).to_string())));
            let strings = &mut trace.strings;
            let more: Vec<_> = texts.map(|(key, json)| (strings.intern(key), strings.intern(&json))).collect();
            trace.args.extended(&trace.strings, args, &more).template
        };
        ArgsRef { template: *self.extended.entry(key).or_insert_with_key(make), ..args }
    }
}

fn numbers(block: &AllocatorBlock, is_release: bool) -> [i64; NUM_HELD] {
    let bytes = if is_release { block.bytes.saturating_neg() } else { block.bytes };
    [bytes, block.device, CUDA, signed(block.address)]
}
