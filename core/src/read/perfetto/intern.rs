//! Keeps what the packets of a sequence refer to.

use std::cell::Cell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::packet::defaults_of;
use super::slice_run::SliceRun;
use crate::perfetto::interned;
use crate::read::wire::{WireFields, WireValue, all_bytes_in, bytes_in, number_in};

/// Entries that packets refer to by number.
#[derive(Debug)]
pub(super) struct InternedById<T> {
    known: FxHashMap<u64, T>,
    /// Whether something was looked for that is not there.
    has_missed: Cell<bool>,
}

/// Texts by their numbers.
pub(super) type TextsById = InternedById<Vec<u8>>;

impl<T> Default for InternedById<T> {
    fn default() -> Self {
        Self { known: FxHashMap::default(), has_missed: Cell::new(false) }
    }
}

impl<T: PartialEq> InternedById<T> {
    pub(super) fn get(&self, iid: u64) -> Option<&T> {
        let found = self.known.get(&iid);
        // 0 is no number: packets leave it out.
        self.has_missed.set(self.has_missed.get() | (found.is_none() && iid != 0));
        found
    }

    /// Adds an entry; true if packets that were read before would now be read otherwise.
    fn insert(&mut self, iid: u64, entry: T) -> bool {
        let is_same = self.known.get(&iid).is_some_and(|known| *known == entry);
        let is_new = self.known.insert(iid, entry).is_none();
        !is_same && (!is_new || iid == 0 || self.has_missed.take())
    }
}

impl TextsById {
    /// The text with a number.
    pub(super) fn text(&self, iid: u64) -> Option<&[u8]> {
        self.get(iid).map(Vec::as_slice)
    }
}

/// Texts that earlier packets gave.
#[derive(Debug, Default)]
pub(super) struct PerfettoTexts {
    pub(super) categories: TextsById,
    pub(super) names: TextsById,
    /// Names of annotations, and texts that are their values.
    pub(super) keys: TextsById,
    pub(super) values: TextsById,
    /// Names of the queues of devices and of the stages that run there, and kinds of stages.
    pub(super) queues: InternedById<(Vec<u8>, u64)>,
    pub(super) kernels: TextsById,
    /// Names of a launch's arguments.
    pub(super) arguments: TextsById,
    pub(super) counters: FxHashMap<u64, Arc<DeviceCounters>>,
}

/// Counters of a device by their numbers.
#[derive(Debug, Default)]
pub(super) struct DeviceCounters {
    pub(super) device: Option<i64>,
    pub(super) names: FxHashMap<u64, Vec<u8>>,
}

/// A writer of packets.
#[derive(Debug, Default)]
pub(super) struct PerfettoSequence {
    pub(super) id: u64,
    pub(super) texts: PerfettoTexts,
    pub(super) track: Option<u64>,
    pub(super) clock: Option<u64>,
    /// The last counters that a packet described itself.
    pub(super) counters: Option<Arc<DeviceCounters>>,
    /// The last names of queues and stages, in their order, that a packet described itself.
    pub(super) specifications: [Vec<Vec<u8>>; 2],
    pub(super) run: SliceRun,
    /// Grows when numbers come to stand for other texts than before.
    pub(super) edition: u64,
    /// Whether all that packets refer to is known.
    pub(super) is_complete: bool,
}

impl PerfettoSequence {
    pub(super) fn new(id: u64) -> Self {
        Self { id, ..Self::default() }
    }

    /// Forgets what later packets may no longer refer to.
    pub(super) fn clear(&mut self) {
        self.texts = PerfettoTexts::default();
        self.edition += 1;
        (self.track, self.clock) = (None, None);
        self.is_complete = true;
    }

    /// Takes `TracePacketDefaults`.
    pub(super) fn set_defaults(&mut self, message: &[u8]) {
        (self.track, self.clock) = defaults_of(message);
    }

    /// Takes `InternedData`.
    pub(super) fn intern(&mut self, message: &[u8]) {
        let texts = &mut self.texts;
        for (field, value) in WireFields::new(message) {
            let WireValue::Bytes(entry) = value else { continue };
            let Some(iid) = number_in(entry, 1) else { continue };
            let name = || bytes_in(entry, 2).unwrap_or_default().to_vec();
            let places = match field {
                interned::CATEGORY => &mut texts.categories,
                interned::EVENT => &mut texts.names,
                interned::ANNOTATION => &mut texts.keys,
                interned::TEXT => &mut texts.values,
                interned::ARGUMENT => &mut texts.arguments,
                interned::KERNEL => {
                    // Its name as people write it, if it is there.
                    let name = bytes_in(entry, 3).map_or_else(name, <[u8]>::to_vec);
                    self.edition += u64::from(texts.kernels.insert(iid, name));
                    continue;
                }
                interned::QUEUE_OR_STAGE => {
                    let queue = (name(), number_in(entry, 4).unwrap_or(0));
                    self.edition += u64::from(texts.queues.insert(iid, queue));
                    continue;
                }
                interned::COUNTERS => {
                    let device = number_in(entry, 3).map(|number| number as i64);
                    let described = DeviceCounters::new(device, bytes_in(entry, 2).unwrap_or_default());
                    texts.counters.insert(iid, Arc::new(described));
                    continue;
                }
                _ => continue,
            };
            self.edition += u64::from(places.insert(iid, name()));
        }
    }
}

impl DeviceCounters {
    /// The counters in a `GpuCounterDescriptor`.
    pub(super) fn new(device: Option<i64>, message: &[u8]) -> Self {
        let named = |spec| Some((number_in(spec, 1)?, bytes_in(spec, 2)?.to_vec()));
        Self { device, names: all_bytes_in(message, 1).filter_map(named).collect() }
    }
}
