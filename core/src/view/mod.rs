//! Answers requests of a screen: one function, bytes in, bytes out, the same for every host.
//!
//! The requests and their answers are listed in docs/protocol.md.

mod align;
mod analysis;
mod change;
mod chart;
mod comparison;
mod context;
mod copy;
mod counter;
mod counterpart;
#[cfg(feature = "digest")]
mod digest_form;
mod event;
mod fields;
mod finding;
mod flame;
mod gap;
mod hits;
mod labels;
mod lanes;
mod launched;
mod memory_session;
mod overview;
mod owner;
mod path;
mod picture;
mod pixel;
mod reference;
#[cfg_attr(not(feature = "python-reports"), expect(dead_code, reason = "grids have parts for comparisons"))]
mod report;
mod request;
mod response;
mod screen;
mod search;
mod series;
mod session;
mod session_trace;
mod shown_kind;
mod siblings;
mod summary;
mod svg;
mod term;
mod tiles;

use std::sync::OnceLock;

use serde_json::json;

use crate::analyze::{DrawnStep, Finding, Selection, TOP};
use crate::error::Error;
pub use chart::chart;
#[cfg(feature = "digest")]
pub use digest_form::DigestForm;
pub use memory_session::MemorySession;
use report::ReportSource;
#[cfg(feature = "python-reports")]
pub use report::{COMPARISONS, GatheredJob, ShownRank, TraceFile, packed_facts};
#[cfg(feature = "digest")]
pub use report::{digest_of_growth, digest_of_snapshot};
use request::{ParsedRequest, Request};
use response::Response;
use screen::Screen;
pub use session::Session;

impl Session {
    /// The critical path through all traces, as ranks of a job.
    fn path(&self) -> Result<&[DrawnStep], Error> {
        once(&self.path, || path::steps_of_job(&self.ranked()))
    }

    /// The bottlenecks of the job.
    fn findings(&self) -> Result<&[Finding], Error> {
        once(&self.findings, || finding::of_job(&self.ranked(), &|at| self.parts[at].trimmed()))
    }

    /// Answers one request. An invalid request returns an error response with the expected form.
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
        let answer = Request::parse(request).and_then(|asked| self.answer(&asked));
        answer.unwrap_or_else(|error| Response::error(&error)).to_bytes()
    }

    /// Answers a request for a report of a job, of which this session has some traces.
    #[cfg(feature = "python-reports")]
    pub fn report_of_job(&self, job: &GatheredJob, request: &[u8]) -> Vec<u8> {
        let answer = Request::parse(request).and_then(|asked| match &asked.request {
            Request::Report { title, facts, left_out, unread, .. } => {
                let screen = Screen::new(self, asked.align, asked.has_frames);
                let source = ReportSource::gathered(&screen, job).lacking(unread);
                Ok(report::answer(&source, title, facts, left_out))
            }
            _ => self.answer(&asked),
        });
        answer.unwrap_or_else(|error| Response::error(&error)).to_bytes()
    }

    fn answer(&self, asked: &ParsedRequest) -> Result<Response, Error> {
        let screen = Screen::new(self, asked.align, asked.has_frames);
        match &asked.request {
            Request::Overview => Ok(overview::answer(&screen)),
            Request::Tiles(request) => tiles::answer(&screen, request),
            Request::At { track, lane, time, tolerance } => Ok(event::at(&screen, (*track, *lane), *time, *tolerance)),
            Request::Gap { track, time } => Ok(gap::answer(&screen, *track, *time)),
            Request::Event { id } => screen.event(*id).map(|(part, row)| event::details(&screen, part, row)),
            Request::Links { id } => screen.event(*id).map(|(part, row)| event::links(&screen, part, row)),
            Request::Neighbour { id, direction } => {
                screen.event(*id).map(|(part, row)| event::neighbour(part, row, *direction))
            }
            Request::Search(request) => Ok(search::answer(&screen, request)),
            Request::Marks { text, window } => search::marks(&screen, text, *window),
            Request::Analyze(request) => analysis::answer(&screen, request),
            Request::Flame { of, against: None } => flame::answer(&screen, of),
            Request::Flame { of, against: Some(other) } => flame::changes(&screen, of, *other),
            Request::Compare(request) => analysis::compare(&screen, request),
            Request::Hits { text, view } => Ok(hits::answer(&screen, text, view)),
            #[cfg(feature = "python-reports")]
            Request::Report { comparison: Some(selection), title, facts, .. } => {
                report::difference(&screen, selection, title, facts)
            }
            Request::Report { title, facts, left_out, unread, .. } => {
                Ok(report::answer(&ReportSource::of(&screen).lacking(unread), title, facts, left_out))
            }
            #[cfg(feature = "digest")]
            Request::Digest { comparison: None, form, max_chars, unread } => {
                report::digest(&ReportSource::of(&screen).lacking(unread), *form, *max_chars)
            }
            #[cfg(feature = "digest")]
            Request::Digest { comparison: Some(selection), form, max_chars, .. } => {
                report::digest_of_comparison(&screen, selection, *form, *max_chars)
            }
            Request::Picture { width, start, end } => {
                let (first, last) = screen.span();
                let range = (start.unwrap_or(first), end.unwrap_or(last));
                let svg = svg::finished(picture::draw(&screen, range, *width));
                Ok(Response::of("picture", &json!({"svg": svg})))
            }
            Request::Analyses => Ok(analysis::all()),
            Request::Findings => Ok(finding::answer(&screen, self.findings()?)),
            Request::Path { is_through_job: true, window } => path::of_job(&screen, self.path()?, *window),
            Request::Path { window, .. } => path::of_parts(&screen, *window),
            Request::Counters => Ok(counter::list(&screen)),
            Request::Counter { counter, window } => counter::answer(&screen, *counter, *window),
            Request::Changes => Ok(change::answer(&screen)),
            Request::Summary { start, end, limit, has_findings, part } => {
                let part = screen.part(*part)?;
                let range = part.between(*start, *end).or_else(|| part.linked.clean_range());
                let selection = Selection::within(&part.linked, range);
                Ok(summary::answer(&selection, limit.unwrap_or(TOP), *has_findings))
            }
        }
    }
}

/// The cached value, or the result of `find`, cached unless it is an error.
fn once<T>(known: &OnceLock<Vec<T>>, find: impl FnOnce() -> Result<Vec<T>, Error>) -> Result<&[T], Error> {
    if known.get().is_none() {
        // Another thread may have been faster, with the same.
        let _ = known.set(find()?);
    }
    Ok(known.get().map_or(&[], Vec::as_slice))
}
