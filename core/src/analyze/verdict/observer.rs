//! Remarks on times that the observer of the Execution Trace made longer.

use super::problem::{Problem, VerdictState};
use crate::analyze::number_text::duration_text;
use crate::analyze::statistics::median;
use crate::link::{LinkedTrace, calls};

/// In the header, the median duration of iterations that were not recorded: `ks.profile` writes it.
const UNRECORDED: &str = "kinetoscope_unrecorded_ns";

/// The observer adds about 10 µs to each operator: a remark that everyone sees where no iteration
/// is without it.
pub(super) fn problem(linked: &LinkedTrace) -> Option<Problem> {
    let (trace, all) = (&linked.trace, &linked.links.iterations);
    let durations = |is_observed: bool| {
        let those = all.iter().filter(|iteration| iteration.is_observed == is_observed);
        those.map(|iteration| iteration.dur.0).collect::<Vec<_>>()
    };
    let (observed, clean) = (durations(true), durations(false));
    if observed.is_empty() {
        let has_ids = all.is_empty() && calls(trace).any(|row| trace.record_id(row).is_some());
        let message = format!("the recording ran with the Execution Trace observer, which {SLOWS}");
        return has_ids.then(|| new(1, message).advised(ADVICE).noticed());
    }
    let rows: Vec<u32> = all.iter().filter(|one| one.is_observed).map(|one| one.event).collect();
    let usual_ns = if clean.is_empty() { unrecorded_ns(linked) } else { Some(median(clean.iter().copied())) };
    let observed_ns = median(observed.iter().copied());
    let measured = usual_ns.map_or_else(String::new, |usual_ns| {
        format!(" ({} each, {} without it)", duration_text(observed_ns), duration_text(usual_ns))
    });
    let ran = format!("iterations ran with the Execution Trace observer, which {SLOWS}{measured}");
    let problem = |message: String| new(rows.len(), message).of_rows(trace, &rows).of(all.len());
    Some(match linked.clean_range() {
        Some(_) => problem(ran + ": results leave them out by default"),
        None => problem(ran).advised(ADVICE).noticed(),
    })
}

fn new(count: usize, message: String) -> Problem {
    Problem::new("observed_times", VerdictState::Complete, count, message)
}

const SLOWS: &str = "slows the host";
const ADVICE: &str = "for true host times, record several iterations with ks.profile, or pass execution_trace=False";

/// The median duration of iterations without a recording, if the file says it.
fn unrecorded_ns(linked: &LinkedTrace) -> Option<i64> {
    linked.trace.header_value(UNRECORDED)?.as_i64().filter(|ns| *ns > 0)
}
