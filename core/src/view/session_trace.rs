//! A trace of a session: its names, and where its ids and tracks begin.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::lanes::LaneIndex;
use super::series::{TimeSeries, all_series};
use super::shown_kind::ShownKind;
use crate::analyze::{
    DrawnStep, HealthRow, LinkCoverage, PartRequest, SelectionRequest, Verdict, WorkClass, classes, coverage,
    drawn_steps, health, verdict,
};
use crate::edit::{Companion, TrimExtent};
use crate::link::{LinkedTrace, MODULE_PREFIX};
use crate::time::{Dur, TimeRange, Ts};
use crate::trace::kind::EventKind;

/// One of the traces of a screen.
#[derive(Debug, Clone)]
pub(super) struct SessionTrace {
    pub(super) linked: Arc<LinkedTrace>,
    /// How the host calls it, if it does.
    pub(super) name: String,
    pub(super) rank: Option<i64>,
    /// Index among the traces of its rank, from 0.
    pub(super) window: i64,
    /// Its place among the parts.
    pub(super) at: usize,
    pub(super) first_id: u32,
    pub(super) first_track: u32,
    /// From its first event to its last, by its own clock.
    pub(super) range: TimeRange,
    /// The trimmed range, if it is a part of a recording.
    pub(super) extent: Option<TrimExtent>,
    /// How it was placed, if it is the trace of another tool beside that of a rank.
    pub(super) companion: Option<Companion>,
    lanes: OnceLock<LaneIndex>,
    lanes_without_frames: OnceLock<LaneIndex>,
    classes: OnceLock<Vec<WorkClass>>,
    path: OnceLock<Vec<DrawnStep>>,
    series: OnceLock<Vec<TimeSeries>>,
    health_and_coverage: OnceLock<(Vec<HealthRow>, LinkCoverage)>,
    verdict: OnceLock<Verdict>,
}

impl SessionTrace {
    /// The part that comes after others, with its name and rank; `None` if there would be more ids
    /// or tracks than can be counted.
    pub(super) fn after(
        others: &[SessionTrace],
        (name, rank): (String, Option<i64>),
        linked: Arc<LinkedTrace>,
    ) -> Option<Self> {
        let (first_id, first_track) =
            others.last().map_or(Some((0, 0)), |before| Some((before.end_id()?, before.end_track()?)))?;
        let (range, extent) = (linked.trace.range(), TrimExtent::of(&linked.trace));
        let companion = Companion::of(&linked.trace);
        let is_like = |other: &&SessionTrace| other.rank == rank && other.is_rank() == companion.is_none();
        let part = Self {
            window: others.iter().filter(is_like).count() as i64,
            name: companion.as_ref().filter(|_| name.is_empty()).map_or(name.clone(), |of| of.tool.clone()),
            rank,
            at: others.len(),
            first_id,
            first_track,
            range,
            extent,
            companion,
            linked,
            lanes: OnceLock::new(),
            lanes_without_frames: OnceLock::new(),
            classes: OnceLock::new(),
            path: OnceLock::new(),
            series: OnceLock::new(),
            health_and_coverage: OnceLock::new(),
            verdict: OnceLock::new(),
        };
        part.end_id().and(part.end_track())?;
        Some(part)
    }

    /// Names a trace without rank and name by its tool.
    pub(super) fn name_by_tool(&mut self) {
        if self.name.is_empty() && self.rank.is_none() {
            self.linked.trace.tool().clone_into(&mut self.name);
        }
    }

    /// Whether it is the trace of a rank, and not of another tool beside one.
    pub(super) fn is_rank(&self) -> bool {
        self.companion.is_none()
    }

    /// The reported range: the trimmed one, without iterations in which the observer of the
    /// Execution Trace ran. `None` for all of a recording.
    pub(super) fn reported(&self) -> Option<TimeRange> {
        let (trimmed, clean) = (self.extent.map(|extent| extent.range), self.linked.clean_range());
        let (Some(trimmed), Some(clean)) = (trimmed, clean) else { return trimmed.or(clean) };
        let common = TimeRange { start: trimmed.start.max(clean.start), end: trimmed.end.min(clean.end) };
        Some(if common.start < common.end { common } else { trimmed })
    }

    /// Requests the reported range.
    pub(super) fn trimmed(&self) -> SelectionRequest {
        SelectionRequest::of(PartRequest::of_range(self.reported()))
    }

    /// Requests the trimmed range, with iterations in which the observer of the Execution Trace
    /// ran.
    pub(super) fn trimmed_with_observed(&self) -> SelectionRequest {
        let part = PartRequest::of_range(self.extent.map(|extent| extent.range));
        SelectionRequest::of(PartRequest { is_with_observed: true, ..part })
    }

    /// Whether an event is a Python function, and not a module, which shows the purpose of events.
    pub(super) fn is_frame(&self, row: usize) -> bool {
        let trace = &self.linked.trace;
        trace.events.kind[row] == EventKind::Python && !trace.event_name(row).starts_with(MODULE_PREFIX)
    }

    /// How many functions of Python there are.
    pub(super) fn num_frames(&self) -> usize {
        (0..self.linked.trace.events.len()).filter(|row| self.is_frame(*row)).count()
    }

    /// The shown kind of an event: its own, or one that only screens have.
    pub(super) fn shown_kind(&self, row: usize) -> ShownKind {
        let kind = self.linked.trace.events.kind[row];
        let communicates = || self.classes.get_or_init(|| classes(&self.linked))[row] == WorkClass::Communication;
        ShownKind((kind != EventKind::Kernel || !communicates()).then_some(kind))
    }

    /// The steps of its critical path; computed on first use.
    pub(super) fn path(&self) -> &[DrawnStep] {
        self.path.get_or_init(|| drawn_steps(&self.linked, self.at))
    }

    /// Time series; computed on first use.
    pub(super) fn series(&self) -> &[TimeSeries] {
        self.series.get_or_init(|| all_series(&self.linked))
    }

    /// Its defects, and how much of it was linked; computed on first use.
    pub(super) fn health_and_coverage(&self) -> &(Vec<HealthRow>, LinkCoverage) {
        self.health_and_coverage.get_or_init(|| (health(&self.linked), coverage(&self.linked)))
    }

    /// Whether it can be trusted; computed on first use.
    pub(super) fn verdict(&self) -> &Verdict {
        self.verdict.get_or_init(|| verdict(&self.linked))
    }

    /// The id after its last.
    fn end_id(&self) -> Option<u32> {
        let last = self.linked.trace.events.position.last();
        last.map_or(Some(self.first_id), |last| self.first_id.checked_add(last)?.checked_add(1))
    }

    /// The track after its last.
    fn end_track(&self) -> Option<u32> {
        self.first_track.checked_add(u32::try_from(self.linked.trace.tracks.len()).ok()?)
    }
}

/// The traces of ranks, which come first. Traces of other tools alone are shown as these are.
pub(super) fn members(parts: &[SessionTrace]) -> &[SessionTrace] {
    match parts.partition_point(SessionTrace::is_rank) {
        0 => parts,
        num_ranks => &parts[..num_ranks],
    }
}

/// A part with its position on the screen: ids, tracks and times of all parts differ.
#[derive(Debug, Clone, Copy)]
pub(super) struct TraceView<'a> {
    part: &'a SessionTrace,
    /// Whether functions of Python are shown.
    has_frames: bool,
    /// The time of its clock that the screen calls 0.
    pub(super) zero: Ts,
}

impl<'a> TraceView<'a> {
    pub(super) fn new(part: &'a SessionTrace, zero: Ts, has_frames: bool) -> Self {
        Self { part, has_frames, zero }
    }

    /// Whether an event is on the screen.
    pub(super) fn is_shown(self, row: usize) -> bool {
        self.has_frames || !self.part.is_frame(row)
    }

    /// The index of the lanes that are on the screen; built on first use.
    pub(super) fn lanes(self) -> &'a LaneIndex {
        let index = if self.has_frames { &self.part.lanes } else { &self.part.lanes_without_frames };
        index.get_or_init(|| LaneIndex::new(&self.part.linked, &|row| self.is_shown(row)))
    }

    /// The lane of an event.
    pub(super) fn lane(self, row: usize) -> u32 {
        self.lanes().of_row(row)
    }

    pub(super) fn part(self) -> &'a SessionTrace {
        self.part
    }

    /// Nanoseconds since the screen's start.
    pub(super) fn offset(self, time: Ts) -> f64 {
        time.since(self.zero).0 as f64
    }

    pub(super) fn time(self, offset: f64) -> Ts {
        // A float outside the range of i64 becomes its nearest end.
        self.zero.after(Dur(offset as i64))
    }

    pub(super) fn time_range(self, start: f64, end: f64) -> TimeRange {
        let start = self.time(start.floor());
        TimeRange { start, end: self.time(end.ceil()).max(start) }
    }

    /// The range between two offsets; the whole trace without them.
    pub(super) fn between(self, start: Option<f64>, end: Option<f64>) -> Option<TimeRange> {
        let is_whole = start.is_none() && end.is_none();
        let end = end.unwrap_or_else(|| self.offset(self.range.end));
        (!is_whole).then(|| self.time_range(start.unwrap_or(f64::MIN), end))
    }

    /// The screen's id of an event.
    pub(super) fn id(self, row: usize) -> u32 {
        self.first_id + self.linked.trace.events.position.at(row)
    }

    /// The screen's number of an event's track.
    pub(super) fn track(self, row: usize) -> u32 {
        self.first_track + self.linked.trace.events.track.at(row).0
    }
}

impl Deref for TraceView<'_> {
    type Target = SessionTrace;

    fn deref(&self) -> &SessionTrace {
        self.part
    }
}
