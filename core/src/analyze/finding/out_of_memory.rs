//! Allocations that failed.

use std::collections::BTreeMap;

use super::super::memory::{MemoryDevice, Told, device_name, operator, told};
use super::super::words::told_bytes;
use super::found::Found;
use super::scene::Scene;
use super::{Find, Rule};
use crate::sort;

pub(super) static OUT_OF_MEMORY: Rule = Rule {
    name: "out_of_memory",
    doc: "the allocator could not give what an operator asked for",
    cost: "host time of the operators that asked",
    advice: "hold less at a time: smaller batches, activation checkpointing, lower precision, sharded states of the \
             optimizer; `memory` names the operators that hold the most",
    is_pattern: true,
    find: Find::Trace(found),
};

const FRAGMENTED: &str = "as much was reserved, but in pieces: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or shapes \
                          that stay alike";

fn found(scene: &Scene<'_>) -> Vec<Found> {
    let mut devices: BTreeMap<MemoryDevice, Vec<Told<'_>>> = BTreeMap::new();
    told(scene.selection, "[OutOfMemory]").for_each(|told| devices.entry(told.device()).or_default().push(told));
    devices.into_iter().map(|(device, failures)| of_device(scene, device, &failures)).collect()
}

fn of_device(scene: &Scene<'_>, device: MemoryDevice, failures: &[Told<'_>]) -> Found {
    let mut rows: Vec<u32> = failures.iter().filter_map(|told| asking(scene, told)).collect();
    sort::ascending(&mut rows);
    rows.dedup();
    let costs: Vec<_> = rows.into_iter().map(|row| (scene.time(row).dur().0, row)).collect();
    let all_ns = scene.all_ns(&costs);
    let found = Found::of(device_name(device), costs, 1.0).at_most(all_ns);
    let found = Found { count: failures.len() as u64, ..found };
    let largest = failures.iter().max_by_key(|told| told.number("Bytes"));
    largest.map_or_else(Found::default, |told| found.told(detail(told)).advised(is_there(told).then_some(FRAGMENTED)))
}

/// The innermost operator around a failure, or whatever is there.
fn asking(scene: &Scene<'_>, told: &Told<'_>) -> Option<u32> {
    let around = told.around(scene.linked)?;
    operator(scene.linked, around).or(Some(around))
}

fn detail(told: &Told<'_>) -> String {
    let bytes = |key| told_bytes(told.number(key).unwrap_or(0));
    let reserved = told.number("Total Reserved").filter(|bytes| *bytes > 0);
    let reserved = reserved.map_or_else(String::new, |bytes| format!(" and {} reserved", told_bytes(bytes)));
    format!("up to {} at once, while {} were allocated{reserved}", bytes("Bytes"), bytes("Total Allocated"))
}

/// Whether the allocator held as much, unused.
fn is_there(told: &Told<'_>) -> bool {
    let bytes = |key| told.number(key).unwrap_or(0);
    bytes("Bytes") > 0 && bytes("Total Reserved").saturating_sub(bytes("Total Allocated")) >= bytes("Bytes")
}
