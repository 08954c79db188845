//! Judges whether a recording can be trusted: complete, incomplete or inconsistent.

mod clock;
mod communication;
mod file_defects;
mod lost_work;
mod missing_ranks;
mod observer;
mod out_of_order;
mod overlong;
mod problem;
mod producer;
mod recorder_marks;
mod sequence_numbers;
mod shared_steps;
mod stream_waits;
mod unknown_kind;
mod unread_content;

use serde::Serialize;

use super::analysis::{Analysis, Run};
use super::interval::RangeCover;
use super::options::Options;
use super::part::TracePart;
use super::result::AnalysisResult;
use super::selection::Selection;
use crate::link::LinkedTrace;
use crate::sort;
pub(crate) use missing_ranks::{MissingRanks, StatedRank};
#[cfg(feature = "digest")]
pub(crate) use problem::TABLE as PROBLEMS_TABLE;
pub use problem::{Problem, VerdictState};

/// Problems of a recording.
pub(super) static PROBLEMS: Analysis = Analysis {
    name: "problems",
    doc: "problems of the recording: lost device work, impossible times, damage of the file, remarks",
    options: &[],
    run: Run::TraceAndJob(problems, missing_ranks::of_job),
};

fn problems(selection: &Selection<'_>, _: &Options) -> AnalysisResult {
    let part = selection.part_asked_for().map(TracePart::all_times);
    let problems = verdict(selection.linked).problems.into_iter().filter(|problem| concerns(problem, part.as_ref()));
    AnalysisResult::of(&problem::TABLE, problems.collect(), "the recording has no known problem")
}

/// How far a trace can be trusted, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The worst state of all problems.
    pub state: VerdictState,
    /// The problems, the worst state first; remarks come last.
    pub problems: Vec<Problem>,
}

/// Judges a trace.
///
/// `state = max(problem.state)` with complete < incomplete < inconsistent.
///
/// ```
/// use kinetoscope::analyze::{VerdictState, verdict};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[
///     {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 3, "args": {"correlation": 7}},
///     {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 9, "dur": 3, "args": {"correlation": 8}},
///     {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 6, "dur": 4, "args": {"correlation": 7}}]"#;
/// let verdict = verdict(&LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// assert_eq!((verdict.state, verdict.problems[0].count), (VerdictState::Incomplete, 1));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn verdict(linked: &LinkedTrace) -> Verdict {
    let mut problems = lost_work::problems(linked);
    problems.extend(overlong::problems(linked));
    problems.extend(out_of_order::problems(linked));
    problems.extend(clock::problems(linked));
    problems.extend(stream_waits::problems(linked));
    problems.extend(recorder_marks::problems(&linked.trace));
    problems.extend(file_defects::problems(linked));
    problems.extend(communication::problem(&linked.trace));
    problems.extend(sequence_numbers::problem(&linked.trace));
    problems.extend(producer::problem(&linked.trace));
    problems.extend(unknown_kind::problem(&linked.trace));
    problems.extend(unread_content::problem(&linked.trace));
    problems.extend(shared_steps::problem(linked));
    problems.extend(observer::problem(linked));
    let mut problems: Vec<_> = problems.into_iter().map(Problem::counted).collect();
    // The order of each state stays.
    sort::by_key(&mut problems, |problem| std::cmp::Reverse(problem.state));
    let state = problems.first().map_or(VerdictState::Complete, |worst| worst.state);
    Verdict { state, problems }
}

/// Whether a problem concerns a part: its time meets the part, or it has none.
fn concerns(problem: &Problem, part: Option<&RangeCover>) -> bool {
    let Some((part, (start, end))) = part.zip(problem.start_ns.zip(problem.end_ns)) else {
        return true;
    };
    part.ranges().iter().any(|range| start < range.end.0 && range.start.0 <= end)
}
