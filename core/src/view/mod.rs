//! What a screen asks of a trace: one function, bytes in, bytes out, the same for every host.
//!
//! The requests and their answers are listed in ARCHITECTURE.md, "The host seam".

mod align;
mod analysis;
mod change;
mod chart;
mod context;
mod copy;
mod counter;
mod event;
mod fields;
mod finding;
mod gap;
mod labels;
mod lanes;
mod launched;
mod overview;
mod owner;
mod part;
mod path;
mod picture;
mod pixel;
mod report;
mod request;
mod response;
mod screen;
mod search;
mod series;
mod shown_kind;
mod siblings;
mod summary;
mod svg;
mod term;
mod tiles;

use std::sync::{Arc, OnceLock};

use serde_json::json;

use crate::analyze::{DrawnStep, Finding, RankedTrace, Selection, TOP};
use crate::error::{Error, ErrorKind};
use crate::link::LinkedTrace;
use crate::link::rank::Ranks;
pub use chart::chart;
use part::Part;
use request::{Asked, Request};
use response::Response;
use screen::Screen;

/// Linked traces with what screens need: one, those of a job, or two that are compared.
#[derive(Debug, Clone, Default)]
pub struct Session {
    parts: Vec<Part>,
    ranks: OnceLock<Arc<Ranks>>,
    /// The critical path through all ranks; found when first asked for.
    path: OnceLock<Vec<DrawnStep>>,
    /// What slows the job down, wherever its traces lie on a screen; found when first asked for.
    findings: OnceLock<Vec<Finding>>,
}

/// A name of a trace in HTML, as reports have it: what tells it from others first, then all of it.
pub fn name_html(text: &str) -> String {
    report::name(text)
}

impl Session {
    /// Prepares a trace for screens.
    pub fn new(linked: impl Into<Arc<LinkedTrace>>) -> Self {
        let linked = linked.into();
        let part = Part::after(&[], (String::new(), linked.trace.rank()), linked);
        Self { parts: part.into_iter().collect(), ..Self::default() }
    }

    /// Puts another trace on the screen, after the others: with what it is called, which may be empty, and its rank, if it does
    /// not tell that itself. An error when there would be more events or tracks than ids.
    pub fn add(&mut self, name: &str, rank: Option<i64>, linked: impl Into<Arc<LinkedTrace>>) -> Result<(), Error> {
        let linked = linked.into();
        let label = (name.to_owned(), linked.trace.rank().or(rank));
        let part = Part::after(&self.parts, label, linked);
        self.parts.push(part.ok_or(ErrorKind::Limit { unit: "events", limit: u32::MAX.into() })?);
        self.ranks = OnceLock::new();
        self.path = OnceLock::new();
        self.findings = OnceLock::new();
        Ok(())
    }

    /// The traces, in their order.
    pub fn traces(&self) -> impl Iterator<Item = &Arc<LinkedTrace>> {
        self.parts.iter().map(|part| &part.linked)
    }

    /// The traces, each with its rank.
    fn ranked(&self) -> Vec<RankedTrace> {
        self.parts.iter().map(|part| (part.rank, Arc::clone(&part.linked))).collect()
    }

    /// What the traces share.
    fn ranks(&self) -> &Ranks {
        self.ranks.get_or_init(|| Arc::new(Ranks::new(self.ranked(), true)))
    }

    /// The critical path through all traces, as ranks of a job.
    fn path(&self) -> Result<&[DrawnStep], Error> {
        once(&self.path, || path::steps_of_job(&self.ranked()))
    }

    /// What slows the job down.
    fn findings(&self) -> Result<&[Finding], Error> {
        once(&self.findings, || finding::of_job(&self.ranked(), &|at| self.parts[at].trimmed()))
    }

    /// By how many nanoseconds the clock of each trace is ahead; 0 where no communication tells.
    fn clocks(&self) -> Vec<i64> {
        let members = self.ranks().members.iter();
        members.map(|member| member.clock.map_or(0, |clock| clock.offset_ns)).collect()
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
        let answer = Request::parse(request).and_then(|asked| self.answer(&asked));
        answer.unwrap_or_else(|error| Response::error(&error)).to_bytes()
    }

    /// All of it as an SVG picture `width` pixels wide, for pages that run no script.
    pub fn picture(&self, width: u32) -> String {
        let screen = Screen::new(self, align::Align::default(), true);
        picture::draw(&screen, screen.span(), width)
    }

    fn answer(&self, asked: &Asked) -> Result<Response, Error> {
        let screen = Screen::new(self, asked.align, asked.has_frames);
        match &asked.request {
            Request::Overview => Ok(overview::answer(&screen)),
            Request::Tiles(request) => tiles::answer(&screen, request),
            Request::At { track, lane, time, tolerance } => Ok(event::at(&screen, (*track, *lane), *time, *tolerance)),
            Request::Gap { track, time } => Ok(gap::answer(&screen, *track, *time)),
            Request::Event { id } => screen.event(*id).map(|(part, row)| event::details(part, row)),
            Request::Links { id } => screen.event(*id).map(|(part, row)| event::links(&screen, part, row)),
            Request::Neighbour { id, direction } => {
                screen.event(*id).map(|(part, row)| event::neighbour(part, row, *direction))
            }
            Request::Search(request) => Ok(search::answer(&screen, request)),
            Request::Marks { text, window } => search::marks(&screen, text, *window),
            Request::Analyze(request) => analysis::answer(&screen, request),
            Request::Report { title, facts, left_out } => Ok(report::answer(&screen, title, facts, left_out)),
            Request::Picture { width } => {
                Ok(Response::of("picture", &json!({"svg": picture::draw(&screen, screen.span(), *width)})))
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
                let selection = Selection::within(&part.linked, part.between(*start, *end));
                Ok(summary::answer(&selection, limit.unwrap_or(TOP), *has_findings))
            }
        }
    }
}

/// What is known, or what `find` finds, which is kept if it is no error.
fn once<T>(known: &OnceLock<Vec<T>>, find: impl FnOnce() -> Result<Vec<T>, Error>) -> Result<&[T], Error> {
    if known.get().is_none() {
        // Another thread may have been faster, with the same.
        let _ = known.set(find()?);
    }
    Ok(known.get().map_or(&[], Vec::as_slice))
}
