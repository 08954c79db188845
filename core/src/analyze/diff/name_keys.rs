//! Numbers the names of two traces.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::id::StrId;
use crate::operator_name::{base_name, overload};
use crate::trace::Trace;
use crate::trace::kind::EventKind;

/// Numbers of names, whichever trace has them.
#[derive(Debug, Clone, Default)]
pub(super) struct NameKeys {
    numbers: FxHashMap<String, u32>,
    texts: Vec<String>,
    /// Whether only one trace has overloads: operators of both then go by their base names.
    is_by_base: bool,
    /// By the numbers of base names, the overloads of one trace.
    overloads: FxHashMap<u32, BTreeSet<String>>,
}

impl NameKeys {
    /// For the names of two traces.
    pub(super) fn new(traces: [&Trace; 2]) -> Self {
        let [before, after] = traces.map(has_overloads);
        Self { is_by_base: before != after, ..Self::default() }
    }

    /// The number of a name.
    pub(super) fn of(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.numbers.insert(text.to_owned(), number);
        self.texts.push(text.to_owned());
        number
    }

    /// The name.
    pub(super) fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    /// The overloads that stand together under a base name, because only one trace records them.
    pub(super) fn overloads(&self, number: u32) -> impl Iterator<Item = &str> {
        self.overloads.get(&number).into_iter().flatten().map(String::as_str)
    }

    /// For each event of a trace, the number of its name.
    pub(super) fn of_events(&mut self, trace: &Trace) -> Vec<u32> {
        let mut known: FxHashMap<StrId, u32> = FxHashMap::default();
        let number = |name: StrId| *known.entry(name).or_insert_with(|| self.of_event(trace.strings.text(name)));
        trace.events.name.iter().map(number).collect()
    }

    fn of_event(&mut self, name: &str) -> u32 {
        let Some(overload) = overload(name).filter(|_| self.is_by_base) else { return self.of(name) };
        let number = self.of(base_name(name));
        self.overloads.entry(number).or_default().insert(overload.to_owned());
        number
    }
}

fn has_overloads(trace: &Trace) -> bool {
    let operators = trace.events.rows_of(|kind| kind == EventKind::Operator);
    let names: FxHashSet<StrId> = operators.map(|row| trace.events.name.at(row)).collect();
    names.into_iter().any(|name| overload(trace.strings.text(name)).is_some())
}
