//! Builds traces for tests of findings.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{Finding, MIN_SHARE, Selection, findings};
use serde_json::{Value, json};

use crate::files;

/// A trace in the making: a host thread and the streams of one device; times are in microseconds.
#[derive(Default)]
pub(crate) struct Scene {
    pub(crate) events: Vec<Value>,
    pub(crate) header: Value,
}

impl Scene {
    pub(crate) fn host(&mut self, category: &str, name: &str, start: i64, dur: i64) -> &mut Self {
        self.with(category, name, (start, dur), &json!({}))
    }

    pub(crate) fn operator(&mut self, name: &str, start: i64, dur: i64) -> &mut Self {
        self.host("cpu_op", name, start, dur)
    }

    pub(crate) fn annotation(&mut self, name: &str, start: i64, dur: i64) -> &mut Self {
        self.host("user_annotation", name, start, dur)
    }

    pub(crate) fn with(&mut self, category: &str, name: &str, (start, dur): (i64, i64), args: &Value) -> &mut Self {
        let event = json!({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 2, "ts": start, "dur": dur, "args": args});
        self.events.push(event);
        self
    }

    /// A launch at one time, with its kernel at another, on stream 7.
    pub(crate) fn work(&mut self, category: &str, name: &str, launch: (i64, i64), run: (i64, i64)) -> &mut Self {
        let id = self.events.len() + 1;
        let call = if category == "kernel" { "cudaLaunchKernel" } else { "cudaMemcpyAsync" };
        self.with("cuda_runtime", call, launch, &json!({"correlation": id}));
        let args = json!({"correlation": id, "device": 0, "stream": 7, "bytes": 4096});
        let (start, dur) = run;
        let event = json!({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7, "ts": start, "dur": dur, "args": args});
        self.events.push(event);
        self
    }

    pub(crate) fn kernel(&mut self, name: &str, launch: i64, start: i64, dur: i64) -> &mut Self {
        self.work("kernel", name, (launch, 1), (start, dur))
    }

    pub(crate) fn copy(&mut self, name: &str, launch: (i64, i64), run: (i64, i64)) -> &mut Self {
        self.work("gpu_memcpy", name, launch, run)
    }

    pub(crate) fn linked(&self) -> Arc<LinkedTrace> {
        let mut file = json!({"traceEvents": self.events});
        file["deviceProperties"] = self.header.clone();
        Arc::new(LinkedTrace::new(files::trace(&file.to_string())))
    }

    /// The findings of one rule.
    pub(crate) fn found(&self, rule: &str) -> Vec<Finding> {
        self.found_at(rule, MIN_SHARE)
    }

    /// Those that cost at least a share of the time.
    pub(crate) fn found_at(&self, rule: &str, min_share: f64) -> Vec<Finding> {
        let linked = self.linked();
        let all = findings(&Selection::all(&linked), min_share);
        all.into_iter().filter(|finding| finding.name == rule).collect()
    }

    /// The only finding of a rule: subject, cost in microseconds, count.
    pub(crate) fn only(&self, rule: &str) -> (String, i64, u64) {
        let found = self.found(rule);
        assert_eq!(found.len(), 1, "{rule}: {found:?}");
        (found[0].subject.clone(), found[0].cost_ns / 1_000, found[0].count)
    }

    pub(crate) fn expect_none(&self, rule: &str) {
        assert_eq!(self.found(rule), [], "{rule}");
    }
}

pub(crate) fn scene() -> Scene {
    Scene::default()
}
