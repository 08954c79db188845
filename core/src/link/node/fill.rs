//! Links calls between linked neighbours if only one of the files has them on a separate thread.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::call::{is_call, node_order};
use super::name_ids::NameIds;
use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;

/// Links events on tracks without any link, such as a backend's annotations, where names and times
/// are unambiguous.
///
/// Nodes are numbered in the order of time, whatever their thread: a node was entered after those
/// before it.
pub(super) fn fill(trace: &Trace, rows: &mut Vec<(u32, u32)>) {
    let mut names = NameIds::new(&trace.strings);
    let mut events = leftover_events(trace, rows, &mut names);
    if events.is_empty() {
        return;
    }
    for ((first, last, name), nodes) in leftover_nodes(trace, rows, &mut names) {
        let Some(events) = events.get_mut(&name) else { continue };
        let start = events.partition_point(|(time, _)| *time < first);
        let end = start + events[start..].partition_point(|(time, _)| *time <= last);
        if end - start == nodes.len() {
            rows.extend(events[start..end].iter().zip(nodes).map(|((_, event), node)| (*event, node)));
        }
    }
}

/// Calls on tracks without any link, by name; each name's by start.
fn leftover_events(trace: &Trace, rows: &[(u32, u32)], names: &mut NameIds<'_>) -> FxHashMap<u32, Vec<(Ts, u32)>> {
    let events = &trace.events;
    let mut is_linked = vec![false; trace.tracks.len()];
    rows.iter().for_each(|(event, _)| is_linked[events.track.at(*event as usize).index()] = true);
    let mut leftover: FxHashMap<u32, Vec<_>> = FxHashMap::default();
    for row in (0..events.len()).filter(|row| !is_linked[events.track.at(*row).index()] && is_call(trace, *row)) {
        leftover.entry(names.name(events.name.at(row))).or_default().push((events.start.at(row), row as u32));
    }
    leftover.values_mut().for_each(|events| sort::ascending(events));
    leftover
}

/// Nodes without a link, by the starts of the linked ones before and after them and by name.
fn leftover_nodes(trace: &Trace, rows: &[(u32, u32)], names: &mut NameIds<'_>) -> BTreeMap<(Ts, Ts, u32), Vec<u32>> {
    let starts: FxHashMap<u32, Ts> =
        rows.iter().map(|(event, node)| (*node, trace.events.start.at(*event as usize))).collect();
    let mut order: Vec<_> = (0..trace.nodes.len() as u32).collect();
    sort::by_key(&mut order, |row| node_order(&trace.nodes[*row as usize]));
    let (mut leftover, mut between): (BTreeMap<_, Vec<u32>>, Vec<u32>) = (BTreeMap::new(), Vec::new());
    let mut before = None;
    for row in order {
        let Some(start) = starts.get(&row).copied() else {
            between.push(row);
            continue;
        };
        let found = between.drain(..);
        if let Some(before) = before {
            for node in found {
                let name = names.name(trace.nodes[node as usize].name);
                leftover.entry((before, start, name)).or_default().push(node);
            }
        }
        before = before.max(Some(start));
    }
    leftover
}
