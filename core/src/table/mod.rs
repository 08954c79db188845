//! Tables: named columns over the rows of a recording. They leave the core as `DataFrame`s.

mod capture;
mod cells;
mod chakra;
mod collective;
mod column;
mod event;
mod flight;
mod health;
mod lines;
mod link;
mod memory;
mod node;
mod packed;
mod picked;
mod point;
mod rows;
mod stacked;
mod trace_tables;
mod values;

pub use capture::CAPTURED;
pub use cells::Cells;
pub use chakra::{CHAKRA_TABLES, chakra_metadata};
pub(crate) use collective::RANK_COLLECTIVES;
pub use collective::RANK_TABLES;
#[cfg(feature = "machines")]
pub(crate) use collective::put_ranks;
pub use column::{Column, Getter, Table};
pub(crate) use column::{TableColumn, boolean, float, int, is_same, json, put, put_name, text, uint};
pub(crate) use event::EVENTS;
pub use flight::FLIGHT_TABLES;
pub use lines::json_lines;
pub use memory::{MEMORY_SNAPSHOT_TABLES, MEMORY_TIMELINE_TABLES};
pub(crate) use packed::PackedTable;
pub(crate) use picked::{PickedRows, ordered, ordered_by_size};
pub use rows::TableRows;
pub use stacked::{PartKey, StackedTable, TablePart};
pub use trace_tables::{TABLES, table};
pub use values::{ColumnType, ColumnValues};

/// Version of the names, types and meanings of all tables; a new one wherever one of them changes.
pub const SCHEMA_VERSION: &str = "2";
