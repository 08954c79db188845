//! Follows arrows that other tools than Kineto draw, from host events to device work.
//!
//! Such tools give no correlation ids. An arrow starts at a call of the device's runtime, at an
//! operator, or at an entry of a queue, to which another arrow leads from an operator.

use rustc_hash::FxHashMap;

use super::flow::flows;
use crate::id::TrackId;
use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::flow::Flow;
use crate::trace::kind::EventKind;

/// Arrows to device work.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrows {
    /// Device events with the calls that arrows come from.
    pub(super) calls: Vec<(u32, u32)>,
    /// Device events with the other host events that arrows come from.
    pub(super) others: Vec<(u32, u32)>,
    /// Host events with the host events from which an arrow leads to them.
    queued: FxHashMap<u32, u32>,
}

impl Arrows {
    /// Arrows to these device events; none in files of Kineto, whose launches bear ids.
    pub(super) fn of(trace: &Trace, devices: &[u32]) -> Self {
        let mut arrows = Self::default();
        if devices.is_empty() || trace.flows.is_empty() || trace.producer().is_none() {
            return arrows;
        }
        let is_host = |row: &usize| !trace.is_on_device(*row) && trace.events.kind[*row] != EventKind::Python;
        let hosts = ArrowTargets::new(trace, (0..trace.events.len()).filter(is_host));
        let devices = ArrowTargets::new(trace, devices.iter().map(|row| *row as usize));
        for mut ends in flows(trace, |_| true) {
            sort::by_key(&mut ends, |end| (end.time, end.position));
            let mut source = None;
            for end in ends {
                if trace.track(end.track).stream.is_some() {
                    if let (Some(host), Some(device)) = (source, devices.at(trace, end)) {
                        arrows.push(trace, device, host);
                    }
                } else if let Some(host) = hosts.at(trace, end)
                    && let Some(before) = source.replace(host).filter(|before| *before != host)
                {
                    arrows.queued.entry(host).or_insert(before);
                }
            }
        }
        arrows
    }

    fn push(&mut self, trace: &Trace, device: u32, host: u32) {
        let is_call = trace.events.kind[host as usize] == EventKind::Launch;
        if is_call { &mut self.calls } else { &mut self.others }.push((device, host));
    }

    /// Both ends of each arrow: events from one to the next.
    pub(super) fn ends(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let to_devices = self.calls.iter().chain(&self.others).map(|(device, host)| (*host, *device));
        to_devices.chain(self.queued.iter().map(|(to, from)| (*from, *to)))
    }

    /// Host events from which arrows lead to a host event, one behind the other.
    pub(super) fn before(&self, host: u32) -> impl Iterator<Item = u32> + '_ {
        let first = Some(host);
        std::iter::successors(first, |row| self.queued.get(row).copied()).take(MAX_ARROWS)
    }
}

/// Arrows that are followed one behind the other, which may form a circle.
const MAX_ARROWS: usize = 4;

/// Events that were open before one that are looked at.
const MAX_OPEN: usize = 16;

/// Events by track and start.
struct ArrowTargets(Vec<(TrackId, Ts, u32)>);

impl ArrowTargets {
    fn new(trace: &Trace, rows: impl Iterator<Item = usize>) -> Self {
        let events = &trace.events;
        let mut rows: Vec<_> = rows.map(|row| (events.track.at(row), events.start.at(row), row as u32)).collect();
        // Of equal starts, the shortest is the last.
        sort::by_key(&mut rows, |(track, start, row)| {
            (*track, *start, std::cmp::Reverse(events.dur.at(*row as usize)), *row)
        });
        Self(rows)
    }

    /// The event that starts last of those around the end of an arrow.
    fn at(&self, trace: &Trace, end: &Flow) -> Option<u32> {
        let after = self.0.partition_point(|(track, start, _)| (*track, *start) <= (end.track, end.time));
        let open = self.0[..after].iter().rev().take(MAX_OPEN).take_while(|(track, ..)| *track == end.track);
        let mut around =
            open.filter(|(_, start, row)| *start == end.time || end.time <= trace.events.end(*row as usize));
        around.next().map(|(.., row)| *row)
    }
}
