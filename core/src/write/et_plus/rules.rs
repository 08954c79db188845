//! Chooses between exact times and those of `chakra_trace_link`.

/// How to decide where it makes a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EtPlusRules {
    /// Exactly: every link and every digit.
    Exact,
    /// As `chakra_trace_link` does, for programs that count on it; docs/et-plus.md lists the
    /// differences.
    LikeChakra,
}
