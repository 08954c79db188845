//! The critical path, to be drawn over the tracks.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use super::part::View;
use super::pixel::Pixels;
use super::request::Window;
use super::response::{ColumnData, Response, rounded};
use super::screen::Screen;
use crate::analyze::{Bound, BoundRow, Bounds, PathEdge, PathKind, Selection, by_bound, critical_path};
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::time::{TimeRange, Ts};

/// A step of the path: time on an event, or the way from one event to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// The row of the event that it leads from, and when.
    from: (u32, Ts),
    to: (u32, Ts),
    /// What it adds to the length, in nanoseconds.
    weight_ns: i64,
    bound: Bound,
}

/// The path of a trace.
pub(super) fn steps(linked: &Arc<LinkedTrace>) -> Vec<Step> {
    let selection = Selection::all(linked);
    let path = critical_path(&selection);
    let bounds = Bounds::of(linked);
    let step = |edge: &PathEdge| {
        let node = |at: u32| path.graph.nodes[at as usize];
        let (source, target) = (node(edge.source), node(edge.target));
        let ends = match edge.kind {
            PathKind::Operator | PathKind::Kernel => (edge.event, edge.event),
            _ => (source.event, target.event),
        };
        Step {
            from: (ends.0, source.time),
            to: (ends.1, target.time),
            weight_ns: edge.weight_ns,
            bound: bounds.bound(edge),
        }
    };
    path.steps().map(step).collect()
}

pub(super) fn answer(screen: &Screen<'_>, window: Window) -> Result<Response, Error> {
    let window = window.expect_some()?;
    let mut columns = PathColumns::default();
    screen.parts.iter().for_each(|part| columns.add(*part, part.time_range(window.start, window.end), window.pixels));
    let shares: Vec<_> = screen.parts.iter().flat_map(|part| shares(*part)).collect();
    Ok(columns.response(&json!({"bounds": Bound::ALL.map(Bound::name), "shares": shares})))
}

/// What bounds the whole path, the largest share first.
fn shares(part: View<'_>) -> Vec<Value> {
    let steps = part.path().iter().map(|step| (step.bound, step.weight_ns));
    let share = |row: BoundRow| json!({"part": part.at, "bound": row.bound.name(), "total_ns": row.total_ns, "share": rounded(row.share)});
    by_bound(steps).into_iter().map(share).collect()
}

#[derive(Debug, Default)]
struct PathColumns {
    tracks: [Vec<u32>; 2],
    lanes: [Vec<u32>; 2],
    times: [Vec<f64>; 2],
    bounds: Vec<u8>,
}

/// Where a step is, whatever its time: tracks and lanes of its ends, and what bounds it.
type Place = (u32, u32, u32, u32, Bound);

impl PathColumns {
    /// The steps of a part that touch a window; of those within a pixel that have the same place, the first.
    fn add(&mut self, part: View<'_>, window: TimeRange, pixels: u32) {
        let pixels = Pixels::new(part, window, pixels);
        let mut seen: FxHashSet<Place> = FxHashSet::default();
        let mut here = i64::MIN;
        // One step begins where the one before it ends.
        let first = part.path().partition_point(|step| step.to.1 < window.start);
        for step in part.path()[first..].iter().take_while(|step| step.from.1 < window.end) {
            let at = pixels.of(step.from.1);
            if at != here {
                (here, seen) = (at, FxHashSet::default());
            }
            let lane = |row: u32| (part.track(row as usize), part.part().linked.lanes()[row as usize]);
            let (from, to) = (lane(step.from.0), lane(step.to.0));
            // A way along one lane leads to what is next there.
            let is_drawn = if step.from.0 == step.to.0 { step.from.1 < step.to.1 } else { from != to };
            if !is_drawn {
                continue;
            }
            let is_new = seen.insert((from.0, from.1, to.0, to.1, step.bound));
            if !is_new && pixels.of(step.to.1) == at {
                continue;
            }
            for (end, (lane, time)) in [(from, step.from.1), (to, step.to.1)].into_iter().enumerate() {
                self.tracks[end].push(lane.0);
                self.lanes[end].push(lane.1);
                self.times[end].push(part.offset(time));
            }
            self.bounds.push(step.bound as u8);
        }
    }

    fn response(self, data: &Value) -> Response {
        let ([track, end_track], [lane, end_lane], [start, end]) = (self.tracks, self.lanes, self.times);
        Response::of("path", data).with_columns(vec![
            ("start", ColumnData::F64(start)),
            ("end", ColumnData::F64(end)),
            ("track", ColumnData::U32(track)),
            ("lane", ColumnData::U32(lane)),
            ("end_track", ColumnData::U32(end_track)),
            ("end_lane", ColumnData::U32(end_lane)),
            ("bound", ColumnData::U8(self.bounds)),
        ])
    }
}
