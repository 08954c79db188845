//! Names of the modules and annotations that events are for.

use std::borrow::Cow;

use super::enclosing_events::MODULE_PREFIX;
use super::linked_trace::LinkedTrace;

/// The most modules around a call that are looked at.
const MAX_DEPTH: usize = 64;

impl LinkedTrace {
    /// The path of modules that a kernel of a graph states, else the name of the innermost module.
    pub(crate) fn module_name(&self, row: usize) -> Option<Cow<'_, str>> {
        let named = || self.frames().module.get(row).map(|module| Cow::Borrowed(self.name_of_module(module)));
        self.trace.stated_module(row).map(Cow::Owned).or_else(named)
    }

    /// The annotation that a kernel of a graph carries, else the innermost one.
    pub(crate) fn annotation_name(&self, row: usize) -> Option<Cow<'_, str>> {
        let named = || self.frames().annotation.get(row).map(|one| Cow::Borrowed(self.trace.event_name(one as usize)));
        self.trace.stated_annotation(row).map(Cow::Owned).or_else(named)
    }

    /// Names of a module's call and of the calls around it, the innermost first.
    pub(crate) fn modules_around(&self, module: u32) -> impl Iterator<Item = &str> {
        let outer = |row: &u32| self.frames().module.get(*row as usize).filter(|outer| outer != row);
        std::iter::successors(Some(module), outer).take(MAX_DEPTH).map(|row| self.name_of_module(row))
    }

    fn name_of_module(&self, call: u32) -> &str {
        let name = self.trace.event_name(call as usize);
        name.strip_prefix(MODULE_PREFIX).unwrap_or(name)
    }
}
