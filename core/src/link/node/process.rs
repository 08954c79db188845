//! Checks whether both files come from one process.

use crate::trace::Trace;

/// Whether the Execution Trace names a process that none of the Kineto trace's operators ran in.
pub(super) fn are_of_two_processes(trace: &Trace) -> bool {
    let header = trace.execution_header.iter().find(|(key, _)| trace.strings.text(*key) == "pid");
    let Some(process) = header.and_then(|(_, pid)| number(trace.strings.text(*pid))) else { return false };
    let mut processes: Vec<_> = trace.tracks.iter().filter(|track| track.stream.is_none()).collect();
    processes.retain(|track| number(trace.strings.text(track.process)).is_some_and(|pid| pid > 0));
    !processes.is_empty() && processes.iter().all(|track| number(trace.strings.text(track.process)) != Some(process))
}

fn number(text: &str) -> Option<i64> {
    text.trim_matches('"').parse().ok()
}
