//! From a trace to bytes.

pub mod chrome;
pub mod snapshot;
