//! Answers the critical path for drawing.

use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use super::pixel::PixelScale;
use super::request::TimeWindow;
use super::response::{ColumnData, Response, rounded};
use super::screen::Screen;
use super::session_trace::{SessionTrace, TraceView};
use crate::analyze::{
    BoundRow, DrawnStep, Job, Options, PathBound, RankedTrace, SelectionRequest, by_bound, drawn_steps_of_job,
};
use crate::error::Error;
use crate::time::{Ts, sum_ns};

/// The path through all traces of a job.
pub(super) fn steps_of_job(traces: &[RankedTrace]) -> Result<Vec<DrawnStep>, Error> {
    let job = Job::of(traces, &|_| SelectionRequest::default(), &Options::default(), 1)?;
    Ok(drawn_steps_of_job(&job))
}

/// The path of each part, with its bounds.
pub(super) fn of_parts(screen: &Screen<'_>, window: TimeWindow) -> Result<Response, Error> {
    let mut columns = PathColumns::new(screen, window.expect_some()?);
    for part in &screen.parts {
        // One step begins where the one before it ends.
        let (path, time) = (part.path(), part.time_range(window.start, window.end));
        let first = path.partition_point(|step| step.to.2 < time.start);
        columns.add(path[first..].iter().take_while(|step| step.from.2 < time.end));
    }
    let shares: Vec<_> = screen.parts.iter().flat_map(|part| shares(part.path(), Some(part.at))).collect();
    Ok(columns.response(&shares, &[]))
}

/// The path through all parts as ranks of a job, with its bounds and the share of each rank.
pub(super) fn of_job(screen: &Screen<'_>, path: &[DrawnStep], window: TimeWindow) -> Result<Response, Error> {
    let mut columns = PathColumns::new(screen, window.expect_some()?);
    columns.add(path.iter());
    let all_ns = sum_ns(path.iter().map(|step| step.weight_ns)).max(1);
    let on = |part: &SessionTrace| {
        let total_ns = sum_ns(path.iter().filter(|step| step.to.0 == part.at).map(|step| step.weight_ns));
        json!({"part": part.at, "total_ns": total_ns, "share": rounded(total_ns as f64 / all_ns as f64)})
    };
    let ranks: Vec<_> = screen.parts.iter().map(|part| on(part)).collect();
    Ok(columns.response(&shares(path, None), &ranks))
}

/// The bounds of the whole path, the largest share first.
fn shares(path: &[DrawnStep], part: Option<usize>) -> Vec<Value> {
    let rows = by_bound(path.iter().map(|step| (step.bound, step.weight_ns))).into_iter();
    let share = |row: BoundRow| json!({"part": part, "bound": row.bound.name(), "total_ns": row.total_ns, "share": rounded(row.share)});
    rows.map(share).collect()
}

struct PathColumns<'a> {
    screen: &'a Screen<'a>,
    window: TimeWindow,
    /// Of each part.
    pixels: Vec<PixelScale>,
    tracks: [Vec<u32>; 2],
    lanes: [Vec<u32>; 2],
    times: [Vec<f64>; 2],
    bounds: Vec<u8>,
}

/// The position of a step without its time: tracks and lanes of its ends, and its bound.
type PathSegmentKey = ((u32, u32), (u32, u32), PathBound);

impl<'a> PathColumns<'a> {
    fn new(screen: &'a Screen<'a>, window: TimeWindow) -> Self {
        let pixels =
            |part: &TraceView<'_>| PixelScale::new(*part, part.time_range(window.start, window.end), window.pixels);
        Self {
            screen,
            window,
            pixels: screen.parts.iter().map(pixels).collect(),
            tracks: Default::default(),
            lanes: Default::default(),
            times: Default::default(),
            bounds: Vec::new(),
        }
    }

    /// The steps that touch the window; of those within a pixel that have the same place, the
    /// first.
    fn add<'b>(&mut self, steps: impl Iterator<Item = &'b DrawnStep>) {
        let mut seen: FxHashSet<PathSegmentKey> = FxHashSet::default();
        let mut here = i64::MIN;
        for step in steps {
            let ends = [step.from, step.to];
            let [start, end] = ends.map(|(part, _, time)| self.screen.parts[part].offset(time));
            if end < self.window.start || start >= self.window.end {
                continue;
            }
            let [first, last] = ends.map(|(part, _, time): (usize, u32, Ts)| self.pixels[part].of(time));
            if first != here {
                (here, seen) = (first, FxHashSet::default());
            }
            let [from, to] = ends.map(|(part, row, _)| {
                let part = self.screen.parts[part];
                (part.track(row as usize), part.lane(row as usize))
            });
            // A way along one lane leads to the next event there.
            let is_on_one = (step.from.0, step.from.1) == (step.to.0, step.to.1);
            let is_drawn = if is_on_one { start < end } else { from != to };
            if !is_drawn || !seen.insert((from, to, step.bound)) && last == first {
                continue;
            }
            for (at, ((track, lane), time)) in [(from, start), (to, end)].into_iter().enumerate() {
                self.tracks[at].push(track);
                self.lanes[at].push(lane);
                self.times[at].push(time);
            }
            self.bounds.push(step.bound as u8);
        }
    }

    fn response(self, shares: &[Value], ranks: &[Value]) -> Response {
        let data = json!({"bounds": PathBound::ALL.map(PathBound::name), "shares": shares, "ranks": ranks});
        let ([track, end_track], [lane, end_lane], [start, end]) = (self.tracks, self.lanes, self.times);
        Response::of("path", &data).with_columns(vec![
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
