//! Answers the context of an event: module, line of Python, annotation, and forward or backward
//! partner.

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::reference::reference;
use super::session_trace::TraceView;
use crate::link::{FrameOrigin, LinkedTrace};
use crate::trace::kind::EventKind;

/// How many modules around each other and partners are listed.
const MAX_LISTED: usize = 20;

pub(super) fn context(part: TraceView<'_>, row: usize) -> Value {
    let linked = &part.part().linked;
    let optional = |row: Option<u32>| row.map(|row| reference(part, row as usize));
    let around = |innermost: Option<u32>| innermost.filter(|found| *found != row as u32);
    let frames = linked.frames();
    let modules = std::iter::successors(around(frames.module.get(row)), |module| frames.module.get(*module as usize));
    let modules: Vec<_> = modules.take(MAX_LISTED).map(|module| reference(part, module as usize)).collect();
    let chain = chain(linked, row);
    let pairs = pairs(linked, &chain);
    // A backward operator was written nowhere: its line is that of the forward operator.
    let forward = pairs.iter().find(|pair| pair.role == "forward").map(|pair| pair.event as usize);
    let frame = line(linked, row).or_else(|| line(linked, forward?));
    let origin = frame.and_then(|frame| FrameOrigin::of(linked.trace.event_name(frame as usize)));
    let partner = |pair: &PassPair| {
        let (of, event) = (reference(part, pair.of as usize), reference(part, pair.event as usize));
        json!({"role": pair.role, "of": of, "event": event})
    };
    json!({
        "modules": modules,
        "frame": optional(frame),
        "frame_origin": origin.map(FrameOrigin::name),
        "annotation": optional(around(frames.annotation.get(row))),
        "partners": pairs.iter().map(partner).collect::<Vec<_>>(),
    })
}

/// The event, and everything around it: from its launch or its operator outwards.
fn chain(linked: &LinkedTrace, row: usize) -> Vec<u32> {
    let links = &linked.links;
    let parent = |row: u32| links.nesting.parent.get(row as usize);
    let first = links.launch.get(row).or_else(|| links.operator.get(row)).or_else(|| parent(row as u32));
    std::iter::once(row as u32).chain(std::iter::successors(first, |row| parent(*row))).collect()
}

/// An operator of one pass and an operator of the other.
struct PassPair {
    role: &'static str,
    of: u32,
    event: u32,
}

/// The pairs of the innermost of these events that has any.
fn pairs(linked: &LinkedTrace, chain: &[u32]) -> Vec<PassPair> {
    let depths: FxHashMap<u32, usize> = chain.iter().enumerate().map(|(depth, row)| (*row, depth)).collect();
    let mut found: Vec<(usize, PassPair)> = Vec::new();
    for pair in linked.forward_backward() {
        let ends = [("backward", pair.forward, pair.backward), ("forward", pair.backward, pair.forward)];
        for (role, of, event) in ends {
            let Some(depth) = depths.get(&of).copied() else { continue };
            match found.first() {
                Some((best, _)) if *best < depth || found.len() == MAX_LISTED => {}
                Some((best, _)) if *best == depth => found.push((depth, PassPair { role, of, event })),
                _ => found = vec![(depth, PassPair { role, of, event })],
            }
        }
    }
    found.into_iter().map(|(_, pair)| pair).collect()
}

/// The line of Python around an event. A frame has a line around itself.
fn line(linked: &LinkedTrace, row: usize) -> Option<u32> {
    let frames = linked.frames();
    let is_frame = linked.trace.events.kind[row] == EventKind::Python;
    if is_frame { frames.line.get(frames.frame.get(row)? as usize) } else { frames.line.get(row) }
}
