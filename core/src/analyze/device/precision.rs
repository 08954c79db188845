//! Precisions of arithmetic for which devices have peaks.

/// Precisions with their own device peaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::analyze) enum Precision {
    Float64,
    Float32,
    Tf32,
    Float16,
    BFloat16,
    Float8,
    Int8,
}
