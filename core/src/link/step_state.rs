//! The state of a loop: warm-up, capture or steady.

/// The state of the loop in an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepState {
    /// One of the first, which take longer than later ones of their phase.
    WarmUp,
    /// A graph is captured in it.
    Capture,
    /// Any later one.
    Steady,
}

impl StepState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::WarmUp, Self::Capture, Self::Steady];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WarmUp => "warm_up",
            Self::Capture => "capture",
            Self::Steady => "steady",
        }
    }
}
