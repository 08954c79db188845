//! Stores equal frames of stacks once: `PyTorch` writes each frame of each stack anew.

use std::hash::Hasher as _;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::value::{PickleValues, ValueId};

/// Keys of a frame: `name`, `filename`, `line`.
const NUM_KEYS: usize = 3;
const KEY: &str = "filename";

/// The dict that was made last, while only the top of the stack and the memo refer to it.
#[derive(Debug, Clone, Copy)]
struct NewDict {
    id: ValueId,
    /// Where the memo refers to it.
    place: Option<usize>,
    /// Whether it stands for a frame that was there before.
    is_shared: bool,
}

/// Frames by their content.
#[derive(Debug, Default)]
pub(super) struct SharedFrames {
    known: HashTable<ValueId>,
    new: Option<NewDict>,
}

impl SharedFrames {
    /// Notes a new, empty dict.
    pub(super) fn begin(&mut self, id: ValueId) {
        self.new = Some(NewDict { id, place: None, is_shared: false });
    }

    /// Notes that a place of the memo now refers to a value.
    pub(super) fn put(&mut self, id: ValueId, place: usize) {
        self.new = self.new.and_then(|new| match new.place {
            None if new.id == id => Some(NewDict { place: Some(place), ..new }),
            own if new.id == id || own == Some(place) => None,
            _ => Some(new),
        });
    }

    /// Notes a further reference to a value.
    pub(super) fn refer(&mut self, id: ValueId) {
        self.new = self.new.filter(|new| new.id != id);
    }

    /// Whether a dict that is to get more entries stands for several.
    pub(super) fn is_shared(&self, id: ValueId) -> bool {
        self.new.is_some_and(|new| new.id == id && new.is_shared)
    }

    /// Notes the copy of a shared dict that gets more entries instead; gives the place of the memo
    /// that must refer to it.
    pub(super) fn unshare(&mut self, copy: ValueId) -> Option<usize> {
        let place = self.new?.place;
        self.new = Some(NewDict { id: copy, place, is_shared: false });
        place
    }

    /// An equal frame from before, with the place of the memo that must refer to it instead of the
    /// last value.
    pub(super) fn known(&mut self, values: &PickleValues<'_>, id: ValueId) -> Option<(ValueId, Option<usize>)> {
        let new = self.new.filter(|new| new.id == id)?;
        // Values after it, such as a number that was not there before, keep it in its place.
        let is_last = id.index() + 1 == values.len();
        let entries = values.entries(id).filter(|entries| entries.len() == NUM_KEYS)?;
        if !entries.iter().any(|(key, _)| values.text(*key) == Some(KEY)) {
            return None;
        }
        let hash = |entries: &[(ValueId, ValueId)]| {
            let mut hasher = FxHasher::default();
            entries.iter().for_each(|(key, value)| hasher.write_u64((key.index() as u64) << 32 | value.index() as u64));
            hasher.finish()
        };
        let found = self.known.find(hash(entries), |known| values.entries(*known) == Some(entries)).copied();
        match found {
            Some(known) if is_last => {
                self.new = Some(NewDict { id: known, is_shared: true, ..new });
                Some((known, new.place))
            }
            Some(_) => None,
            None => {
                let of = |id: &ValueId| hash(values.entries(*id).unwrap_or_default());
                self.known.insert_unique(hash(entries), id, of);
                None
            }
        }
    }
}
