//! Rows without a duration: instants, counters, flows and metadata.

use serde::{Deserialize, Serialize};

use crate::id::{StrId, TrackId};
use crate::time::Ts;
use crate::trace::args::ArgsRef;

/// A point in time (`i`, `I`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instant {
    /// Position in `traceEvents`.
    pub position: u32,
    /// `name`.
    pub name: StrId,
    /// `cat`.
    pub category: StrId,
    /// From `pid` and `tid`.
    pub track: TrackId,
    /// `ts`.
    pub time: Ts,
    /// `args`.
    pub args: ArgsRef,
}

/// A series' value at a point in time (`C`, one row for each key of `args`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counter {
    /// Position in `traceEvents`.
    pub position: u32,
    /// `name`.
    pub name: StrId,
    /// The key in `args`.
    pub series: StrId,
    /// From `pid` and `tid`.
    pub track: TrackId,
    /// `ts`.
    pub time: Ts,
    /// The key's value; not a number when the file has none.
    pub value: f64,
    /// `args`, the same for all series of one element.
    pub args: ArgsRef,
}

/// One end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// Position in `traceEvents`.
    pub position: u32,
    /// `name`.
    pub name: StrId,
    /// `cat`.
    pub category: StrId,
    /// From `pid` and `tid`.
    pub track: TrackId,
    /// `ts`.
    pub time: Ts,
    /// Start, step or end.
    pub phase: FlowPhase,
    /// `id`.
    pub id: FlowId,
    /// `args`, and the keys beside `id`.
    pub args: ArgsRef,
}

/// Name of a metadata element that stands where a file had one that is not kept, so that ids stay
/// the same when a trace is written.
pub const GAP: &str = "kinetoscope_gap";

/// A metadata event of a process or a thread (`M`), kept as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// Position in `traceEvents`.
    pub position: u32,
    /// `name`, such as `thread_name`.
    pub name: StrId,
    /// `pid` as it is written.
    pub process: StrId,
    /// `tid` as it is written.
    pub thread: StrId,
    /// `ts`, where there is one.
    pub time: Option<Ts>,
    /// `args`.
    pub args: ArgsRef,
}

/// The kind of a flow's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlowPhase {
    /// `s`.
    Start,
    /// `t`.
    Step,
    /// `f`.
    Finish,
}

impl FlowPhase {
    /// The letter in the file.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Start => "s",
            Self::Step => "t",
            Self::Finish => "f",
        }
    }
}

/// Names a flow within its category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FlowId {
    /// An integer.
    Number(u64),
    /// Any other text.
    Text(StrId),
}
