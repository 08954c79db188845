//! Links host events with nodes of the Execution Trace.

mod align;
mod arguments;
mod band;
mod call;
mod consensus;
mod fill;
mod id;
mod iteration_match;
mod linker;
mod matched_nodes;
mod name_grams;
mod name_ids;
mod node_links;
mod parent;
mod process;
mod recorded;
mod sequence;
mod sequence_fit;
mod shape;
mod stand_in;
mod thread;

pub(crate) use align::aligned;
pub(crate) use call::calls;
pub use call::{is_call, node_order};
pub use iteration_match::IterationMatch;
pub(super) use linker::{ASKED_FOR, link_nodes};
pub use node_links::NodeLinks;
pub use recorded::RecordedTime;
pub(crate) use sequence::FIT;
