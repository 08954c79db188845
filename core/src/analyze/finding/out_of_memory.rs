//! Finds failed allocations.

use super::super::memory::{AllocatorRecord, MemoryDevice, allocator_records, device_name, operator};
use super::super::number_text::size_text;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use crate::sort;

pub(super) static OUT_OF_MEMORY: Rule = Rule {
    name: "out_of_memory",
    doc: "the allocator could not serve a request of an operator",
    cost: "host time of the requesting operators",
    advice: "hold less memory at a time: smaller batches, activation checkpointing, lower precision, sharded optimizer \
             states; `memory` lists the operators that hold the most",
    is_pattern: true,
    data: RuleData::Memory,
    find: RuleScope::Trace(found),
};

const FRAGMENTED: &str = "reduce fragmentation, as enough memory was reserved in pieces: set \
     PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or keep shapes alike";

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let mut failures: Vec<_> = allocator_records(context.selection, "[OutOfMemory]").collect();
    sort::by_key(&mut failures, AllocatorRecord::device);
    let devices = failures.chunk_by(|a, b| a.device() == b.device());
    devices.map(|failures| of_device(context, failures[0].device(), failures)).collect()
}

fn of_device(context: &RuleContext<'_>, device: MemoryDevice, failures: &[AllocatorRecord<'_>]) -> RuleMatch {
    let mut rows: Vec<u32> = failures.iter().filter_map(|record| asking(context, record)).collect();
    sort::ascending(&mut rows);
    rows.dedup();
    let costs: Vec<_> = rows.into_iter().map(|row| (context.time(row).dur().0, row)).collect();
    let times = context.all_times(&costs);
    let found = RuleMatch::of(device_name(device), costs, 1.0).during(times);
    let found = RuleMatch { count: failures.len() as u64, is_failure: true, ..found };
    let largest = failures.iter().max_by_key(|record| record.number("Bytes"));
    largest.map_or_else(RuleMatch::default, |record| {
        found.detailed(detail(record)).advised(is_there(record).then_some(FRAGMENTED))
    })
}

/// The innermost operator around a failure, or whatever is there.
fn asking(context: &RuleContext<'_>, record: &AllocatorRecord<'_>) -> Option<u32> {
    let around = record.around(context.linked)?;
    operator(context.linked, around).or(Some(around))
}

fn detail(record: &AllocatorRecord<'_>) -> String {
    let bytes = |key| size_text(record.number(key).unwrap_or(0));
    let reserved = record.number("Total Reserved").filter(|bytes| *bytes > 0);
    let reserved = reserved.map_or_else(String::new, |bytes| format!(" and {} reserved", size_text(bytes)));
    format!("largest request {}, with {} allocated{reserved}", bytes("Bytes"), bytes("Total Allocated"))
}

/// Whether the allocator held as much, unused.
fn is_there(record: &AllocatorRecord<'_>) -> bool {
    let bytes = |key| record.number(key).unwrap_or(0);
    bytes("Bytes") > 0 && bytes("Total Reserved").saturating_sub(bytes("Total Allocated")) >= bytes("Bytes")
}
