//! A Chakra trace in columns: the graph that `chakra_converter` writes and simulators read.

#[cfg(feature = "chakra")]
mod encode;
#[cfg(feature = "chakra")]
pub mod message;
#[cfg(feature = "chakra")]
pub(crate) mod value;

use std::ops::Range;

use crate::id::StrId;
use crate::strings::Strings;
use crate::warning::Warnings;

/// A Chakra trace of one rank.
#[derive(Debug, Clone, Default)]
pub struct Chakra {
    /// All texts.
    pub strings: Strings,
    /// The metadata of the first message.
    pub metadata: ChakraMetadata,
    /// Nodes in the order of the file.
    pub nodes: Vec<ChakraNode>,
    /// Dependencies of nodes, node by node.
    pub dependencies: Vec<Dependency>,
    /// All attributes, those of the first message first, then node by node.
    pub attributes: Vec<ChakraAttribute>,
    /// Defects survived.
    pub warnings: Warnings,
}

/// The first message of a file.
#[derive(Debug, Clone, Default)]
pub struct ChakraMetadata {
    /// Version of the schema; often empty.
    pub version: String,
    /// Where its attributes are in [`Chakra::attributes`].
    pub attributes: Range<u32>,
    /// The message as it was read, where the columns would give another one.
    pub irregular: Option<Box<[u8]>>,
}

/// A node.
#[derive(Debug, Clone)]
pub struct ChakraNode {
    /// Its id in the file.
    pub id: u64,
    /// Its name.
    pub name: StrId,
    /// Its type, as the file's number: see [`NodeType::name`].
    pub node_type: NodeType,
    /// Its start, in microseconds as in the file.
    pub start_micros: u64,
    /// Its duration, in microseconds as in the file.
    pub dur_micros: u64,
    /// Inputs: values, shapes and types, each as a text that lists them.
    pub inputs: [StrId; 3],
    /// Outputs, likewise.
    pub outputs: [StrId; 3],
    /// Where its attributes are in [`Chakra::attributes`].
    pub attributes: Range<u32>,
    /// The message as it was read, where the columns would give another one.
    pub irregular: Option<Box<[u8]>>,
}

/// The number of a node's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeType(pub i32);

impl NodeType {
    /// Metadata of the trace, not work.
    pub const METADATA: Self = Self(1);
    /// A computation, or any other work.
    pub const COMP: Self = Self(4);
    /// Sends to one rank.
    pub const COMM_SEND: Self = Self(5);
    /// Receives from one rank.
    pub const COMM_RECV: Self = Self(6);
    /// Communicates with the ranks of a group.
    pub const COMM_COLL: Self = Self(7);

    /// The name that the schema gives it, where it knows the number.
    pub fn name(self) -> Option<&'static str> {
        const NAMES: [&str; 8] = [
            "INVALID_NODE",
            "METADATA_NODE",
            "MEM_LOAD_NODE",
            "MEM_STORE_NODE",
            "COMP_NODE",
            "COMM_SEND_NODE",
            "COMM_RECV_NODE",
            "COMM_COLL_NODE",
        ];
        NAMES.get(usize::try_from(self.0).ok()?).copied()
    }
}

/// The schema's name of a collective, by the number that the attribute `comm_type` holds.
pub fn collective_name(comm_type: i64) -> Option<&'static str> {
    const NAMES: [&str; 10] = [
        "ALL_REDUCE",
        "REDUCE",
        "ALL_GATHER",
        "GATHER",
        "SCATTER",
        "BROADCAST",
        "ALL_TO_ALL",
        "REDUCE_SCATTER",
        "REDUCE_SCATTER_BLOCK",
        "BARRIER",
    ];
    NAMES.get(usize::try_from(comm_type).ok()?).copied()
}

/// That a node waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependency {
    /// Id of the node that is waited for; it may not be in the file.
    pub source: u64,
    /// Row of the node that waits.
    pub target: u32,
    /// Whether it uses the other's result (`data_deps`), rather than only its end (`ctrl_deps`).
    pub is_data: bool,
}

/// An attribute.
#[derive(Debug, Clone, Copy)]
pub struct ChakraAttribute {
    /// Its name.
    pub name: StrId,
    /// The writer's documentation.
    pub doc: StrId,
    /// Its type, as the schema names it: `int64`, `int64_list` …; empty when it has no value.
    pub value_type: &'static str,
    /// Its value as JSON; `null` when it has none.
    pub value: StrId,
}

impl Chakra {
    /// The attributes of a node or of the first message.
    pub fn attributes(&self, range: &Range<u32>) -> &[ChakraAttribute] {
        self.attributes.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// A dependency of a node.
    pub fn dependencies_of(&self, row: usize) -> &[Dependency] {
        let start = self.dependencies.partition_point(|dependency| (dependency.target as usize) < row);
        let end = self.dependencies.partition_point(|dependency| dependency.target as usize <= row);
        &self.dependencies[start..end]
    }

    /// The value of a node's attribute as JSON; the last one where there are several of that name.
    pub fn attribute(&self, node: &ChakraNode, name: &str) -> Option<&str> {
        let mut found = self.attributes(&node.attributes).iter().rev();
        let found = found.find(|attribute| self.strings.text(attribute.name) == name)?;
        Some(self.strings.text(found.value))
    }
}
