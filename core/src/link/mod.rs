//! What belongs to what: derived columns beside a trace, never inside it.

mod flow;
mod iteration;
mod launch;
mod nesting;
mod record;

use crate::id::OptionalColumn;
use crate::trace::Trace;
pub use flow::ForwardBackward;
pub use iteration::Iteration;
pub use launch::Launched;
pub use nesting::Nesting;
pub use record::RecordLinks;

/// Everything that is derived from one trace, a row an event unless said otherwise.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// Parents, depths, lanes and the order of each track.
    pub nesting: Nesting,
    /// Row of the host event that enqueued a device event.
    pub launch: OptionalColumn,
    /// The same, from the launch's side.
    pub launched: Launched,
    /// Row of the operator or annotation that owns an event: the innermost around it, or around its launch.
    pub operator: OptionalColumn,
    /// Operators and nodes that share a record id.
    pub record: RecordLinks,
    /// Operators of the forward pass with the operators of the backward pass they caused.
    pub forward_backward: Vec<ForwardBackward>,
    /// Iterations in the order of time.
    pub iterations: Vec<Iteration>,
    /// Row in `iterations`.
    pub iteration: OptionalColumn,
}

/// A trace with its links.
#[derive(Debug, Clone, Default)]
pub struct LinkedTrace {
    /// What was recorded.
    pub trace: Trace,
    /// What was derived.
    pub links: Links,
}

impl LinkedTrace {
    /// Links a trace; defects found on the way are added to its warnings.
    pub fn new(mut trace: Trace) -> Self {
        let links = link(&mut trace);
        Self { trace, links }
    }

    /// Time in an event that is in none of its children, in nanoseconds; a device event's whole duration.
    pub fn self_ns(&self, row: usize) -> i64 {
        self.trace.events.dur[row].0.saturating_sub(self.links.nesting.children_ns[row]).max(0)
    }
}

fn link(trace: &mut Trace) -> Links {
    let nesting = nesting::nest(trace);
    let (launch, launched) = launch::link_launches(trace);
    let operator = launch::own(trace, &nesting, &launch);
    let record = record::link_records(trace);
    let forward_backward = flow::link_forward_backward(trace, &nesting);
    let (iterations, iteration) = iteration::find_iterations(trace, &launch);
    Links { nesting, launch, launched, operator, record, forward_backward, iterations, iteration }
}
