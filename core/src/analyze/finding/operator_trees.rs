//! Operators with their neighbours and children; frames and annotations in between are skipped.

use super::rule_context::RuleContext;
use crate::column::OptionalColumn;
use crate::id::TrackId;
use crate::trace::kind::EventKind;

/// The trees of operators of all threads.
pub(super) struct OperatorTrees<'a> {
    context: &'a RuleContext<'a>,
    /// The innermost operator around each event.
    parent: OptionalColumn,
    /// The operator before each that has the same parent.
    before: OptionalColumn,
    /// The last operator inside each.
    last_child: OptionalColumn,
    /// The outermost operators of each thread, in the order of time.
    pub(super) roots: Vec<Vec<u32>>,
}

impl<'a> OperatorTrees<'a> {
    pub(super) fn new(context: &'a RuleContext<'a>) -> Self {
        let (trace, nesting) = (context.trace, &context.links.nesting);
        let is_operator = |row: usize| trace.events.kind[row] == EventKind::Operator;
        let len = trace.events.len();
        let (mut before, mut last_child) = (OptionalColumn::empty(len), OptionalColumn::empty(len));
        let parent = nesting.innermost(is_operator);
        let mut roots = Vec::new();
        for track in 0..trace.tracks.len() {
            let mut of_track: Vec<u32> = Vec::new();
            for row in nesting.track_rows(TrackId::from(track)) {
                if !is_operator(*row as usize) || !context.selection.contains(*row as usize) {
                    continue;
                }
                let earlier = match parent.get(*row as usize) {
                    Some(parent) => {
                        let earlier = last_child.get(parent as usize);
                        last_child.set(parent as usize, *row);
                        earlier
                    }
                    None => of_track.last().copied(),
                };
                if parent.get(*row as usize).is_none() {
                    of_track.push(*row);
                }
                if let Some(earlier) = earlier {
                    before.set(*row as usize, earlier);
                }
            }
            roots.push(of_track);
        }
        Self { context, parent, before, last_child, roots }
    }

    /// The operator before one, inside of the same.
    pub(super) fn before(&self, row: u32) -> Option<u32> {
        self.before.get(row as usize)
    }

    /// The innermost operator around an event.
    pub(super) fn parent(&self, row: u32) -> Option<u32> {
        self.parent.get(row as usize)
    }

    /// The last operator directly inside one.
    pub(super) fn last_child(&self, row: u32) -> Option<u32> {
        self.last_child.get(row as usize)
    }

    /// The last of the last, down to the innermost.
    pub(super) fn last_leaf(&self, row: u32) -> u32 {
        std::iter::successors(Some(row), |row| self.last_child(*row)).last().unwrap_or(row)
    }

    /// Name of an operator without its overload.
    pub(super) fn name(&self, row: u32) -> &'a str {
        self.context.operator(row)
    }
}
