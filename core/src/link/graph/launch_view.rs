//! The part of a linked trace that captures are found in.

use crate::column::OptionalColumn;
use crate::link::launch::LaunchedEvents;
use crate::link::nesting::Nesting;
use crate::trace::Trace;

/// A trace with its launches and the owners of its events.
#[derive(Clone, Copy)]
pub(crate) struct LaunchView<'a> {
    pub trace: &'a Trace,
    pub nesting: &'a Nesting,
    pub launched: &'a LaunchedEvents,
    /// The operator of each event.
    pub operator: &'a OptionalColumn,
}
