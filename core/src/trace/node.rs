//! Nodes of the Execution Trace, for both layouts of `PyTorch`.

use serde::{Deserialize, Serialize};

use crate::id::StrId;

/// One vertex of the Execution Trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// `id`.
    pub id: u64,
    /// `ctrl_deps` or `parent`: the id of the enclosing node. The root is its own parent.
    pub parent: Option<u64>,
    /// `name`.
    pub name: StrId,
    /// `rf_id`; 0 is none.
    pub record_id: u64,
    /// `fw_parent`.
    pub fw_parent: Option<u64>,
    /// `seq_id`; below 0 is none.
    pub seq_num: i64,
    /// `scope`: 0 function, 1 backward function, 7 user scope, … .
    pub scope: Option<u64>,
    /// `tid`: the small logical number that `PyTorch` gives a thread, not the system's.
    pub thread: Option<u64>,
    /// `fw_tid`.
    pub fw_thread: Option<u64>,
    /// `op_schema`.
    pub schema: StrId,
    /// `kernel_backend`.
    pub kernel_backend: StrId,
    /// `kernel_file`.
    pub kernel_file: StrId,
    /// Inputs.
    pub inputs: NodeValues,
    /// Outputs.
    pub outputs: NodeValues,
    /// All else that the node has, as a JSON object; empty when nothing.
    pub rest: StrId,
    /// How the file lays it out (see [`layout`](super::layout)).
    pub layout: StrId,
}

/// Inputs or outputs: parallel JSON arrays, empty texts where the file has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeValues {
    /// The values; a tensor is `[tensor id, storage id, offset, elements, bytes an element,
    /// device]`.
    pub values: StrId,
    /// Shapes.
    pub shapes: StrId,
    /// Types.
    pub types: StrId,
    /// Strides.
    pub strides: StrId,
}

impl Default for NodeValues {
    fn default() -> Self {
        Self { values: StrId::EMPTY, shapes: StrId::EMPTY, types: StrId::EMPTY, strides: StrId::EMPTY }
    }
}

impl Default for Node {
    fn default() -> Self {
        Self {
            id: 0,
            parent: None,
            name: StrId::EMPTY,
            record_id: 0,
            fw_parent: None,
            seq_num: -1,
            scope: None,
            thread: None,
            fw_thread: None,
            schema: StrId::EMPTY,
            kernel_backend: StrId::EMPTY,
            kernel_file: StrId::EMPTY,
            inputs: NodeValues::default(),
            outputs: NodeValues::default(),
            rest: StrId::EMPTY,
            layout: StrId::EMPTY,
        }
    }
}

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// The process or a thread.
    Root,
    /// An operator, with a schema or without.
    Operator,
    /// A range that the user or the profiler named.
    Annotation,
    /// The process groups' configuration.
    ProcessGroup,
}

impl NodeKind {
    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Operator => "operator",
            Self::Annotation => "annotation",
            Self::ProcessGroup => "process_group",
        }
    }
}

/// The nodes that were entered in one iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeSpan {
    /// The number of its `ProfilerStep#n`.
    pub iteration: i64,
    /// Where the first of them is in the order of [`Node::order`].
    pub first: u64,
    /// Where the last one is.
    pub last: u64,
}

/// `RecordScope::USER_SCOPE`.
const USER_SCOPE: u64 = 7;

impl Node {
    /// Where it is in the order in which nodes were entered: `rf_id`, or `id` where it has none.
    pub fn order(&self) -> u64 {
        if self.record_id == 0 { self.id } else { self.record_id }
    }

    /// The ids of all its texts.
    pub fn texts_mut(&mut self) -> [&mut StrId; 14] {
        let NodeValues { values: inputs, shapes: input_shapes, types: input_types, strides: input_strides } =
            &mut self.inputs;
        let NodeValues { values, shapes, types, strides } = &mut self.outputs;
        [
            &mut self.name,
            &mut self.schema,
            &mut self.kernel_backend,
            &mut self.kernel_file,
            inputs,
            input_shapes,
            input_types,
            input_strides,
            values,
            shapes,
            types,
            strides,
            &mut self.rest,
            &mut self.layout,
        ]
    }

    /// The kind of a node; `name` is the text of its name.
    pub fn kind(&self, name: &str) -> NodeKind {
        if name.starts_with("[pytorch|profiler|execution_") {
            NodeKind::Root
        } else if name.starts_with("## process_group:init") {
            NodeKind::ProcessGroup
        } else if self.scope == Some(USER_SCOPE) {
            NodeKind::Annotation
        } else {
            NodeKind::Operator
        }
    }
}
