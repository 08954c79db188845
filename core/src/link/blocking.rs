//! Infers host waits from times, for devices that report no `cuda_sync` events.
//!
//! A synchronizing call waits for earlier work. No file states its stream or event, so it counts as
//! waiting for the work that ended last while it lasted, on a stream without further work (except
//! for an event). A copy between host and device that outlasts its own call was also waited for by
//! it. Other work that ends as early is not: either the call was slow, or the device's clock is.

use super::edge::{Edge, EdgeKind};
use super::launch_index::launches;
use super::link_method::LinkMethod;
use super::links::Links;
use super::sync::enqueued;
use crate::sort;
use crate::strings::TextCache;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;
use crate::vendor;

/// Parts of the names of copies without the host, and of copies that may be asynchronous.
const WITHIN_DEVICES: &str = "(Device -> Device)";
const PINNED: &str = "Pinned";
const ASYNC: &str = "Async";

/// A waiting call resumes soon, so work that ended before many others was not awaited.
pub(super) const MAX_PASSED: usize = 256;

/// Edges to the calls that no report says anything of.
pub(super) fn blocking_edges(trace: &Trace, links: &Links) -> Vec<Edge> {
    let (events, ended) = (&trace.events, ended(trace));
    let mut waits = TextCache::new(&trace.strings, vendor::synchronizes);
    let edge = |call: usize| {
        let is_wait = waits.of(events.name.at(call));
        let source = if is_wait { waited_for(trace, links, &ended, call) } else { own_copy(trace, links, call) }?;
        Some(Edge::between(EdgeKind::Sync, LinkMethod::EndedInside, source, call as u32))
    };
    launches(trace).filter_map(edge).collect()
}

/// Work of devices, by its ends.
pub(super) fn ended(trace: &Trace) -> Vec<(Ts, u32)> {
    let events = &trace.events;
    let work = events.device_work();
    let mut ended: Vec<(Ts, u32)> = work.map(|row| (events.end(row), row as u32)).collect();
    sort::ascending(&mut ended);
    ended
}

/// The work enqueued before an unreported call that ended last while it lasted.
fn waited_for(trace: &Trace, links: &Links, ended: &[(Ts, u32)], call: usize) -> Option<u32> {
    let events = &trace.events;
    if links.launched.of(call).any(|row| events.kind[row] == EventKind::Sync) {
        return None;
    }
    let num_ended = ended.partition_point(|(end, _)| *end <= events.end(call));
    let inside = ended[..num_ended].iter().rev().take(MAX_PASSED).take_while(|(end, _)| *end > events.start.at(call));
    // After a recorded event, its stream may have more work.
    let is_of_event = vendor::synchronizes_event(trace.event_name(call));
    let is_left = |row: usize| next_on_stream(trace, links, row).is_some_and(|next| outlasts(trace, links, next, call));
    let is_awaited = |row: usize| is_enqueued_before(trace, links, row, call) && (is_of_event || !is_left(row));
    inside.map(|(_, row)| *row).find(|row| is_awaited(*row as usize))
}

/// The work after this on its stream.
fn next_on_stream(trace: &Trace, links: &Links, row: usize) -> Option<usize> {
    let events = &trace.events;
    let rows = links.nesting.track_rows(events.track.at(row));
    let after = rows.partition_point(|other| events.start.at(*other as usize) <= events.start.at(row));
    rows[after..]
        .iter()
        .take(MAX_PASSED)
        .map(|other| *other as usize)
        .find(|other| events.kind[*other].is_device_work())
}

/// Whether work was enqueued before a call and still not done after it: then the call did not wait
/// for its stream.
fn outlasts(trace: &Trace, links: &Links, row: usize, call: usize) -> bool {
    is_enqueued_before(trace, links, row, call) && trace.events.end(row) > trace.events.end(call)
}

/// Whether the process of a call enqueued work before it.
fn is_enqueued_before(trace: &Trace, links: &Links, row: usize, call: usize) -> bool {
    let events = &trace.events;
    let number = || trace.args.integer(&trace.strings, events.args(row), ArgKey::ProcessId);
    let is_own = links
        .launch
        .get(row)
        .map_or_else(|| number().is_none(), |launch| trace.process_of(launch as usize) == trace.process_of(call));
    is_own && enqueued(trace, links, row) < events.start.at(call)
}

/// The copy that a call enqueued and that began and ended while the call lasted, as all else did
/// that it enqueued.
fn own_copy(trace: &Trace, links: &Links, call: usize) -> Option<u32> {
    let events = &trace.events;
    let work = || links.launched.of(call).filter(|row| events.kind[*row].is_device_work());
    let is_async = trace.event_name(call).contains(ASYNC);
    let is_copy = |row: &usize| {
        let name = trace.event_name(*row);
        let is_free = name.contains(WITHIN_DEVICES) || is_async && name.contains(PINNED);
        events.kind[*row] == EventKind::Copy && !is_free
    };
    let last = work().max_by_key(|row| events.end(*row)).filter(is_copy)?;
    let is_inside = |row: usize| events.start.at(call) <= events.start.at(row) && events.end(row) <= events.end(call);
    work().all(is_inside).then_some(last as u32)
}
