//! From a trace to bytes.

#[cfg(feature = "chakra")]
pub mod chakra;
pub mod chrome;
pub mod execution;
pub(crate) mod packed;
pub mod snapshot;
