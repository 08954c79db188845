//! From a trace to bytes.

#[cfg(feature = "chakra")]
pub mod chakra;
pub mod chrome;
pub mod execution;
pub mod gzip;
pub mod linked;
mod micros;
pub(crate) mod packed;
mod page;
pub mod param;
mod pretty;
pub mod snapshot;
