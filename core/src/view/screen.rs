//! The traces of a screen, aligned in time.

use super::align::TimeAlignment;
use super::session::Session;
use super::session_trace::TraceView;
use crate::error::{Error, ErrorKind};

/// The parts of a session, each where an alignment puts it.
#[derive(Debug)]
pub(super) struct Screen<'a> {
    pub(super) session: &'a Session,
    pub(super) parts: Vec<TraceView<'a>>,
}

impl<'a> Screen<'a> {
    pub(super) fn new(session: &'a Session, align: TimeAlignment, has_frames: bool) -> Self {
        let zeros = align.zeros(&session.parts, || session.clocks());
        let parts =
            session.parts.iter().zip(zeros).map(|(part, zero)| TraceView::new(part, zero, has_frames)).collect();
        Self { session, parts }
    }

    /// The traces of ranks; those of other tools come after them.
    pub(super) fn members(&self) -> &[TraceView<'a>] {
        &self.parts[..self.session.members().len()]
    }

    /// All of its time.
    pub(super) fn span(&self) -> (f64, f64) {
        (0.0, self.duration())
    }

    /// How long it is: from its start, where the earliest event lies, to the end of the last.
    pub(super) fn duration(&self) -> f64 {
        let ends = self.parts.iter().map(|part| part.offset(part.range.end));
        ends.fold(0.0, f64::max)
    }

    /// Where the ranges lie that parts of recordings were trimmed to, if there are any such parts.
    pub(super) fn trimmed(&self) -> Option<(f64, f64)> {
        let ranges = self.parts.iter().filter_map(|part| Some((*part, part.extent?.range)));
        ranges
            .map(|(part, range)| (part.offset(range.start), part.offset(range.end)))
            .reduce(|(start, end), (other_start, other_end)| (start.min(other_start), end.max(other_end)))
    }

    /// Where the ranges lie that reports are about, if they are not all of the time.
    pub(super) fn reported(&self) -> Option<(f64, f64)> {
        self.parts.iter().find_map(|part| part.reported())?;
        let range = |part: &TraceView<'_>| part.reported().unwrap_or(part.range);
        let ranges = self.members().iter().map(|part| (part.offset(range(part).start), part.offset(range(part).end)));
        ranges.reduce(|(start, end), (other_start, other_end)| (start.min(other_start), end.max(other_end)))
    }

    /// The part and the row of an event.
    pub(super) fn event(&self, id: u32) -> Result<(TraceView<'a>, usize), Error> {
        let at = self.parts.partition_point(|part| part.first_id <= id);
        // Parts without events begin where the next one does.
        let part = at.checked_sub(1).map(|at| self.parts[at]);
        let row = part.and_then(|part| Some((part, part.linked.trace.events.row_at(id - part.first_id)?)));
        row.ok_or_else(|| unknown("the id of an event", id).into())
    }

    /// The part and its own number of a track, if there is one of that number.
    pub(super) fn track(&self, track: u32) -> Option<(TraceView<'a>, usize)> {
        let at = self.parts.partition_point(|part| part.first_track <= track).checked_sub(1)?;
        let part = self.parts[at];
        let own = (track - part.first_track) as usize;
        (own < part.linked.trace.tracks.len()).then_some((part, own))
    }

    /// Whether its parts are ranks of one job, not sides of a comparison.
    pub(super) fn is_job(&self) -> bool {
        let Some((first, others)) = self.members().split_first() else { return false };
        others.iter().all(|part| part.name == first.name) && others.iter().any(|part| part.rank != first.rank)
    }

    /// The part that is this trace of a rank.
    pub(super) fn of_rank(&self, rank: Option<i64>, window: i64) -> Option<TraceView<'a>> {
        self.members().iter().copied().find(|part| (part.rank, part.window) == (rank, window))
    }

    /// One of the parts, the first by default.
    pub(super) fn part(&self, at: Option<u32>) -> Result<TraceView<'a>, Error> {
        let wanted = at.unwrap_or(0);
        self.parts.get(wanted as usize).copied().ok_or_else(|| unknown("the number of a trace", wanted).into())
    }
}

fn unknown(expected: &str, found: u32) -> ErrorKind {
    ErrorKind::Request { expected: expected.to_owned(), found: found.to_string() }
}
