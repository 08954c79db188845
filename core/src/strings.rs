//! A string arena: stores each distinct text once and returns a [`StrId`].

use std::hash::Hasher as _;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::id::StrId;

/// Distinct texts in the order of first sight. Equal texts have equal ids within one arena; id 0 is
/// the empty text.
#[derive(Debug, Clone)]
pub struct Strings {
    bytes: String,
    ends: Vec<usize>,
    ids: HashTable<u32>,
}

impl StrId {
    /// The empty text.
    pub const EMPTY: StrId = StrId(0);
}

impl Default for Strings {
    fn default() -> Self {
        let mut strings = Self { bytes: String::new(), ends: Vec::new(), ids: HashTable::new() };
        strings.intern("");
        strings
    }
}

impl Strings {
    /// The id of `text`, which is added when it is new.
    pub fn intern(&mut self, text: &str) -> StrId {
        let hash = hash(text.as_bytes());
        if let Some(id) = self.find(hash, text.as_bytes()) {
            return id;
        }
        let id = self.ends.len() as u32;
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
        let (bytes, ends) = (&self.bytes, &self.ends);
        self.ids.insert_unique(hash, id, |id| self::hash(slice(bytes, ends, *id).as_bytes()));
        StrId(id)
    }

    /// The id of `bytes`, when that text is in the arena.
    pub fn get(&self, bytes: &[u8]) -> Option<StrId> {
        self.find(hash(bytes), bytes)
    }

    fn find(&self, hash: u64, bytes: &[u8]) -> Option<StrId> {
        self.ids.find(hash, |id| slice(&self.bytes, &self.ends, *id).as_bytes() == bytes).map(|id| StrId(*id))
    }

    /// The text of `id`; empty for an id of another arena.
    pub fn text(&self, id: StrId) -> &str {
        if id.index() < self.ends.len() { slice(&self.bytes, &self.ends, id.0) } else { "" }
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never true: the empty text is always there.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All texts by ascending id.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|id| slice(&self.bytes, &self.ends, id))
    }
}

fn slice<'a>(bytes: &'a str, ends: &[usize], id: u32) -> &'a str {
    let start = if id == 0 { 0 } else { ends[id as usize - 1] };
    &bytes[start..ends[id as usize]]
}

/// The hash by which texts are looked up; no order depends on it.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// A cache of facts on texts, each derived once.
pub(crate) struct TextCache<'a, T> {
    strings: &'a Strings,
    tell: fn(&str) -> T,
    known: Vec<Option<T>>,
}

impl<'a, T: Copy> TextCache<'a, T> {
    pub(crate) fn new(strings: &'a Strings, tell: fn(&str) -> T) -> Self {
        Self { strings, tell, known: vec![None; strings.len()] }
    }

    pub(crate) fn of(&mut self, id: StrId) -> T {
        let tell = || (self.tell)(self.strings.text(id));
        self.known.get_mut(id.index()).map_or_else(tell, |known| *known.get_or_insert_with(tell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_an_id_and_order_is_kept() {
        let mut strings = Strings::default();
        let (add, mul) = (strings.intern("aten::add"), strings.intern("aten::mul"));
        assert_eq!(strings.intern("aten::add"), add);
        assert_eq!(strings.get(b"aten::mul"), Some(mul));
        assert_eq!(strings.get(b"aten::div"), None);
        assert_eq!(strings.iter().collect::<Vec<_>>(), ["", "aten::add", "aten::mul"]);
        assert_eq!(strings.text(StrId(99)), "");
    }
}
