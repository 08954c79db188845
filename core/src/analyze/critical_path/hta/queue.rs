//! Counts the pending launches of a stream at each launch and each start.

use rustc_hash::{FxHashMap, FxHashSet};

use super::frame::HtaFrame;
use crate::sort;

/// The length of the queue at each row, where that is known.
///
/// Events of one microsecond keep the order of their nanoseconds, launches first; the other
/// program's order depends on its machine.
pub(super) fn queue(frame: &HtaFrame<'_>) -> Vec<Option<i64>> {
    let rows = &frame.rows;
    let is_launch = |at: &usize| rows[*at].partner.is_some() && rows[*at].name.is_launch;
    let launches: Vec<usize> = (0..rows.len()).filter(is_launch).collect();
    let launched: FxHashSet<i64> = launches.iter().map(|at| rows[*at].correlation).collect();
    let begun = |at: &usize| rows[*at].stream != -1 && launched.contains(&rows[*at].correlation);
    let begun: Vec<usize> = (0..rows.len()).filter(begun).collect();
    let mut streams: FxHashMap<i64, Vec<i64>> = FxHashMap::default();
    for at in &begun {
        streams.entry(rows[*at].correlation).or_default().push(rows[*at].stream);
    }
    let start = |at: usize| frame.trace.events.start.at(rows[at].event as usize).0;
    let mut points = Vec::new();
    for at in launches {
        let streams = streams.get(&rows[at].correlation).into_iter().flatten();
        points.extend(streams.map(|stream| (start(at), at, *stream, 1)));
    }
    points.extend(begun.into_iter().map(|at| (start(at), at, rows[at].stream, -1)));
    let times: Vec<i64> = points.iter().map(|(time, ..)| *time).collect();
    let mut lengths: FxHashMap<i64, i64> = FxHashMap::default();
    let mut found = vec![None; rows.len()];
    for place in sort::places(&times) {
        let (_, at, stream, change) = points[place as usize];
        let length = lengths.entry(stream).or_default();
        *length += change;
        found[at] = Some(*length);
    }
    found
}
