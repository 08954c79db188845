//! Builds jobs with groups and splits.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::RankedTrace;
use serde_json::{Value, json};

use crate::files;

/// A communication as a rank records it; times in µs.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) collective: &'static str,
    pub(crate) group: &'static str,
    pub(crate) ranks: Value,
    pub(crate) seq: i64,
    pub(crate) start: i64,
    pub(crate) dur: i64,
    /// Elements that go in and come out.
    pub(crate) elems: [i64; 2],
    pub(crate) splits: [String; 2],
    pub(crate) module: Option<&'static str>,
}

/// The trace of a rank on device `rank % 2`, with these headers. All is in one iteration.
pub(crate) fn traced(rank: i64, header: &Value, records: &[Record]) -> RankedTrace {
    let mut events = vec![host("user_annotation", "ProfilerStep#1", 1, 100_000, &json!({}))];
    for (at, record) in records.iter().enumerate() {
        let (start, correlation) = (record.start, 1_000 + at);
        if let Some(module) = record.module {
            events.push(host(
                "python_function",
                &format!("nn.Module: {module}"),
                start - 6,
                5,
                &json!({"Python id": at}),
            ));
        }
        let args = json!({"Collective name": record.collective, "Process Group Name": record.group, "dtype": "Float",
            "Seq": record.seq, "Process Group Ranks": record.ranks.to_string(),
            "Group size": record.ranks.as_array().unwrap().len(), "In msg nelems": record.elems[0],
            "Out msg nelems": record.elems[1], "In split size": record.splits[0], "Out split size": record.splits[1]});
        events.push(host("cpu_op", "record_param_comms", start - 5, 3, &args));
        events.push(host("cuda_runtime", "launch", start - 4, 1, &json!({"correlation": correlation})));
        events.push(json!({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_Generic()", "pid": rank % 2, "tid": 9,
            "ts": start, "dur": record.dur,
            "args": {"correlation": correlation, "device": rank % 2, "stream": 9}}));
    }
    let mut document = json!({"distributedInfo": {"rank": rank, "world_size": 4}, "traceEvents": events});
    document.as_object_mut().unwrap().extend(header.as_object().unwrap().clone());
    (Some(rank), Arc::new(LinkedTrace::new(files::trace(&document.to_string()))))
}

fn host(category: &str, name: &str, start: i64, dur: i64, args: &Value) -> Value {
    json!({"ph": "X", "cat": category, "name": name, "pid": 100, "tid": 1, "ts": start, "dur": dur, "args": args})
}
