//! Kinds of problems between ranks.

/// A difference between ranks, the gravest first; or a call that nobody completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FlightProblem {
    /// A rank never enqueued it.
    Missing,
    /// Ranks enqueued different operations.
    Type,
    /// Ranks passed tensors of sizes that do not fit.
    Size,
    /// Ranks passed tensors of different types.
    Dtype,
    /// Ranks are not equally far.
    State,
    /// All ranks enqueued it alike, and none completed it.
    Pending,
    /// There is no dump of a rank.
    NoDump,
    /// The dump of a rank has no entries.
    EmptyDump,
    /// The dump of a rank has values that could not be read.
    Unreadable,
}

impl FlightProblem {
    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Type => "type",
            Self::Size => "size",
            Self::Dtype => "dtype",
            Self::State => "state",
            Self::Pending => "pending",
            Self::NoDump => "no_dump",
            Self::EmptyDump => "empty_dump",
            Self::Unreadable => "unreadable",
        }
    }
}
