//! The content of one file.

use crate::chakra::Chakra;
use crate::flight::FlightRecorder;
use crate::memory::{MemorySnapshot, MemoryTimeline};
use crate::trace::Trace;

/// The content of one file.
#[derive(Debug)]
pub enum Recording {
    /// The recording of a rank.
    Trace(Box<Trace>),
    /// The graph of a rank as simulators read it.
    Chakra(Chakra),
    /// The caching allocator at one moment, with its history.
    MemorySnapshot(Box<MemorySnapshot>),
    /// The last communications of a rank.
    FlightRecorder(Box<FlightRecorder>),
    /// The bytes in use over time.
    MemoryTimeline(MemoryTimeline),
}

impl Recording {
    pub(super) fn of(trace: Trace) -> Self {
        Self::Trace(Box::new(trace))
    }
}
