//! Writes Chakra traces as length-delimited protobuf messages, and converts linked traces to them.

mod attributes;
mod comm;
mod edges;
mod et_plus_keys;
mod exclusive;
mod graph;
mod groups;
mod literal;
mod vertex;

use std::borrow::Cow;
use std::io;

use crate::chakra::Chakra;
pub use graph::{chakra_from_collectives, chakra_from_trace};
pub use groups::comm_groups;

/// Writes a Chakra trace: its first message, then its nodes in their order.
///
/// Output equals the input byte for byte: messages that the columns cannot reproduce are kept as
/// read. Unreadable bytes, which the trace's warnings count, are dropped.
///
/// # Errors
/// Those of `out`.
pub fn write_chakra(chakra: &Chakra, out: &mut dyn io::Write) -> io::Result<()> {
    write_message(chakra.metadata.irregular.as_deref(), || chakra.encoded_metadata(), out)?;
    for (row, node) in chakra.nodes.iter().enumerate() {
        write_message(node.irregular.as_deref(), || chakra.encoded_node(row), out)?;
    }
    out.flush()
}

fn write_message(read: Option<&[u8]>, encoded: impl Fn() -> Vec<u8>, out: &mut dyn io::Write) -> io::Result<()> {
    let message = read.map_or_else(|| Cow::Owned(encoded()), Cow::Borrowed);
    let mut length = Vec::new();
    prost::encode_length_delimiter(message.len(), &mut length)?;
    out.write_all(&length)?;
    out.write_all(&message)
}
