//! Colours rectangles by operator or module.

use rustc_hash::FxHashMap;

use super::request::OwnerColour;
use super::session_trace::TraceView;
use crate::id::StrId;
use crate::link::MODULE_PREFIX;
use crate::trace::kind::EventKind;

/// A code a rectangle, and the names of the codes.
#[derive(Debug)]
pub(super) struct OwnerCodes<'a> {
    by: OwnerColour,
    pub(super) codes: Vec<u32>,
    /// The first is that of nothing.
    pub(super) names: Vec<&'a str>,
    known: FxHashMap<(usize, StrId), u32>,
}

impl<'a> OwnerCodes<'a> {
    pub(super) fn new(by: OwnerColour) -> Self {
        Self { by, codes: Vec::new(), names: vec![""], known: FxHashMap::default() }
    }

    pub(super) fn push(&mut self, part: TraceView<'a>, row: usize) {
        let linked = &part.part().linked;
        let owner = match self.by {
            OwnerColour::Operator if linked.trace.events.kind[row] == EventKind::Operator => Some(row as u32),
            OwnerColour::Operator => linked.links.operator.get(row),
            OwnerColour::Module if linked.trace.event_name(row).starts_with(MODULE_PREFIX) => Some(row as u32),
            OwnerColour::Module => linked.frames().module.get(row),
        };
        let code = owner.map_or(0, |owner| {
            let name = linked.trace.events.name.at(owner as usize);
            *self.known.entry((part.at, name)).or_insert_with(|| {
                let text = linked.trace.strings.text(name);
                self.names.push(text.strip_prefix(MODULE_PREFIX).unwrap_or(text));
                self.names.len() as u32 - 1
            })
        });
        self.codes.push(code);
    }
}
