//! A request for the events of an analysis.

use serde_json::{Map, Value};

use super::part_request::{PartRequest, flag, integer};
use crate::error::Error;
use crate::link::LinkedTrace;

/// A request for the events of an analysis.
#[derive(Debug, Clone, Default)]
pub struct SelectionRequest {
    /// The part of the trace.
    pub part: PartRequest,
    /// Whether the answer has a table for each phase, one under another.
    pub by_phase: bool,
    /// The number of a stream.
    pub stream: Option<i64>,
    /// Whether device events launched outside the part are left out.
    pub is_launched_inside: bool,
    /// Whether times are not cut to the part.
    pub is_unclipped: bool,
}

/// The option that divides a result, which analyses may have for their own, too.
pub(super) const BY: &str = "by";

/// The value of it that divides by phase.
const PHASE: &str = "phase";

impl SelectionRequest {
    /// Removes the keys of the selection from a request.
    pub(super) fn take(request: &mut Map<String, Value>) -> Result<Self, Error> {
        let by_phase = request.get(BY).is_some_and(|by| by == PHASE);
        if by_phase {
            request.remove(BY);
        }
        Ok(Self {
            part: PartRequest::take(request)?,
            by_phase,
            stream: integer(request, "stream")?,
            is_launched_inside: flag(request, "launched_inside", false)?,
            is_unclipped: !flag(request, "clip", true)?,
        })
    }

    /// A part of a trace, cut to it.
    pub fn of(part: PartRequest) -> Self {
        Self { part, ..Self::default() }
    }

    /// The same; a trace may lack the part.
    pub(super) fn lenient(&self) -> Self {
        let mut lenient = self.clone();
        lenient.part.is_lenient |= self.part.is_by_name();
        lenient
    }

    /// The same for each phase of the iterations of any of the traces, with its name.
    pub(super) fn of_phases(&self, traces: &[&LinkedTrace]) -> Result<Vec<(&'static str, Self)>, Error> {
        let phases = self.part.of_phases(traces)?.into_iter();
        Ok(phases.map(|(phase, part)| (phase, Self { part, by_phase: false, ..self.clone() })).collect())
    }
}
