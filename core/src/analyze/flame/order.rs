//! Orders the frames of a flame graph from left to right.

/// The order of frames inside of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlameOrder {
    /// Calls of one name are one frame; the widest frame comes first.
    Merged,
    /// Each call is a frame; the one that starts first comes first.
    Time,
}

impl FlameOrder {
    /// The names used in requests.
    pub(super) const NAMES: &'static [&'static str] = &["merged", "time"];

    pub(super) fn of(name: &str) -> Self {
        if name == "time" { Self::Time } else { Self::Merged }
    }
}
