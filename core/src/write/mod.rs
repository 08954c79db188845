//! From a trace to bytes.

pub mod snapshot;
