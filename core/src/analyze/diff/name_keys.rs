//! Numbers the names of two traces.

use rustc_hash::FxHashMap;

use crate::id::StrId;
use crate::trace::Trace;

/// Numbers of names, whichever trace has them.
#[derive(Debug, Clone, Default)]
pub(super) struct NameKeys {
    numbers: FxHashMap<String, u32>,
    texts: Vec<String>,
}

impl NameKeys {
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

    /// For each event of a trace, the number of its name.
    pub(super) fn of_events(&mut self, trace: &Trace) -> Vec<u32> {
        let mut known: FxHashMap<StrId, u32> = FxHashMap::default();
        let number = |name: &StrId| *known.entry(*name).or_insert_with(|| self.of(trace.strings.text(*name)));
        trace.events.name.iter().map(number).collect()
    }
}
