//! Numbers names; spellings of the same call in both files share a number.

use rustc_hash::FxHashMap;

use crate::id::StrId;
use crate::operator_name::base_name;
use crate::strings::Strings;

/// Numbers for names. Those that differ only in quotes, slashes and ends of lines, which Kineto
/// writes in another way or not at all, have one. So have the overloads of an operator, which only
/// Kineto writes.
pub(super) struct NameIds<'a> {
    strings: &'a Strings,
    numbers: FxHashMap<StrId, u32>,
    by_text: FxHashMap<String, u32>,
}

impl<'a> NameIds<'a> {
    pub(super) fn new(strings: &'a Strings) -> Self {
        Self { strings, numbers: FxHashMap::default(), by_text: FxHashMap::default() }
    }

    /// The number of a name.
    pub(super) fn name(&mut self, id: StrId) -> u32 {
        let (strings, by_text) = (self.strings, &mut self.by_text);
        *self.numbers.entry(id).or_insert_with(|| {
            let next = by_text.len() as u32;
            *by_text.entry(plain(strings.text(id))).or_insert(next)
        })
    }
}

/// A name without the characters that Kineto may change, and without the overload that it may add.
fn plain(name: &str) -> String {
    base_name(name).replace('\n', "").replace(['"', '\\', '/'], "'")
}

/// Whether Kineto may have written no more of a node's name than this: it does not write letters
/// beyond ASCII, nor controls.
pub(super) fn may_stand_for(written: &str, name: &str) -> bool {
    written == "unknown" && name.bytes().any(|byte| !(b' '..=b'~').contains(&byte))
}
