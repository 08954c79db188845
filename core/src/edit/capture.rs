//! Tells kernels of replayed graphs what the trace of their capture knows of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::edit_log::note;
use crate::id::TemplateId;
use crate::link::{CapturedGraphs, CapturedKernel, LinkedTrace};
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

/// The trace with the operator, module, line of Python and inputs of each kernel of a graph that
/// one of the other traces captured, as arguments of the kernel.
///
/// The arguments are `captured operator`, `captured operator id` (its id in the other trace),
/// `captured line`, `captured by` ([`LinkMethod`](crate::link::LinkMethod)), `capture confidence`,
/// `fqn` (the names of all modules around, joined by points) and those of the operator's inputs.
/// Kernels keep what they state themselves. Where several captures fit, the first of the surest is
/// taken with less confidence, and inputs are left out.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::edit::with_captures;
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let linked = |json: &str| Ok::<_, kinetoscope::Error>(Arc::new(LinkedTrace::new(read([Input::new(json.as_bytes())], Limits::default())?)));
/// let replay = linked(r#"[
///     {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"correlation": 1}},
///     {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 5, "dur": 2, "args": {"correlation": 1}}]"#)?;
/// let capture = linked(r#"[
///     {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamBeginCapture", "pid": 1, "tid": 1, "ts": 1, "dur": 1},
///     {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 3, "dur": 5},
///     {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 4, "dur": 2, "args": {"correlation": 9}},
///     {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamEndCapture", "pid": 1, "tid": 1, "ts": 9, "dur": 1}]"#)?;
/// let trace = LinkedTrace::new(with_captures(&replay, &[capture]));
/// assert_eq!(trace.captured_operator(1).as_deref(), Some("aten::mm"));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn with_captures(replay: &Arc<LinkedTrace>, captures: &[Arc<LinkedTrace>]) -> Trace {
    let kernels = best(replay, captures);
    let mut trace = replay.trace.clone();
    let sources: Vec<&LinkedTrace> = captures.iter().map(|capture| &**capture).collect();
    state(&mut trace, &kernels, &sources);
    if !kernels.is_empty() {
        note(&mut trace, &json!({"edit": "capture", "num_kernels": kernels.len()}));
    }
    trace
}

/// The trace with what its own captures know of some of its kernels, so that these stay known
/// without the captures. `None` where there is no such kernel.
pub(super) fn with_own_captures(linked: &LinkedTrace, is_wanted: &[bool]) -> Option<Trace> {
    let wanted = linked.links.captured.iter().filter(|pair| is_wanted[pair.kernel as usize]);
    let kernels: Vec<_> = wanted.map(|pair| (0, *pair)).collect();
    (!kernels.is_empty()).then(|| {
        let mut trace = linked.trace.clone();
        state(&mut trace, &kernels, &[linked]);
        trace
    })
}

/// Adds arguments to kernels, each with the place of the trace that captured it.
fn state(trace: &mut Trace, kernels: &[(usize, CapturedKernel)], captures: &[&LinkedTrace]) {
    let mut facts: Vec<_> =
        captures.iter().map(|capture| CaptureFacts { capture, known: FxHashMap::default() }).collect();
    let mut templates: FxHashMap<(TemplateId, usize, u32), TemplateId> = FxHashMap::default();
    for (of, pair) in kernels {
        let row = pair.kernel as usize;
        let args = trace.events.args(row);
        let template = templates.entry((args.template, *of, pair.launch)).or_insert_with(|| {
            let keys = facts[*of].of(pair);
            let is_new = |(key, _): &&(&str, String)| {
                let known = trace.args.template(args).fields().iter();
                !known.into_iter().any(|field| trace.strings.text(field.key) == *key)
            };
            let texts: Vec<_> = keys.iter().filter(is_new).collect();
            let strings = &mut trace.strings;
            let more: Vec<_> = texts.iter().map(|(key, json)| (strings.intern(key), strings.intern(json))).collect();
            trace.args.extended(&trace.strings, args, &more).template
        });
        trace.events.template.set(row, *template);
    }
}

/// Work of graphs whose operator the trace does not know, with the surest of the captures.
fn best(replay: &Arc<LinkedTrace>, captures: &[Arc<LinkedTrace>]) -> Vec<(usize, CapturedKernel)> {
    let mut found: BTreeMap<u32, (usize, CapturedKernel, bool)> = BTreeMap::new();
    for (of, capture) in captures.iter().enumerate() {
        for pair in CapturedGraphs::new(Arc::clone(replay), Arc::clone(capture)).kernels {
            if replay.captured_operator(pair.kernel as usize).is_some() {
                continue;
            }
            let (known, best, is_one_of_several) = found.entry(pair.kernel).or_insert((of, pair, false));
            if *known != of && pair.confidence > best.confidence {
                (*known, *best, *is_one_of_several) = (of, pair, false);
            } else if *known != of {
                *is_one_of_several |= pair.confidence >= best.confidence;
            }
        }
    }
    let pair = |(of, pair, is_one_of_several): (usize, CapturedKernel, bool)| {
        (of, if is_one_of_several { pair.one_of_several() } else { pair })
    };
    found.into_values().map(pair).collect()
}

/// Facts of a capture about its calls.
struct CaptureFacts<'a> {
    capture: &'a LinkedTrace,
    /// The path of each module call.
    known: FxHashMap<u32, String>,
}

impl CaptureFacts<'_> {
    /// Keys with JSON texts.
    fn of(&mut self, pair: &CapturedKernel) -> Vec<(&'static str, String)> {
        let (trace, launch) = (&self.capture.trace, pair.launch as usize);
        let text = |text: &str| Value::from(text).to_string();
        let mut facts = Vec::new();
        let operator = self.capture.links.operator.get(launch).map(|row| row as usize);
        if let Some(operator) = operator.filter(|row| trace.events.kind[*row] == EventKind::Operator) {
            facts.push(("captured operator", text(trace.event_name(operator))));
            facts.push(("captured operator id", trace.events.position.at(operator).to_string()));
            let mut input = |key: ArgKey, name: &'static str| {
                let json = trace.args.json_id(trace.events.args(operator), key);
                facts.extend(json.map(|json| (name, trace.strings.text(json).to_owned())));
            };
            if pair.has_inputs() {
                input(ArgKey::InputShapes, "Input Dims");
                input(ArgKey::InputTypes, "Input type");
                input(ArgKey::InputStrides, "Input Strides");
                input(ArgKey::ConcreteInputs, "Concrete Inputs");
            }
            input(ArgKey::KernelFile, "kernel_file");
        }
        let frames = self.capture.frames();
        if let Some(line) = frames.line.get(launch) {
            facts.push(("captured line", text(trace.event_name(line as usize))));
        }
        if let Some(module) = frames.module.get(launch) {
            facts.push(("fqn", text(&self.path(module))));
        }
        facts.push(("captured by", text(pair.how.name())));
        facts.push(("capture confidence", format!("{:.2}", pair.confidence)));
        facts
    }

    /// The names of a module and of all around it, joined by points.
    fn path(&mut self, module: u32) -> String {
        if let Some(path) = self.known.get(&module) {
            return path.clone();
        }
        let mut names: Vec<_> = self.capture.modules_around(module).collect();
        names.reverse();
        let path = names.join(".");
        self.known.insert(module, path.clone());
        path
    }
}
