//! Adds the events of packets to a trace.

use rustc_hash::FxHashMap;

use super::packet_key::PacketKey;
use super::slice_run::RunBegin;
use crate::json::Scanner;
use crate::read::builder::{InternedElement, TraceBuilder};
use crate::read::element::TraceElement;
use crate::read::element_shape::{ElementShape, OwnValues};
use crate::read::event_text::EventText;
use crate::read::trace_array::TraceArray;
use crate::read::tracks::TrackKey;
use crate::time::Ts;
use crate::trace::args::ArgsRef;
use crate::warning::WarningKind;

/// Puts events into a trace: those like an earlier one at once, all others as the text of an
/// element of Chrome's format, so that both formats become the same rows.
pub(super) struct PacketRows<'b> {
    pub(super) builder: &'b mut TraceBuilder,
    known: FxHashMap<Box<[u8]>, ElementShape>,
    /// Bytes of the keys that are known.
    num_bytes: usize,
    num_found: usize,
    num_learned: usize,
    num_elements: u64,
}

/// Bytes of keys that are kept before all are forgotten.
const MAX_BYTES: usize = 1 << 24;
/// Longer keys are not kept.
const MAX_KEY: usize = 1 << 14;
/// So many are kept before any has to have been of use.
const MIN_TRIALS: usize = 1 << 12;

impl<'b> PacketRows<'b> {
    pub(super) fn new(builder: &'b mut TraceBuilder) -> Self {
        Self { builder, known: FxHashMap::default(), num_bytes: 0, num_found: 0, num_learned: 0, num_elements: 0 }
    }

    /// Tells the builder where the next event stands: its place among all, as in Chrome's format.
    fn mark(&mut self) {
        self.builder.position = u32::try_from(self.num_elements).unwrap_or(u32::MAX);
        self.builder.section = TraceArray::Events;
        self.builder.byte = None;
        self.num_elements += 1;
    }

    /// The row that the next event will be, if it becomes one.
    pub(super) fn next_row(&self) -> usize {
        self.builder.trace.events.len()
    }

    /// Adds an event like an earlier one; false if there was none.
    pub(super) fn put(&mut self, key: &PacketKey, place: Option<TrackKey>, own: OwnValues) -> bool {
        let Some(shape) = self.known.get(key.bytes.as_slice()).copied() else { return false };
        self.num_found += 1;
        self.mark();
        let shape = ElementShape { place: place.unwrap_or(shape.place), ..shape };
        let args = ArgsRef { template: shape.template, start: self.builder.trace.args.push_values(&key.values) };
        self.builder.put_alike(shape, own, args);
        true
    }

    /// Adds the one event that a text has, and remembers it by its key.
    pub(super) fn learn(&mut self, events: &mut EventText, key: &PacketKey) {
        let row = self.scan(&mut Scanner::new(&events.out));
        events.out.clear();
        let Some(row) = row else { return };
        let is_split_alike = self.builder.trace.args.values(row.args).eq(key.values.iter().copied());
        let is_of_use = self.num_learned <= self.num_found.max(MIN_TRIALS);
        if is_split_alike && is_of_use && key.bytes.len() <= MAX_KEY {
            if self.num_bytes > MAX_BYTES {
                self.known.clear();
                self.num_bytes = 0;
            }
            self.num_learned += 1;
            self.num_bytes += key.bytes.len() + size_of::<ElementShape>();
            self.known.insert(key.bytes.as_slice().into(), row.shape);
        }
    }

    fn scan(&mut self, scanner: &mut Scanner<'_>) -> Option<InternedElement> {
        let mut element = TraceElement::default();
        scanner.next_element().ok().filter(|is_there| *is_there)?;
        self.mark();
        match element.scan(scanner) {
            Ok(()) => self.builder.push_row(&element),
            Err(_) => {
                self.builder.warn(WarningKind::MalformedElement);
                None
            }
        }
    }

    /// Adds all events of a text.
    pub(super) fn flush(&mut self, events: &mut EventText) {
        let mut scanner = Scanner::new(&events.out);
        let mut element = TraceElement::default();
        while let Ok(true) = scanner.next_element() {
            self.mark();
            let start = scanner.at();
            if let Some(size) = self.builder.push_alike(scanner.rest(start)) {
                scanner.seek(start + size);
            } else if element.scan(&mut scanner).is_ok() {
                self.builder.push(&element, Some(scanner.since(start)));
            } else {
                self.builder.warn(WarningKind::MalformedElement);
                break;
            }
        }
        events.out.clear();
    }

    /// Ends the slice of a row.
    pub(super) fn close(&mut self, begin: RunBegin, time: i64) {
        self.mark();
        self.builder.has_fine_times |= time % 1000 != 0;
        let events = &mut self.builder.trace.events;
        events.dur.set(begin.row, Ts(time).since(events.start.at(begin.row)));
    }

    /// Leaves it to time to find the end of a slice.
    pub(super) fn leave_open(&mut self, begin: RunBegin) {
        self.builder.lane = begin.track;
        self.builder.note_begin(begin.row);
    }
}
