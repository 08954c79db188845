//! Writes traces.

#[cfg(feature = "chakra")]
pub mod chakra;
pub mod chrome;
mod clean_iteration;
pub mod et_plus;
pub mod execution;
pub mod gzip;
mod micros;
mod node_document;
pub(crate) mod packed;
pub mod perfetto;
mod pretty;
pub mod snapshot;

pub use clean_iteration::clean_iteration;
