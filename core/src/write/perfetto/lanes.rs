//! Puts the slices of a thread into lanes in which each either contains another or is apart from
//! it: Perfetto shows no others on one track.

use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;

/// A begin or an end of a slice.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaneMark {
    pub(super) lane: usize,
    pub(super) row: usize,
    pub(super) is_end: bool,
    pub(super) time: Ts,
}

/// Begins and ends of these rows: lane by lane, in the order of time, and inner ones inside outer
/// ones.
pub(super) fn lane_marks(trace: &Trace, mut rows: Vec<usize>) -> Vec<LaneMark> {
    let events = &trace.events;
    sort::by_key(&mut rows, |row| {
        (events.start.at(*row), std::cmp::Reverse(recorded_end(trace, *row)), events.position.at(*row))
    });
    let mut lanes: Vec<Vec<LaneMark>> = Vec::new();
    let mut open: Vec<Vec<usize>> = Vec::new();
    for row in rows {
        let lane = open.iter_mut().position(|stack| fits(trace, stack, row)).unwrap_or(open.len());
        if lane == open.len() {
            open.push(Vec::new());
            lanes.push(Vec::new());
        }
        close(trace, lane, &mut open[lane], Some(events.start.at(row)), &mut lanes[lane]);
        lanes[lane].push(LaneMark { lane, row, is_end: false, time: events.start.at(row) });
        open[lane].push(row);
    }
    for (lane, stack) in open.iter_mut().enumerate() {
        close(trace, lane, stack, None, &mut lanes[lane]);
    }
    lanes.into_iter().flatten().collect()
}

/// Whether a slice is inside the open ones of a lane that have not ended when it starts.
fn fits(trace: &Trace, open: &[usize], row: usize) -> bool {
    let around = open.iter().rev().find(|other| !is_over(trace, **other, trace.events.start.at(row)));
    around.is_none_or(|around| recorded_end(trace, row) <= recorded_end(trace, *around))
}

/// Whether a slice has ended at a time. One without a duration has, too.
fn is_over(trace: &Trace, row: usize, time: Ts) -> bool {
    recorded_end(trace, row) <= time
}

/// Ends the open slices that are over at a time, or all.
fn close(trace: &Trace, lane: usize, open: &mut Vec<usize>, time: Option<Ts>, marks: &mut Vec<LaneMark>) {
    while let Some(row) = open.pop_if(|row| time.is_none_or(|time| is_over(trace, *row, time))) {
        marks.push(LaneMark { lane, row, is_end: true, time: recorded_end(trace, row) });
    }
}

/// The end of an event as the file has it.
pub(super) fn recorded_end(trace: &Trace, row: usize) -> Ts {
    let events = &trace.events;
    events.start.at(row).after(events.impossible_dur(row).unwrap_or(events.dur.at(row)))
}
