//! Numbers the names of frames.

use rustc_hash::FxHashMap;

use super::module::class_of;
use crate::id::StrId;
use crate::label::without_addresses;
use crate::link::MODULE_PREFIX;
use crate::strings::Strings;

/// The form of the names of modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ModuleNames {
    /// As recorded, with a prefix.
    #[default]
    Recorded,
    /// Without the prefix: `Linear_0`.
    Bare,
    /// Their class: `Linear`.
    Class,
}

/// Names of frames by number. Where an object lives changes from call to call, so names that differ
/// in that alone are one.
#[derive(Debug, Default)]
pub(super) struct FrameNames {
    modules: ModuleNames,
    texts: Vec<String>,
    known: FxHashMap<StrId, u32>,
    numbers: FxHashMap<String, u32>,
}

impl FrameNames {
    pub(super) fn new(modules: ModuleNames) -> Self {
        Self { modules, ..Self::default() }
    }

    /// The number of the name of an event.
    pub(super) fn of_event(&mut self, strings: &Strings, name: StrId) -> u32 {
        if let Some(number) = self.known.get(&name) {
            return *number;
        }
        let text = strings.text(name);
        let number = match (text.strip_prefix(MODULE_PREFIX), self.modules) {
            (Some(module), ModuleNames::Class) => self.of_text(class_of(module)),
            (Some(module), ModuleNames::Bare) => self.of_text(&without_addresses(module)),
            _ => self.of_text(&without_addresses(text)),
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
