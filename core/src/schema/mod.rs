//! Documents each table that leaves the core, and each of its columns: type, unit, source, meaning.
//!
//! Column names and types come from the tables themselves, so they cannot differ from the data.
//! `columns.tsv` adds sources and meanings. Documentation and SQL schemas are generated from
//! [`schema_json`].

mod column_doc;
mod column_unit;
mod schema_table;
mod tables;

pub use column_doc::{ColumnDoc, column_docs};
pub use column_unit::column_unit;
pub use schema_table::{SchemaColumn, SchemaTable};
pub use tables::{schema, schema_json};
