//! What a screen asks of a trace: one function, bytes in, bytes out, the same for every host.
//!
//! The requests and their answers are listed in ARCHITECTURE.md, "The host seam".

mod analysis;
mod chart;
mod event;
mod lanes;
mod overview;
mod picture;
mod request;
mod response;
mod search;
mod svg;
mod tiles;

use std::sync::{Arc, OnceLock};

use crate::analyze::{Selection, TOP, summary};
use crate::error::{Error, ErrorKind};
use crate::link::LinkedTrace;
use crate::time::{Dur, TimeRange, Ts};
pub use chart::chart;
use lanes::LaneIndex;
use request::Request;
use response::Response;

/// A linked trace with what screens need.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// The trace.
    pub linked: Arc<LinkedTrace>,
    lanes: OnceLock<LaneIndex>,
    range: TimeRange,
}

impl Session {
    /// Prepares a trace for screens.
    pub fn new(linked: LinkedTrace) -> Self {
        let range = linked.trace.range();
        Self { linked: Arc::new(linked), lanes: OnceLock::new(), range }
    }

    /// The index of lanes; made when first asked for.
    fn lanes(&self) -> &LaneIndex {
        self.lanes.get_or_init(|| LaneIndex::new(&self.linked))
    }

    /// Answers one request. A request that is not understood is answered too, with what was expected.
    ///
    /// ```
    /// use kinetoscope::{Input, Limits, LinkedTrace, read, view::Session};
    /// let json = br#"[{"ph": "X", "name": "aten::add", "pid": 1, "tid": 2, "ts": 5.1, "dur": 2}]"#;
    /// let session = Session::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
    /// let answer = session.query(br#"{"type": "search", "text": "ADD", "limit": 10}"#);
    /// let header_size = u32::from_le_bytes([answer[0], answer[1], answer[2], answer[3]]) as usize;
    /// assert!(String::from_utf8_lossy(&answer[4..4 + header_size]).contains(r#""count":1"#));
    /// # Ok::<(), kinetoscope::Error>(())
    /// ```
    pub fn query(&self, request: &[u8]) -> Vec<u8> {
        let answer = Request::parse(request).and_then(|request| self.answer(&request));
        answer.unwrap_or_else(|error| Response::error(&error)).to_bytes()
    }

    /// The whole trace as an SVG picture `width` pixels wide, for pages that run no script.
    pub fn picture(&self, width: u32) -> String {
        picture::draw(self, width)
    }

    fn answer(&self, request: &Request) -> Result<Response, Error> {
        match request {
            Request::Overview => Ok(overview::answer(self)),
            Request::Tiles(request) => tiles::answer(self, request),
            Request::At { track, lane, time, tolerance } => Ok(event::at(self, (*track, *lane), *time, *tolerance)),
            Request::Event { id } => Ok(event::details(self, self.row(*id)?)),
            Request::Links { id } => Ok(event::links(self, self.row(*id)?)),
            Request::Neighbour { id, direction } => Ok(event::neighbour(self, self.row(*id)?, *direction)),
            Request::Search { text, limit } => Ok(search::answer(self, text, *limit)),
            Request::Analyze(request) => analysis::answer(self, request),
            Request::Summary { start, end, limit } => {
                let is_whole = start.is_none() && end.is_none();
                let bounds = (start.unwrap_or(0.0), end.unwrap_or_else(|| self.offset(self.range.end)));
                let range = (!is_whole).then(|| self.time_range(bounds.0, bounds.1));
                let limit = limit.unwrap_or(TOP);
                Ok(Response::of("summary", &summary(&Selection::within(&self.linked, range), limit)))
            }
        }
    }

    fn row(&self, id: u32) -> Result<usize, Error> {
        let unknown = || ErrorKind::Request { expected: String::from("the id of an event"), found: id.to_string() };
        Ok(self.linked.trace.events.row_at(id).ok_or_else(unknown)?)
    }

    /// Nanoseconds since the trace's start, as screens count them.
    fn offset(&self, time: Ts) -> f64 {
        time.since(self.range.start).0 as f64
    }

    fn time(&self, offset: f64) -> Ts {
        // A float outside the range of i64 becomes its nearest end.
        self.range.start.after(Dur(offset as i64))
    }

    fn time_range(&self, start: f64, end: f64) -> TimeRange {
        let start = self.time(start.floor());
        TimeRange { start, end: self.time(end.ceil()).max(start) }
    }
}
