//! The table of kernels with their sources.

use super::code::SourceCode;
use super::fact::{CompiledKernel, KernelNodes, ProgramLine};
use crate::link::SourceFile;
use crate::table::{Table, int, put, put_name, text};

/// A compiled kernel with one of its nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelSourceRow {
    /// The kernel.
    pub kernel: String,
    /// Its source file, as the trace has it.
    pub kernel_file: Option<String>,
    /// Its hash, as the trace has it.
    pub kernel_hash: Option<String>,
    /// How often it ran.
    pub count: u64,
    /// Its device time in all.
    pub device_ns: i64,
    /// The file that was found, and the line that defines the kernel.
    pub source: Option<(String, i64)>,
    /// A node of the compiled graph that it computes.
    pub node: Option<String>,
    /// The operator of the node.
    pub target: Option<String>,
    /// The line of the program that the node is of: file, line, function and code.
    pub python: Option<(String, i64, String, String)>,
    /// Why there is no source; empty where there is one.
    pub reason: String,
}

/// The table of [`kernel_sources`](super::kernel_sources).
pub static KERNEL_SOURCES: Table<Vec<KernelSourceRow>> = Table {
    name: "kernel_sources",
    doc: "a compiled kernel with a node of its graph, and the line of Python that the node is of",
    num_rows: Vec::len,
    columns: &[
        text("kernel", |rows, at, out| put_name(out, &rows[at].kernel)),
        text("kernel_file", |rows, at, out| put(out, rows[at].kernel_file.as_deref().unwrap_or(""))),
        text("kernel_hash", |rows, at, out| put(out, rows[at].kernel_hash.as_deref().unwrap_or(""))),
        int("count", |rows, at| Some(rows[at].count as i64)),
        int("device_ns", |rows, at| Some(rows[at].device_ns)),
        text("source", |rows, at, out| put(out, rows[at].source.as_ref().map_or("", |(file, _)| file))),
        int("source_line", |rows, at| rows[at].source.as_ref().map(|(_, line)| *line)),
        text("node", |rows, at, out| put(out, rows[at].node.as_deref().unwrap_or(""))),
        text("target", |rows, at, out| put(out, rows[at].target.as_deref().unwrap_or(""))),
        text("python_file", |rows, at, out| put(out, rows[at].python.as_ref().map_or("", |(file, ..)| file))),
        int("python_line", |rows, at| rows[at].python.as_ref().map(|(_, line, ..)| *line)),
        text("python_function", |rows, at, out| {
            put(out, rows[at].python.as_ref().map_or("", |(_, _, function, _)| function))
        }),
        text("code", |rows, at, out| put(out, rows[at].python.as_ref().map_or("", |(.., code)| code))),
        text("reason", |rows, at, out| put(out, &rows[at].reason)),
    ],
};

/// The rows of one kernel: one a node; one a line where no node tells its line.
pub(super) fn rows_of(
    name: &str,
    file: Option<&str>,
    kernel: &CompiledKernel,
    code: &SourceCode,
) -> Vec<KernelSourceRow> {
    let found = code.kernel(name, file);
    let nodes = found.as_ref().map(|found| &found.nodes);
    let mut told = Vec::new();
    for (node, target, sources) in nodes_of(name, nodes, code) {
        let line = std::iter::once(&node).chain(&sources).find_map(|node| code.lines.get(node));
        told.push((Some(node), target, line.cloned()));
    }
    let lines = code.mappings.lines.get(name).or_else(|| Some(&nodes?.lines)).map_or(&[][..], Vec::as_slice);
    if told.iter().all(|(.., line)| line.is_none()) {
        match lines {
            [line] => told.iter_mut().for_each(|(.., of_node)| *of_node = Some(line.clone())),
            lines => told.extend(lines.iter().map(|line| (None, None, Some(line.clone())))),
        }
        if told.is_empty() {
            told.extend(lines.iter().map(|line| (None, None, Some(line.clone()))));
        }
    }
    let place = found.as_ref().and_then(|found| found.place.clone());
    let reason = match (&place, file, told.is_empty()) {
        (Some(_) | None, _, false) => String::new(),
        (Some(_), _, true) => String::from("its source has no comments about nodes"),
        (None, Some(file), true) => format!("no file {} beside the trace", SourceFile::base_name(file)),
        (None, None, true) => String::from("the trace names no source file, and no file defines the kernel"),
    };
    if told.is_empty() {
        told.push((None, None, None));
    }
    let row = |(node, target, line): (Option<String>, Option<String>, Option<ProgramLine>)| KernelSourceRow {
        kernel: name.to_owned(),
        kernel_file: file.map(str::to_owned),
        kernel_hash: kernel.hash.clone(),
        count: kernel.count,
        device_ns: kernel.device_ns,
        source: place.clone(),
        node,
        target,
        python: line.map(|line| (line.file, line.line, line.function, line.code)),
        reason: reason.clone(),
    };
    told.into_iter().map(row).collect()
}

/// Nodes of a kernel: each with its operator, and its nodes in the program's graph.
fn nodes_of(
    name: &str,
    comments: Option<&KernelNodes>,
    code: &SourceCode,
) -> Vec<(String, Option<String>, Vec<String>)> {
    let target = |node: &str| {
        let fragment = comments.map_or(&[][..], |comments| comments.fragment.as_slice());
        fragment.iter().find(|(other, _)| other == node).map(|(_, target)| target.clone())
    };
    let sources = |node: &str| {
        let mapped = code.mappings.sources.get(node).into_iter().flatten().cloned();
        let became = comments.map_or(&[][..], |comments| comments.became.as_slice());
        let of = became.iter().filter(|(_, nodes)| nodes.iter().any(|other| other == node));
        mapped.chain(of.map(|(source, _)| source.clone())).collect::<Vec<_>>()
    };
    let with_facts = |node: String| {
        let (target, sources) = (target(&node), sources(&node));
        (node, target, sources)
    };
    let mapped = code.mappings.nodes.get(name).cloned().unwrap_or_default();
    if !mapped.is_empty() {
        return mapped.into_iter().map(with_facts).collect();
    }
    let Some(comments) = comments else { return Vec::new() };
    if !comments.fragment.is_empty() {
        return comments.fragment.iter().take(MAX_NODES).map(|(node, _)| with_facts(node.clone())).collect();
    }
    if !comments.became.is_empty() {
        let nodes = comments.became.iter().flat_map(|(_, nodes)| nodes.iter().cloned());
        return nodes.take(MAX_NODES).map(with_facts).collect();
    }
    let is_paired = comments.sources.len() == comments.targets.len();
    let target = |at: usize| is_paired.then(|| comments.targets[at].clone());
    comments
        .sources
        .iter()
        .enumerate()
        .take(MAX_NODES)
        .map(|(at, node)| (node.clone(), target(at), Vec::new()))
        .collect()
}

/// Nodes that are told of one kernel.
const MAX_NODES: usize = 256;
