//! Slices that overlap others of their thread.

use rustc_hash::FxHashMap;

use crate::read::event_text::EventText;
use crate::read::json_object::JsonObject;
use crate::time::Ts;

/// The open slices of each lane. They are written when they end, as a whole: an end among those of
/// the thread would not tell which slice it closes.
#[derive(Debug, Default)]
pub(super) struct LaneSlices(FxHashMap<u64, Vec<LaneSlice>>);

#[derive(Debug)]
struct LaneSlice {
    start: i64,
    /// The keys of its element but for the phase and the duration.
    text: Vec<u8>,
}

impl LaneSlices {
    pub(super) fn begin(&mut self, lane: u64, start: i64, fill: impl FnOnce(&mut JsonObject<'_>)) {
        let mut text = Vec::new();
        crate::read::json_object::object(&mut text, fill);
        self.0.entry(lane).or_default().push(LaneSlice { start, text });
    }

    /// Writes the slice that ends; false if none is open.
    pub(super) fn end(&mut self, lane: u64, end: i64, events: &mut EventText) -> bool {
        let Some(slice) = self.0.get_mut(&lane).and_then(Vec::pop) else { return false };
        let dur = end.saturating_sub(slice.start);
        slice.write(events, b"X", Some(dur));
        true
    }

    /// Writes those that never ended.
    pub(super) fn write(&mut self, events: &mut EventText) {
        for slice in std::mem::take(&mut self.0).into_values().flatten() {
            slice.write(events, b"B", None);
        }
    }
}

impl LaneSlice {
    fn write(&self, events: &mut EventText, phase: &[u8], dur: Option<i64>) {
        events.element(|event| {
            event.text("ph", phase);
            if let Some(dur) = dur {
                event.plain_micros("dur", Ts(dur));
            }
            event.keys_of(&self.text);
        });
    }
}
