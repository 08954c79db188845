//! Facts about compiled kernels, of a trace and of files.

/// A kernel of the trace.
#[derive(Debug, Clone, Default)]
pub(super) struct CompiledKernel {
    pub(super) hash: Option<String>,
    pub(super) count: u64,
    pub(super) device_ns: i64,
}

/// A line of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ProgramLine {
    pub(super) file: String,
    pub(super) line: i64,
    pub(super) function: String,
    pub(super) code: String,
}

/// The source of a kernel.
#[derive(Debug, Clone, Default)]
pub(super) struct KernelCode {
    /// The file that defines it, and the line.
    pub(super) place: Option<(String, i64)>,
    pub(super) nodes: KernelNodes,
}

/// Comments about a kernel.
#[derive(Debug, Clone, Default)]
pub(super) struct KernelNodes {
    /// Nodes of the program's graph.
    pub(super) sources: Vec<String>,
    /// Their operators.
    pub(super) targets: Vec<String>,
    /// Nodes of the program's graph, each with the nodes that it became.
    pub(super) became: Vec<(String, Vec<String>)>,
    /// Nodes of the compiled graph with their operators.
    pub(super) fragment: Vec<(String, String)>,
    /// Lines of the program.
    pub(super) lines: Vec<ProgramLine>,
}

impl KernelNodes {
    pub(super) fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.became.is_empty() && self.fragment.is_empty() && self.lines.is_empty()
    }
}
