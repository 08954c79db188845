//! Does all that can be done with what a reader returns. The targets share it.

pub mod edits;
pub mod screens;
pub mod tables;
pub mod writers;

use std::sync::Arc;

use kinetoscope::analyze::{ANALYSES, AnalysisResult, RankedTrace, analysis, check, coverage, diff, gate, verdict};
use kinetoscope::read::Recording;
use kinetoscope::table::ColumnValues;
use kinetoscope::{Error, Input, Limits, LinkedTrace, Trace, read, read_file};

/// Limits under which an input is fast.
pub const LIMITS: Limits = Limits { max_bytes: 1 << 22, max_threads: 1, include_environment: false };

/// Reads the files of one rank. Mutations keep the place of the separator, which no JSON contains.
pub fn read_parts(bytes: &[u8]) -> Result<Trace, Error> {
    read(bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty()).map(Input::new), LIMITS)
}

/// Does what can be done with a file of any kind.
pub fn exercise_file(bytes: &[u8]) {
    match read_file(Input::new(bytes), LIMITS) {
        Ok(Recording::Trace(trace)) => exercise_trace(*trace, bytes),
        Ok(other) => tables::exercise_recording(other),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Does one of four parts of all that can be done with a trace. The sum of the input's bytes tells
/// which, so any mutation may lead to another one: all of them at once are too slow.
pub fn exercise_trace(trace: Trace, bytes: &[u8]) {
    exercise(trace, bytes, writers::exercise, writers::exercise_part);
}

/// The same of a trace that no reader made.
pub fn exercise_columns(trace: Trace, bytes: &[u8]) {
    exercise(trace, bytes, writers::exercise_columns, writers::exercise_columns);
}

fn exercise(trace: Trace, bytes: &[u8], write: writers::Write, write_part: writers::Write) {
    let linked = Arc::new(LinkedTrace::new(trace));
    match bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)) % 4 {
        0 => {
            tables::exercise_all(&linked);
            exercise_analyses(&linked);
        }
        1 => exercise_selections(&linked),
        2 => screens::exercise(&linked),
        _ => {
            write(&linked);
            edits::exercise(&linked, write_part);
        }
    }
}

/// Runs every analysis on the trace.
fn exercise_analyses(linked: &Arc<LinkedTrace>) {
    for analysis in ANALYSES {
        exercise_answer(analysis.answer(linked, "{}"));
    }
    expect_whole_breakdown(linked);
    let _ = (verdict(linked), coverage(linked));
}

/// Runs every analysis on a part of the trace, and on a job of which it is two ranks.
fn exercise_selections(linked: &Arc<LinkedTrace>) {
    let range = linked.trace.range();
    let middle = range.start.0.midpoint(range.end.0);
    let half = format!(r#"{{"start_ns": {middle}, "end_ns": {}, "clip": false}}"#, range.end.0.max(middle));
    let job: [RankedTrace; 2] = [(Some(0), Arc::clone(linked)), (Some(1), Arc::clone(linked))];
    for analysis in ANALYSES {
        exercise_answer(analysis.answer(linked, &half));
        exercise_answer(analysis.answer_of_job(&job, "{}", 1));
    }
    exercise_answer(diff(linked, linked, "{}"));
    exercise_decisions(&job);
}

/// Compares the trace with itself, and with budgets of all kinds.
fn exercise_decisions(job: &[RankedTrace]) {
    const METRICS: &str = r#"{"metrics": ["step", "device", "memory", "compute", "idle", "operator:*", "kernel:*",
        "module:*"], "fail_over": 0}"#;
    const BUDGETS: &str = r#"{"budget": {"step": "1 ms", "slowest_step": "1 ms", "device": "5 %", "idle": "5 %",
        "peak_memory": "1 GiB", "peak_reserved_memory": "1 GiB", "device_events": 1, "min_iterations": 1,
        "operators": {"*": "1 ms"}, "kernels": {"*": "1 ms"}, "modules": {"*": "1 ms"}, "phases": {"decode": "1 ms"},
        "forbid": ["host_device_sync", "straggler"], "complete": true}}"#;
    let run = || job.to_vec();
    let alone = || vec![job[0].clone()];
    exercise_answer(gate(&[run()], &[run(), run()], METRICS, 1));
    exercise_answer(gate(&[alone(), alone()], &[alone()], METRICS, 1));
    exercise_answer(check(job, BUDGETS, 1));
    exercise_answer(check(&alone(), BUDGETS, 1));
}

fn exercise_answer(answer: Result<AnalysisResult, Error>) {
    match answer {
        Ok(answer) => answer.tables.iter().for_each(|table| tables::exercise(&**table)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Each row of the breakdown adds up to its span.
fn expect_whole_breakdown(linked: &Arc<LinkedTrace>) {
    const PARTS: [&str; 6] =
        ["compute_ns", "exposed_communication_ns", "exposed_copy_ns", "exposed_other_ns", "idle_ns", "unknown_ns"];
    let Ok(answer) = analysis("breakdown").and_then(|analysis| analysis.answer(linked, "{}")) else { return };
    let table = &*answer.tables[0];
    let rows = table.num_rows();
    let column = |name: &str| {
        let place = (0..table.num_columns()).find(|column| table.column_name(*column) == name);
        table.values(place.expect("a column of the breakdown"), 0..rows)
    };
    let parts: Vec<ColumnValues> = PARTS.iter().map(|name| column(name)).collect();
    let spans = column("span_ns");
    // The longest span stands for all that are longer.
    for row in (0..rows).filter(|row| spans.int(*row) != Some(i64::MAX)) {
        let sum: i128 = parts.iter().map(|part| i128::from(part.int(row).unwrap_or_default())).sum();
        assert_eq!(Some(sum), spans.int(row).map(i128::from), "row {row} of the breakdown");
    }
}
