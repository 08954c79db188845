//! What has no duration: instants, counters, and the ends of flows.

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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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
}

/// One end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Which end.
    pub phase: FlowPhase,
    /// `id`.
    pub id: FlowId,
}

/// Which end of a flow.
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
