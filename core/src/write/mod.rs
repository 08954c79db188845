//! From a trace to bytes.

pub mod chrome;
pub(crate) mod packed;
pub mod snapshot;
