//! Answers requests of a page about a memory snapshot, with parts of the page.

use std::sync::Arc;

use serde_json::json;

use super::align::TimeAlignment;
use super::fields::{RequestFields, unexpected};
use super::report::{ReportSource, band_figure, found_events, memory_at, memory_page};
use super::response::Response;
use super::screen::Screen;
use super::session::Session;
use super::svg::finished;
use crate::analyze::tables::{self, BandAxis, SnapshotAllocation};
use crate::error::Error;
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
    /// `state` at a moment, or the `events` that match a text (see docs/protocol.md).
    pub fn query(&self, request: &[u8]) -> Vec<u8> {
        self.answer(request).unwrap_or_else(|error| Response::error(&error)).to_bytes()
    }

    fn answer(&self, request: &[u8]) -> Result<Response, Error> {
        let (snapshot, allocations) = (&self.snapshot, &self.allocations[..]);
        let fields = RequestFields::parse(request)?;
        let kind: String = fields.get("type")?;
        let html = match &kind[..] {
            "bands" => {
                let name: String = fields.get("axis")?;
                let axis = BandAxis::named(&name).ok_or_else(|| unexpected("the axis time or actions", name))?;
                let (first, last) = tables::memory_extent(snapshot, axis);
                // Offsets are exact below 2^53 ns, a hundred days.
                let at = |offset: f64| first.saturating_add(offset as i64).clamp(first, last);
                let window = (at(fields.get("start")?), at(fields.get("end")?));
                band_figure(&tables::memory_bands(snapshot, allocations, axis, window), axis)
            }
            "state" => {
                let state = tables::memory_state_of(snapshot, allocations, &fields.get::<String>("at")?)?;
                let session = Session::default();
                let screen = Screen::new(&session, TimeAlignment::default(), false);
                memory_at(&ReportSource::of(&screen), &state)
            }
            "events" => {
                let (text, first): (String, usize) = (fields.get("text")?, fields.get("first")?);
                Ok(found_events(snapshot, &text, first))
            }
            _ => return Err(unexpected("a request of type bands, state or events", kind)),
        };
        // The tables are there: only a defect of this program can fail here.
        let html = html.map_err(|error| unexpected("a table", error.to_string()))?;
        Ok(Response::of(&kind, &json!({"html": finished(html)})))
    }
}
