//! Answers requests of a page about a memory snapshot, with parts of the page.

use std::sync::Arc;

use maud::PreEscaped;
use serde_json::json;

use super::align::TimeAlignment;
use super::chart::{size_words, time_words};
use super::fields::{RequestFields, unexpected};
use super::report::{ReportSource, band_figure, found_events, memory_at, memory_page};
use super::response::Response;
use super::screen::Screen;
use super::session::Session;
use super::svg::{WHOLE, clipped, finished};
use crate::analyze::tables::{self, BandAllocation, BandAxis, SnapshotAllocation};
use crate::error::Error;
use crate::id::StackId;
use crate::memory::MemorySnapshot;

/// A memory snapshot on a screen.
pub struct MemorySession {
    snapshot: Arc<MemorySnapshot>,
    allocations: Vec<SnapshotAllocation>,
}

impl MemorySession {
    /// Holds a snapshot.
    pub fn new(snapshot: impl Into<Arc<MemorySnapshot>>) -> Self {
        let snapshot = snapshot.into();
        Self { allocations: tables::snapshot_allocations(&snapshot), snapshot }
    }

    /// The body of the page, as HTML. It needs no scripts.
    ///
    /// ```
    /// use kinetoscope::{Input, Limits, Recording, read_file, view::MemorySession};
    /// let json = br#"{"segments": [{"device": 0, "address": 512, "total_size": 2048, "blocks": []}], "device_traces": []}"#;
    /// let Recording::MemorySnapshot(snapshot) = read_file(Input::new(json), Limits::default())? else { panic!() };
    /// let session = MemorySession::new(*snapshot);
    /// assert!(session.page("snapshot.json").contains("Memory by device"));
    /// let answer = session.query(br#"{"type": "state", "at": "end"}"#);
    /// assert!(String::from_utf8_lossy(&answer).contains("memory layout"));
    /// # Ok::<(), kinetoscope::Error>(())
    /// ```
    pub fn page(&self, title: &str) -> String {
        memory_page(&self.snapshot, &self.allocations, title)
    }

    /// Answers a request with a part of the page, as HTML: `bands` in a window of an axis, the
    /// `state` at a moment, or the `events` that match a text. Or with lines about the allocation
    /// of a `band`, or the `stack` of an action (see docs/protocol.md).
    pub fn query(&self, request: &[u8]) -> Vec<u8> {
        self.answer(request).unwrap_or_else(|error| Response::error(&error)).to_bytes()
    }

    fn answer(&self, request: &[u8]) -> Result<Response, Error> {
        let (snapshot, allocations) = (&self.snapshot, &self.allocations[..]);
        let fields = RequestFields::parse(request)?;
        let kind: String = fields.get("type")?;
        let mut row = None;
        let html = match &kind[..] {
            "bands" | "band" => {
                let name: String = fields.get("axis")?;
                let axis = BandAxis::named(&name).ok_or_else(|| unexpected("the axis time or actions", name))?;
                let (first, last) = tables::memory_extent(snapshot, axis);
                // Offsets are exact below 2^53 ns, a hundred days.
                let at = |offset: f64| first.saturating_add(offset as i64).clamp(first, last);
                let window = (at(fields.get("start")?), at(fields.get("end")?));
                if let Some(row) = fields.maybe::<usize>("row")? {
                    let found = tables::band_allocation(snapshot, allocations, axis, (window, row));
                    return Ok(lines(&kind, found.map_or_else(rest, |found| self.allocation(found, axis, first))));
                }
                band_figure(&tables::memory_bands(snapshot, allocations, axis, window), axis)
            }
            "state" => {
                let moment: String = fields.get("at")?;
                let state = tables::memory_state_of(snapshot, allocations, &moment)?;
                row = tables::action_of_moment(snapshot, allocations, &moment)?;
                let session = Session::default();
                let screen = Screen::new(&session, TimeAlignment::default(), false);
                memory_at(&ReportSource::of(&screen), &state)
            }
            "events" => {
                let (text, first): (String, usize) = (fields.get("text")?, fields.get("first")?);
                Ok(found_events(snapshot, &text, first))
            }
            "stack" => {
                let action = snapshot.actions.get(fields.get::<usize>("row")?);
                return Ok(lines(&kind, self.stack(action.and_then(|action| action.stack))));
            }
            _ => return Err(unexpected("a request of type bands, band, state, events or stack", kind)),
        };
        // The tables are there: only a defect of this program can fail here.
        let html = html.map_err(|error| unexpected("a table", error.to_string()))?;
        Ok(Response::of(&kind, &json!({"html": finished(html), "row": row})))
    }

    /// An allocation in words, then its stack.
    fn allocation(&self, found: BandAllocation, axis: BandAxis, start: i64) -> Vec<String> {
        let BandAllocation { site, bytes, category, stack, times } = found;
        let (word, noun) = match axis {
            BandAxis::Time => ("", ""),
            BandAxis::Actions => ("action ", " actions"),
        };
        let words = |value: i64| match axis {
            BandAxis::Time => time_words(value as f64),
            BandAxis::Actions => value.to_string(),
        };
        let lasted = match times {
            [Some(from), Some(to)] => format!(", for {}{noun}", words(to.saturating_sub(from))),
            _ => String::new(),
        };
        let [from, to] = times.map(|time| time.map(|time| format!("{word}{}", words(time.saturating_sub(start)))));
        let from = from.unwrap_or_else(|| String::from("before the first action"));
        let to = to.unwrap_or_else(|| String::from("the end"));
        let category = category.replace('_', " ");
        let facts = format!("{} ({bytes} bytes), {category}, from {from} to {to}{lasted}", size_words(bytes as f64));
        [vec![site, facts], self.stack(stack)].concat()
    }

    /// The frames of a stack, innermost first.
    fn stack(&self, stack: Option<StackId>) -> Vec<String> {
        let text = |id| self.snapshot.strings.text(id);
        let line = |line: Option<i64>| line.map_or_else(String::new, |line| format!(":{line}"));
        let frames = stack.into_iter().flat_map(|stack| self.snapshot.stacks.frames(stack));
        let mut lines: Vec<_> = frames
            .map(|frame| format!("{} ({}{})", text(frame.function), text(frame.file), line(frame.line)))
            .collect();
        if lines.is_empty() {
            lines.push(String::from("no stack was recorded"));
        }
        lines
    }
}

/// Facts about the band of the other allocations: no more than its label.
fn rest() -> Vec<String> {
    vec![String::from("other allocations, or none: zoom in to see each")]
}

/// An answer in lines, which a page shows as texts, never as HTML.
fn lines(kind: &str, lines: Vec<String>) -> Response {
    let lines: Vec<_> = lines.into_iter().map(|line| finished(PreEscaped(clipped(&line, WHOLE)))).collect();
    Response::of(kind, &json!({"lines": lines}))
}
