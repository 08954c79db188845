//! Builds jobs for tests: collectives and work of each rank, and the resulting tables.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{AnalysisResult, RankedTrace, analysis};
use kinetoscope::table::{ColumnValues, TableRows};
use serde_json::{Value, json};

use crate::files;

/// A communication of all ranks: its name, its number in sequence, its start and its duration, in
/// µs.
pub(crate) type Call = (&'static str, i64, i64, i64);

/// An event: category, name, thread, start and duration in µs, and the launch it belongs to.
pub(crate) type Event = (&'static str, &'static str, u32, i64, i64, i64);

/// The rank's trace.
pub(crate) fn trace(rank: i64, num_ranks: i64, calls: &[Call], others: &[Event]) -> RankedTrace {
    let ranks = Value::from((0..num_ranks).collect::<Vec<_>>());
    let mut events: Vec<Value> = others.iter().map(event).collect();
    for (at, (name, seq, start, dur)) in calls.iter().enumerate() {
        let correlation = 1_000 + at;
        let mut record = event(&("cpu_op", "record_param_comms", 1, start - 5, 3, 0));
        record["args"] = json!({"Collective name": name, "Process Group Name": "0", "dtype": "Float", "Seq": seq,
            "Process Group Ranks": ranks.to_string(), "Group size": num_ranks, "In msg nelems": 1_000,
            "Out msg nelems": 1_000, "Rank": 0});
        events.push(record);
        events.push(event(&("cuda_runtime", "launch", 1, start - 4, 1, correlation as i64)));
        events.push(event(&("kernel", "ncclDevKernel_Generic()", 9, *start, *dur, correlation as i64)));
    }
    let document = json!({"distributedInfo": {"rank": rank}, "traceEvents": events});
    (Some(rank), Arc::new(LinkedTrace::new(files::trace(&document.to_string()))))
}

fn event((category, name, thread, start, dur, correlation): &Event) -> Value {
    let is_device = matches!(*category, "kernel" | "gpu_memcpy" | "gpu_memset");
    json!({"ph": "X", "cat": category, "name": name, "pid": i64::from(!is_device), "tid": thread, "ts": start, "dur": dur,
        "args": {"correlation": correlation, "device": 0, "stream": thread}})
}

/// The result of an analysis of a job.
pub(crate) fn asked(name: &str, traces: &[RankedTrace], request: &Value) -> AnalysisResult {
    analysis(name).unwrap().answer_of_job(traces, &request.to_string(), 2).unwrap()
}

/// A column of one of the tables of an answer.
pub(crate) fn column(answer: &AnalysisResult, table: &str, name: &str) -> Vec<Value> {
    let found: &Arc<dyn TableRows> = answer.tables.iter().find(|found| found.name() == table).expect(table);
    let column = (0..found.num_columns()).find(|at| found.column_name(*at) == name).expect(name);
    match found.values(column, 0..found.num_rows()) {
        ColumnValues::Int(values) => values.iter().map(Value::from).collect(),
        ColumnValues::UInt(values) => values.iter().map(Value::from).collect(),
        ColumnValues::Float(values) => values.iter().map(Value::from).collect(),
        ColumnValues::Bool(values) => values.iter().map(Value::from).collect(),
        ColumnValues::Text { bytes, ends, valid } => {
            let start = |row: usize| row.checked_sub(1).map_or(0, |before| ends[before]);
            (0..ends.len()).map(|row| valid[row].then(|| bytes[start(row)..ends[row]].to_owned()).into()).collect()
        }
    }
}

/// Columns of integers, row by row.
pub(crate) fn rows(answer: &AnalysisResult, table: &str, names: &[&str]) -> Vec<Vec<Value>> {
    let columns: Vec<_> = names.iter().map(|name| column(answer, table, name)).collect();
    (0..columns[0].len()).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect()
}
