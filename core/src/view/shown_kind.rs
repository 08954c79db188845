//! Event kinds as screens distinguish them.

use crate::trace::kind::EventKind;

/// A kind that a file tells, or none for a kernel that communicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShownKind(pub(super) Option<EventKind>);

const COMMUNICATION: &str = "communication";

impl ShownKind {
    /// The names of all, by their codes.
    pub(super) fn names() -> Vec<&'static str> {
        EventKind::ALL.map(EventKind::name).into_iter().chain([COMMUNICATION]).collect()
    }

    pub(super) fn code(self) -> u8 {
        self.0.map_or(EventKind::ALL.len() as u8, |kind| kind as u8)
    }

    pub(super) fn name(self) -> &'static str {
        self.0.map_or(COMMUNICATION, EventKind::name)
    }
}
