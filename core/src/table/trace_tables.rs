//! Lists the tables of a trace.

use super::column::Table;
use super::event::EVENTS;
use super::{collective, health, link, node, point};

/// All tables of a trace.
///
/// ```
/// use kinetoscope::table::{TABLES, table};
/// assert_eq!(TABLES[0].name, "events");
/// assert!(table("nodes").is_some());
/// ```
pub const TABLES: &[&Table] = &[
    &EVENTS,
    &point::INSTANTS,
    &point::COUNTERS,
    &point::FLOWS,
    &point::ITERATIONS,
    &node::NODES,
    &node::TENSORS,
    &node::DEPENDENCIES,
    &node::PROCESS_GROUPS,
    &link::LINKS,
    &collective::COLLECTIVES,
    &health::HEALTH,
];

/// The table of that name.
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().copied().find(|table| table.name == name)
}
