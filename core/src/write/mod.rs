//! Writes traces.

#[cfg(feature = "chakra")]
pub mod chakra;
pub mod chrome;
pub mod et_plus;
pub mod execution;
pub mod gzip;
mod micros;
mod node_document;
pub(crate) mod packed;
mod pretty;
pub mod snapshot;
