//! The arrays of a trace file.

/// The kind of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum TraceArray {
    /// `traceEvents`, or a bare array.
    #[default]
    Events,
    /// `nodes`.
    Nodes,
}
