//! A problem of a recording, and its table.

use serde::{Deserialize, Serialize};

use crate::table::{Table, boolean, int, json, put, put_name, text};
use crate::time::TimeRange;
use crate::trace::Trace;
use crate::trace::track::Stream;

/// How far a trace can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictState {
    /// Nothing that the recording should have is known to be missing.
    Complete,
    /// Something is missing.
    Incomplete,
    /// Something cannot be as recorded.
    Inconsistent,
}

impl VerdictState {
    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
            Self::Inconsistent => "inconsistent",
        }
    }

    /// The words beside numbers of a recording that is not complete.
    pub fn caveat(self) -> Option<&'static str> {
        match self {
            Self::Complete => None,
            Self::Incomplete => Some("recorded work only: the recording is incomplete"),
            Self::Inconsistent => Some("may be wrong: the recording is inconsistent"),
        }
    }

    /// The same beside host time: lost work does not change how long the rest took.
    pub fn caveat_of_host_time(self) -> Option<&'static str> {
        if self == Self::Incomplete { None } else { self.caveat() }
    }
}

/// Something that is missing from a trace, or cannot be; or a remark about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problem {
    /// A short name, `snake_case`, that stays the same between versions.
    pub name: &'static str,
    /// The state that it means for the trace; `Complete` for a remark.
    pub state: VerdictState,
    /// How often.
    pub count: u64,
    /// Of how many that could have it, where that is known.
    pub num_all: Option<u64>,
    /// The stream that it concerns, where it is one.
    pub device: Option<i64>,
    /// Number of that stream.
    pub stream: Option<i64>,
    /// Start of the time that it concerns, as the file counts time.
    pub start_ns: Option<i64>,
    /// End of that time.
    pub end_ns: Option<i64>,
    /// Ids of events that have it, the first ones, at most 20.
    pub events: Vec<u32>,
    /// The problem in words.
    pub message: String,
    /// The fix.
    pub advice: &'static str,
    /// Whether readers of a summary see it: it decides the verdict, or all numbers depend on it.
    pub is_shown: bool,
}

/// Ids that a problem lists.
const MAX_EVENTS: usize = 20;

impl Problem {
    pub(super) fn new(name: &'static str, state: VerdictState, count: usize, message: impl Into<String>) -> Self {
        Self {
            name,
            state,
            count: count as u64,
            num_all: None,
            device: None,
            stream: None,
            start_ns: None,
            end_ns: None,
            events: Vec::new(),
            message: message.into(),
            advice: "",
            is_shown: state != VerdictState::Complete,
        }
    }

    /// The same with its events: the ids of the first ones, and the time from their first start to
    /// their last end.
    pub(super) fn of_rows(mut self, trace: &Trace, rows: &[u32]) -> Self {
        self.events = rows.iter().take(MAX_EVENTS).map(|row| trace.events.position.at(*row as usize)).collect();
        let start = rows.iter().map(|row| trace.events.start.at(*row as usize)).min();
        let end = rows.iter().map(|row| trace.events.end(*row as usize)).max();
        match start.zip(end) {
            Some((start, end)) => self.at(TimeRange { start, end }),
            None => self,
        }
    }

    pub(super) fn at(self, time: TimeRange) -> Self {
        Self { start_ns: Some(time.start.0), end_ns: Some(time.end.0), ..self }
    }

    pub(super) fn on(self, stream: Option<Stream>) -> Self {
        let (device, stream) = stream.map_or((None, None), |stream| (stream.device, stream.stream));
        Self { device, stream, ..self }
    }

    pub(super) fn of(self, num_all: usize) -> Self {
        Self { num_all: Some(num_all as u64), ..self }
    }

    /// The same, shown in summaries.
    pub(super) fn noticed(self) -> Self {
        Self { is_shown: true, ..self }
    }

    /// The same with its count and its stream in the message.
    pub(super) fn counted(self) -> Self {
        let counted = match self.num_all {
            Some(all) => format!("{} of {all} {}", self.count, self.message),
            None if self.count == 1 => self.message,
            None => format!("{} × {}", self.count, self.message),
        };
        let place = match (self.device, self.stream) {
            (Some(device), Some(stream)) => format!(" (device {device}, stream {stream})"),
            (Some(device), None) => format!(" (device {device})"),
            (None, Some(stream)) => format!(" (stream {stream})"),
            (None, None) => String::new(),
        };
        Self { message: counted + &place, ..self }
    }

    pub(super) fn advised(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }
}

pub(crate) static TABLE: Table<Vec<Problem>> = Table {
    name: "problems",
    doc: "a problem of the recording: something missing or impossible, or a remark (state `complete`)",
    num_rows: Vec::len,
    columns: &[
        text("problem", |rows, at, out| put_name(out, rows[at].name)),
        text("state", |rows, at, out| put_name(out, rows[at].state.name())),
        int("count", |rows, at| Some(rows[at].count as i64)),
        int("num_all", |rows, at| rows[at].num_all.map(|count| count as i64)),
        int("device", |rows, at| rows[at].device),
        int("stream", |rows, at| rows[at].stream),
        int("start_ns", |rows, at| rows[at].start_ns),
        int("end_ns", |rows, at| rows[at].end_ns),
        json("event_ids", |rows, at, out| {
            let ids: Vec<_> = rows[at].events.iter().map(u32::to_string).collect();
            put(out, &format!("[{}]", ids.join(", ")))
        }),
        text("message", |rows, at, out| put(out, &rows[at].message)),
        text("advice", |rows, at, out| put(out, rows[at].advice)),
        boolean("is_shown", |rows, at| Some(rows[at].is_shown)),
    ],
};
