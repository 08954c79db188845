//! Names that kernels of a replayed graph carry themselves, since no host call surrounds them.
//!
//! `torch.cuda._graph_annotations` marks kernels while a graph is captured. A mark is a text, a
//! list of nested scopes, or a dict; tools write it as JSON, or as a text that holds JSON.

use serde_json::Value;

use super::Trace;
use super::arg_key::ArgKey;

/// Keys of a dict that hold its name.
const NAMES: [&str; 5] = ["annotation", "name", "str", "label", "scope"];

/// Keys of a dict that hold the path of a module.
const MODULES: [&str; 2] = ["fqn", "module_fqn"];

impl Trace {
    /// The path of the module that a kernel names (`fqn`), such as `model.layers.0.mlp`; of several
    /// nested ones, the innermost.
    pub fn stated_module(&self, row: usize) -> Option<String> {
        let own = self.mark(row, ArgKey::ModulePath).and_then(|value| module(&value));
        own.or_else(|| module_inside(&self.mark(row, ArgKey::KernelAnnotation)?))
    }

    /// The annotation that a kernel carries; nested scopes are joined by `/`.
    pub fn stated_annotation(&self, row: usize) -> Option<String> {
        let own = self.mark(row, ArgKey::KernelAnnotation).and_then(|value| annotation(&value));
        // `torch.cuda._annotate_cuda_graph_trace` writes the names of marks under `name`.
        let name = || self.mark(row, ArgKey::MarkName).and_then(|value| annotation(&value));
        own.or_else(|| self.graph_node_id(row).and_then(|_| name()))
    }

    /// The operator that captured a kernel in another file, as `edit` writes it.
    pub fn stated_operator(&self, row: usize) -> Option<String> {
        match self.mark(row, ArgKey::CapturedOperator)? {
            Value::String(name) => Some(name),
            _ => None,
        }
    }

    /// The line of Python around that.
    pub fn stated_line(&self, row: usize) -> Option<String> {
        match self.mark(row, ArgKey::CapturedLine)? {
            Value::String(line) => Some(line),
            _ => None,
        }
    }

    /// The stream that the annotation of a kernel names (`mark_stream`): where the trace shows the
    /// kernel on that one, its `stream`.
    pub fn annotated_stream(&self, row: usize) -> Option<i64> {
        let integer = |key| self.args.integer(&self.strings, self.events.args(row), key);
        let moved = || integer(ArgKey::OriginalStream).and_then(|_| integer(ArgKey::Stream));
        integer(ArgKey::AnnotatedStream).or_else(moved)
    }

    /// The number of a kernel's node in its graph; 0 is none.
    pub fn graph_node_id(&self, row: usize) -> Option<u64> {
        self.args.identifier(&self.strings, self.events.args(row), ArgKey::GraphNodeId).filter(|id| *id != 0)
    }

    /// The number of a kernel's graph; 0 is none.
    pub fn graph_id(&self, row: usize) -> Option<u64> {
        self.args.identifier(&self.strings, self.events.args(row), ArgKey::GraphId).filter(|id| *id != 0)
    }

    /// Whether any event may carry such names.
    pub(crate) fn has_marks(&self) -> bool {
        let keys = [ArgKey::ModulePath, ArgKey::KernelAnnotation, ArgKey::GraphNodeId];
        self.args.templates().iter().any(|template| keys.iter().any(|key| template.has(*key)))
    }

    fn mark(&self, row: usize, key: ArgKey) -> Option<Value> {
        let args = self.events.args(row);
        if !self.is_on_device(row) || !self.args.template(args).has(key) {
            return None;
        }
        let mut text = String::new();
        self.args.write_text(&self.strings, args, key, &mut text);
        Some(parsed(text))
    }
}

/// JSON in a text, or the text.
fn parsed(text: String) -> Value {
    if text == "null" {
        return Value::Null;
    }
    let is_json = text.starts_with(['[', '{', '"']);
    is_json.then(|| serde_json::from_str(&text).ok()).flatten().unwrap_or(Value::String(text))
}

fn annotation(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null | Value::Bool(_) => return None,
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(scopes) => scopes.iter().filter_map(annotation).collect::<Vec<_>>().join("/"),
        Value::Object(keys) => {
            let named = NAMES.iter().find_map(|key| annotation(keys.get(*key)?));
            let is_module_alone = !keys.is_empty() && keys.keys().all(|key| MODULES.contains(&key.as_str()));
            named.or_else(|| (!is_module_alone).then(|| value.to_string()))?
        }
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

fn module(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(scopes) => scopes.iter().rev().find_map(module),
        Value::Object(_) => module_inside(value),
        _ => None,
    }
}

/// The module in an annotation that is a dict, or a list with one.
fn module_inside(value: &Value) -> Option<String> {
    match value {
        Value::Array(scopes) => scopes.iter().rev().find_map(module_inside),
        Value::Object(keys) => MODULES.iter().find_map(|key| module(keys.get(*key)?)),
        _ => None,
    }
}
