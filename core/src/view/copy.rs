//! Copies a range of the screen to a file, redacted.

use super::fields::RequestFields;
use super::screen::Screen;
use super::session::Session;
use super::session_trace::TraceView;
use crate::edit::{Redaction, redact, trim};
use crate::error::Error;
use crate::link::LinkedTrace;
use crate::trace::Trace;

impl Session {
    /// Copies the range between `start` and `end` of the traces, with all links, optionally
    /// `redacted`. `request` is JSON, `{"align", "start", "end", "redacted"}`, all keys optional.
    /// An error for an invalid request.
    ///
    /// ```
    /// use kinetoscope::{Input, Limits, LinkedTrace, read, view::Session};
    /// let json = br#"[{"ph": "X", "name": "a", "tid": 1, "ts": 1, "dur": 2}, {"ph": "X", "name": "b", "tid": 1, "ts": 5, "dur": 2}]"#;
    /// let session = Session::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
    /// let second = session.copy(br#"{"start": 4000, "end": 9000}"#)?;
    /// assert!(second.traces().map(|linked| linked.trace.event_name(0)).eq(["b"]));
    /// # Ok::<(), kinetoscope::Error>(())
    /// ```
    pub fn copy(&self, request: &[u8]) -> Result<Self, Error> {
        let wanted = RequestFields::parse(request)?;
        let screen = Screen::new(self, wanted.maybe("align")?.unwrap_or_default(), true);
        let (start, end) = (wanted.maybe("start")?, wanted.maybe("end")?);
        let mut traces: Vec<Trace> = screen.parts.iter().map(|part| within(*part, start, end)).collect();
        let is_redacted = wanted.maybe("redacted")?.unwrap_or_default();
        if is_redacted {
            traces = redact(&traces, Redaction::default());
        }
        let mut copy = Self::default();
        for (part, trace) in screen.parts.iter().zip(traces) {
            let name = if is_redacted { "" } else { &part.name };
            copy.add(name, part.rank, LinkedTrace::new(trace))?;
        }
        Ok(copy)
    }
}

fn within(part: TraceView<'_>, start: Option<f64>, end: Option<f64>) -> Trace {
    let range = part.between(start, end);
    range.map_or_else(|| part.linked.trace.clone(), |range| trim(&part.linked, range).trace)
}
