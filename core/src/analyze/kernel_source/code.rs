//! Reads sources that Inductor wrote: kernels with comments about their nodes, and readable graphs.

use rustc_hash::{FxHashMap, FxHashSet};

use super::fact::{KernelCode, KernelNodes, ProgramLine};
use super::mappings::Mappings;
use crate::link::SourceFile;

/// All that the files say.
#[derive(Debug, Default)]
pub(super) struct SourceCode {
    by_name: FxHashMap<String, KernelCode>,
    /// By the base name of the file, for files of a single kernel.
    by_file: FxHashMap<String, KernelCode>,
    /// Lines of nodes, from readable graphs.
    pub(super) lines: FxHashMap<String, ProgramLine>,
    pub(super) mappings: Mappings,
}

impl SourceCode {
    /// Reads files for the kernels of these names and base names of files.
    pub(super) fn of<'a>(wanted: impl Iterator<Item = (&'a str, Option<&'a str>)>, files: &[SourceFile]) -> Self {
        let (mut names, mut wanted_files) = (FxHashSet::default(), FxHashSet::default());
        for (name, file) in wanted {
            names.insert(name);
            wanted_files.extend(file);
        }
        let mut code = Self::default();
        for file in files {
            if file.text.trim_start().starts_with('{') {
                code.mappings.read(&file.text);
            } else {
                let base = SourceFile::base_name(&file.name);
                let own = wanted_files.contains(base).then_some(base);
                SourceReader {
                    code: &mut code,
                    names: &names,
                    file,
                    own,
                    pending: KernelNodes::default(),
                    list: CommentList::None,
                    line: None,
                }
                .read();
            }
        }
        code
    }

    /// The source of a kernel.
    pub(super) fn kernel(&self, name: &str, file: Option<&str>) -> Option<KernelCode> {
        let own = file.and_then(|file| self.by_file.get(SourceFile::base_name(file)));
        let named = self.by_name.get(name);
        let (first, second) = (own.or(named)?, named);
        let place = first.place.clone().or_else(|| second?.place.clone());
        let nodes = Some(&first.nodes).filter(|nodes| !nodes.is_empty()).or_else(|| Some(&second?.nodes));
        Some(KernelCode { place, nodes: nodes.cloned().unwrap_or_default() })
    }
}

/// The list that a comment begins, and the next ones continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommentList {
    None,
    Became,
    Fragment,
}

struct SourceReader<'a> {
    code: &'a mut SourceCode,
    names: &'a FxHashSet<&'a str>,
    file: &'a SourceFile,
    /// The base name of a file of one kernel.
    own: Option<&'a str>,
    /// Comments that no kernel followed yet.
    pending: KernelNodes,
    list: CommentList,
    /// The line of the program that the next nodes are of.
    line: Option<ProgramLine>,
}

impl SourceReader<'_> {
    fn read(mut self) {
        for (at, text) in self.file.text.lines().enumerate() {
            let text = text.trim();
            match text.strip_prefix('#') {
                Some(comment) => self.comment(comment.trim()),
                None => self.statement(text, at as i64 + 1),
            }
        }
        if let Some(own) = self.own.filter(|_| !self.pending.is_empty()) {
            let kernel = self.code.by_file.entry(own.to_owned()).or_default();
            if kernel.nodes.is_empty() {
                kernel.nodes = self.pending;
            }
        }
    }

    fn comment(&mut self, text: &str) {
        if let Some(rest) = text.strip_prefix("Topologically Sorted Source Nodes:") {
            let lines = std::mem::take(&mut self.pending.lines);
            self.pending = KernelNodes { lines, ..KernelNodes::default() };
            let (sources, targets) = rest.split_once("Original ATen:").unwrap_or((rest, ""));
            (self.pending.sources, self.pending.targets) = (names_in(sources), names_in(targets));
            self.list = CommentList::None;
        } else if text.starts_with("kernel path:") {
            self.pending = KernelNodes::default();
            self.list = CommentList::None;
        } else if text.starts_with("Source node to ATen node mapping:") {
            self.list = CommentList::Became;
        } else if text.starts_with("Graph fragment:") {
            self.list = CommentList::Fragment;
        } else if let Some(line) = program_line(text) {
            self.pending.lines.push(line.clone());
            self.line = Some(line);
        } else {
            self.list_entry(text);
        }
    }

    fn list_entry(&mut self, text: &str) {
        match self.list {
            CommentList::Became => {
                if let Some((source, nodes)) = text.split_once("=>") {
                    self.pending.became.push((source.trim().to_owned(), names_in(nodes)));
                }
            }
            CommentList::Fragment => self.pending.fragment.extend(node_with_target(text)),
            CommentList::None => {}
        }
    }

    fn statement(&mut self, text: &str, at: i64) {
        if text.is_empty() {
            return;
        }
        self.list = CommentList::None;
        if let Some(name) = defined(text) {
            let is_own = self.own.is_some() && name.starts_with("triton_");
            if self.names.contains(name) || is_own {
                self.define(name, Some(at));
            } else if !text.starts_with("def ") {
                // The comments were about a kernel that did not run.
                self.pending = KernelNodes::default();
            }
        } else if let Some(name) = launched(text).filter(|name| self.names.contains(name)) {
            self.define(name, None);
        }
        if let (Some(line), Some(node)) = (&self.line, assigned(text)) {
            self.code.lines.entry(node.to_owned()).or_insert_with(|| line.clone());
        }
    }

    /// Gives a kernel the comments before it.
    fn define(&mut self, name: &str, at: Option<i64>) {
        let place = at.map(|at| (self.file.name.clone(), at));
        let nodes = std::mem::take(&mut self.pending);
        let own = self.own.map(|own| self.code.by_file.entry(own.to_owned()).or_default());
        let kernel = match own {
            Some(own) => own,
            None => self.code.by_name.entry(name.to_owned()).or_default(),
        };
        kernel.place = kernel.place.take().or(place);
        if kernel.nodes.is_empty() {
            kernel.nodes = nodes;
        }
    }
}

/// Names in a list such as `[sin, cos], `.
fn names_in(text: &str) -> Vec<String> {
    let names = text.split([',', '[', ']']).map(str::trim).filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// `File: /path/model.py:12 in forward, code: return x`.
fn program_line(comment: &str) -> Option<ProgramLine> {
    let (place, rest) = comment.strip_prefix("File:")?.split_once(" in ")?;
    let (file, line) = place.trim().rsplit_once(':')?;
    let (function, code) = rest.split_once(", code:").unwrap_or((rest, ""));
    let (function, code) = (function.trim().to_owned(), code.trim().to_owned());
    Some(ProgramLine { file: file.to_owned(), line: line.parse().ok()?, function, code })
}

/// `%sin : [num_users=1] = call_function[target=torch.ops.aten.sin.default](args = (%x,))`.
fn node_with_target(text: &str) -> Option<(String, String)> {
    let (left, right) = text.strip_prefix('%')?.split_once(" = call_")?;
    let node = left.split([' ', ':']).next()?;
    let target = right.split_once("target=")?.1.split(']').next()?;
    Some((node.to_owned(), target.trim_start_matches("torch.ops.").to_owned()))
}

/// The kernel that a line defines: `def NAME(`, or `NAME = async_compile.triton(`.
fn defined(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("def ") {
        return rest.split('(').next().map(str::trim);
    }
    let (name, value) = text.split_once('=')?;
    value.trim_start().starts_with("async_compile.").then_some(name.trim())
}

/// The kernel that a line launches: `NAME.run(`.
fn launched(text: &str) -> Option<&str> {
    text.split_once(".run(").map(|(name, _)| name)
}

/// The node that a line of a readable graph assigns: `sin: "f32[10]" = torch.ops…`.
fn assigned(text: &str) -> Option<&str> {
    let (left, _) = text.split_once(" = ")?;
    let name = left.split(':').next()?.trim();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some(name)
}
