//! Numbers the names of frames.

use rustc_hash::FxHashMap;

use crate::analyze::module::class_of;
use crate::id::StrId;
use crate::label::without_addresses;
use crate::link::MODULE_PREFIX;
use crate::strings::Strings;

/// Names of frames by number. Where an object lives changes from call to call, so names that differ
/// in that alone are one.
#[derive(Debug, Default)]
pub(super) struct FlameNames {
    /// Whether modules of one class have one name.
    is_of_classes: bool,
    texts: Vec<String>,
    known: FxHashMap<StrId, u32>,
    numbers: FxHashMap<String, u32>,
}

impl FlameNames {
    /// Names in which modules are called by their classes.
    pub(super) fn of_classes() -> Self {
        Self { is_of_classes: true, ..Self::default() }
    }

    /// The number of the name of an event.
    pub(super) fn of_event(&mut self, strings: &Strings, name: StrId) -> u32 {
        if let Some(number) = self.known.get(&name) {
            return *number;
        }
        let text = strings.text(name);
        let module = text.strip_prefix(MODULE_PREFIX);
        let number = match module {
            Some(module) if self.is_of_classes => self.of_text(class_of(module)),
            _ => self.of_text(&without_addresses(module.unwrap_or(text))),
        };
        self.known.insert(name, number);
        number
    }

    /// The number of a text.
    pub(super) fn of_text(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// All texts by number.
    pub(super) fn into_texts(self) -> Vec<String> {
        self.texts
    }
}
