//! Reads JSON files with facts about compiled kernels.
//!
//! `inductor_provenance_tracking_node_mappings.json` maps kernels to nodes of the compiled graph
//! (`cppCodeToPost`), and those to nodes of the program's graph (`postToPre`).
//! `inductor_generated_kernel_stack_traces.json` maps kernels to stacks of the program. A kernel is
//! `NAME`, or `NAME:1` for its first use.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::fact::ProgramLine;

#[derive(Debug, Default)]
pub(super) struct Mappings {
    /// Nodes of the compiled graph by kernel.
    pub(super) nodes: FxHashMap<String, Vec<String>>,
    /// Nodes of the program's graph by node of the compiled graph.
    pub(super) sources: FxHashMap<String, Vec<String>>,
    /// Lines of the program by kernel.
    pub(super) lines: FxHashMap<String, Vec<ProgramLine>>,
}

impl Mappings {
    /// Adds a file; nothing of one that has another form.
    pub(super) fn read(&mut self, text: &str) {
        let Ok(Value::Object(file)) = serde_json::from_str(text) else { return };
        let map = |key: &str| file.get(key).and_then(Value::as_object);
        if let Some(kernels) = map("cppCodeToPost") {
            kernels.iter().for_each(|(kernel, nodes)| add(&mut self.nodes, base(kernel), texts(nodes)));
            let sources = map("postToPre").into_iter().flatten();
            sources.for_each(|(node, sources)| add(&mut self.sources, node, texts(sources)));
        } else {
            self.read_stacks(&file);
        }
    }

    fn read_stacks(&mut self, file: &Map<String, Value>) {
        for (kernel, value) in file {
            // Newer files have the stacks under a key.
            let stacks = value.get("stack_traces").unwrap_or(value);
            let lines = texts(stacks).iter().filter_map(|stack| innermost(stack)).collect();
            add(&mut self.lines, base(kernel), lines);
        }
    }
}

fn add<T: PartialEq>(map: &mut FxHashMap<String, Vec<T>>, key: &str, values: Vec<T>) {
    let known = map.entry(key.to_owned()).or_default();
    for value in values {
        // A kernel has few nodes; a hostile file may say otherwise.
        if known.len() < MAX_VALUES && !known.contains(&value) {
            known.push(value);
        }
    }
}

/// Nodes or lines that are told of one kernel.
const MAX_VALUES: usize = 256;

/// The name of a kernel without the number of its use.
fn base(kernel: &str) -> &str {
    match kernel.rsplit_once(':') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => kernel,
    }
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

/// The innermost frame of a stack as Python prints it: `File "model.py", line 12, in forward`.
fn innermost(stack: &str) -> Option<ProgramLine> {
    let mut lines = stack.lines().map(str::trim);
    let mut found = None;
    while let Some(line) = lines.next() {
        let Some((file, rest)) = line.strip_prefix("File \"").and_then(|rest| rest.split_once("\", line ")) else {
            continue;
        };
        let (number, function) = rest.split_once(", in ").unwrap_or((rest, ""));
        let Ok(number) = number.trim().parse() else { continue };
        found = Some(ProgramLine {
            file: file.to_owned(),
            line: number,
            function: function.to_owned(),
            code: String::new(),
        });
        if let (Some(found), Some(code)) =
            (&mut found, lines.clone().next().filter(|code| !code.starts_with("File \"")))
        {
            code.clone_into(&mut found.code);
        }
    }
    found
}
