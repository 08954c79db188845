//! Knows which arguments of launches are numbers of threads: the block tells these.

use rustc_hash::FxHashMap;

use crate::perfetto::interned;
use crate::read::wire::{WireFields, WireValue, bytes_in, number_in};

/// Their name.
pub(super) const THREAD_COUNT: &[u8] = b"thread_count";

/// The numbers that stand for the name, by their sequence.
#[derive(Debug, Default)]
pub(super) struct ThreadCounts(FxHashMap<u64, Vec<u64>>);

impl ThreadCounts {
    /// Forgets what packets of a sequence may no longer refer to.
    pub(super) fn clear(&mut self, sequence: u64) {
        self.0.remove(&sequence);
    }

    /// Takes `InternedData`.
    pub(super) fn intern(&mut self, sequence: u64, message: &[u8]) {
        for (field, value) in WireFields::new(message) {
            let (interned::ARGUMENT, WireValue::Bytes(entry)) = (field, value) else { continue };
            let Some(iid) = number_in(entry, 1) else { continue };
            let is_it = bytes_in(entry, 2) == Some(THREAD_COUNT);
            let known = self.0.get_mut(&sequence);
            match known {
                Some(iids) => {
                    iids.retain(|known| *known != iid);
                    iids.extend(is_it.then_some(iid));
                }
                None if is_it => drop(self.0.insert(sequence, vec![iid])),
                None => {}
            }
        }
    }

    /// Whether an argument of a launch is one.
    pub(super) fn has(&self, sequence: u64, argument: &[u8]) -> bool {
        match bytes_in(argument, 2) {
            Some(name) => name == THREAD_COUNT,
            None => {
                let iids = self.0.get(&sequence).map_or(&[][..], Vec::as_slice);
                !iids.is_empty() && number_in(argument, 1).is_some_and(|iid| iids.contains(&iid))
            }
        }
    }
}
