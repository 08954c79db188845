//! Measures the iterations of one rank.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::analyze::class::{WorkClass, classes};
use crate::analyze::interval::{RangeCover, difference, union};
use crate::analyze::options::Options;
use crate::analyze::query::RankQuery;
use crate::analyze::selection::Selection;
use crate::link::LinkedTrace;
use crate::time::TimeRange;

/// Asks a rank for its iterations.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct HeatTimeQuery;

/// The times of an iteration, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HeatTime {
    /// The number; `None` for a recording without iterations.
    pub(super) number: Option<i64>,
    pub(super) start_ns: i64,
    pub(super) dur_ns: i64,
    /// Time with device work running; `None` if it is not known.
    pub(super) busy_ns: Option<i64>,
    /// Time with communication and no computation on the devices; `None` if it is not known.
    pub(super) exposed_ns: Option<i64>,
}

/// The iterations of a rank, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RankIterations(pub(super) Vec<HeatTime>);

impl RankQuery for HeatTimeQuery {
    const NAME: &'static str = "iteration_times";

    type Reply = RankIterations;

    fn respond(self, selection: &Selection<'_>, _: &Options) -> Self::Reply {
        iteration_times(selection)
    }
}

/// The iterations of a selection; without any, the whole of it.
pub(super) fn iteration_times(selection: &Selection<'_>) -> RankIterations {
    let (mut all, mut communication, mut computation) = (Vec::new(), Vec::new(), Vec::new());
    let classes = classes(selection.linked);
    for row in selection.device_work() {
        let time = selection.time(row);
        all.push(time);
        match classes[row] {
            WorkClass::Communication => communication.push(time),
            WorkClass::Computation => computation.push(time),
            WorkClass::Memory | WorkClass::Other => {}
        }
    }
    let has_work = !all.is_empty();
    let busy = union(all);
    let unknown = RangeCover::of(difference(&union(lost(selection.linked)), &busy));
    let exposed = RangeCover::of(difference(&union(communication), &union(computation)));
    let busy = RangeCover::of(busy);
    let measure = |number, range: TimeRange| {
        let is_known = has_work && unknown.inside_ns(range) == 0;
        HeatTime {
            number,
            start_ns: range.start.0,
            dur_ns: range.dur().0,
            busy_ns: is_known.then(|| busy.inside_ns(range)),
            exposed_ns: is_known.then(|| exposed.inside_ns(range)),
        }
    };
    let found: Vec<_> =
        selection.iterations().map(|iteration| measure(Some(iteration.number), iteration.range())).collect();
    let whole = || selection.rows().next().map(|_| measure(None, selection.span()));
    RankIterations(if found.is_empty() { whole().into_iter().collect() } else { found })
}

/// Times in which devices worked without a record.
fn lost(linked: &Arc<LinkedTrace>) -> Vec<TimeRange> {
    linked.lost_work().times().collect()
}
