//! Tells the commands that lead further.

use super::bottlenecks::DigestFindings;
use super::digest_block::DigestBlock;
use super::digest_contents::DigestContents;
use super::digest_item::{DigestItem, ItemWeights};
use super::digest_value::DigestValue;
use crate::analyze::{VerdictState, known_analysis};
use crate::view::report::requests::OPTIONS;

const WEIGHTS: ItemWeights = ItemWeights { first: 4, step: 4 };
/// Events that a query names.
const MAX_IDS: usize = 8;

/// A command, and what it prints.
type Step = (&'static str, String);

/// The commands for a trace or a job.
pub(super) fn of_recording(
    contents: &DigestContents<'_>,
    found: Option<&DigestFindings>,
    state: VerdictState,
) -> Vec<DigestBlock> {
    let commands = &contents.commands;
    let is_job = contents.source.is_job();
    let mut steps: Vec<Step> = Vec::new();
    if state != VerdictState::Complete {
        steps.push(("gaps of the recording, and options for the next one", commands.other("doctor", "")));
    }
    if let Some(evidence) = found.and_then(DigestFindings::evidence) {
        let ids: Vec<_> = evidence.ids.iter().take(MAX_IDS).map(i64::to_string).collect();
        let query = format!(
            "sql \"select id, name, start_ns, dur_ns, parent_id, launch_id from events where id in ({})\"",
            ids.join(", ")
        );
        let rank = evidence.rank.filter(|_| is_job).map(|rank| format!("--rank {rank}"));
        let command = commands.other(&query, &rank.unwrap_or_default());
        steps.push(("events of the costliest finding (needs kinetoscope[sql])", command));
    }
    let analysis = |name: &str, options: &str| commands.analysis(known_analysis(name).name, options);
    if is_job {
        steps.push(("late arrivals, with their causes", analysis("stragglers", "--table late_arrivals")));
        steps.push(("the critical path through all ranks", analysis("job_critical_path", "")));
    }
    let time = contents.source.outline().and_then(|outline| outline.iteration_time.as_ref());
    if let Some(time) = time.filter(|time| time.count > 1) {
        let command = analysis("operators", &format!("--iteration {}", time.slowest));
        steps.push(("operators of the slowest iteration", command));
    }
    let has_gaps =
        contents.source.ask(known_analysis("idle").name, OPTIONS).is_ok_and(|answer| answer.reason.is_none());
    if has_gaps {
        steps.push(("gaps of streams, with the activity of the host", analysis("idle", "--table gaps")));
    }
    if !is_job {
        steps.push(("the critical path by bound", analysis("critical_path", "--table critical_path_bound")));
    }
    steps.push(("a page with tables and the timeline", commands.other("report", "-o report.html")));
    block(steps)
}

/// A list of commands.
pub(super) fn block(steps: Vec<Step>) -> Vec<DigestBlock> {
    let item = |(at, (words, command)): (usize, Step)| {
        DigestItem::new(WEIGHTS.at(at)).with("purpose", "", DigestValue::Words(words.to_owned())).with(
            "command",
            "",
            DigestValue::Command(command),
        )
    };
    let items = steps.into_iter().enumerate().map(item).collect();
    vec![DigestBlock::list("Commands", String::new(), items)]
}
