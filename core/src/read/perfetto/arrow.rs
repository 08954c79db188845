//! Arrows to the work of devices: from what it waited for, and from the calls that launched it.

use super::track::PerfettoTracks;
use crate::read::event_text::EventText;
use crate::read::json_object::JsonObject;
use crate::sort;
use crate::time::Ts;

/// Work of a device.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeviceWork {
    pub(super) id: u64,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) device: i64,
    pub(super) stream: i64,
}

/// All work that has a number, and who refers to it. The work may come later.
#[derive(Debug, Default)]
pub(super) struct DeviceArrows {
    pub(super) works: Vec<DeviceWork>,
    /// Work that waits, and the work that it waits for.
    pub(super) waits: Vec<(u64, u64)>,
    /// Track and start of a call, and the work that it launched.
    pub(super) launches: Vec<(u64, i64, u64)>,
}

/// The first number of an arrow: far from those of launches, which are numbers of correlations.
const FIRST: u64 = 1 << 40;
/// Kineto's name for arrows to devices.
const NAME: &str = "ac2g";

impl DeviceArrows {
    /// Writes an arrow for each reference to known work.
    pub(super) fn write(&mut self, tracks: &mut PerfettoTracks, events: &mut EventText) {
        if self.waits.is_empty() && self.launches.is_empty() {
            return;
        }
        sort::by_key(&mut self.works, |work| work.id);
        let find = |id: u64| self.works.binary_search_by_key(&id, |work| work.id).ok().map(|at| self.works[at]);
        let mut number = FIRST;
        for (waiting, earlier) in &self.waits {
            if let Some((earlier, waiting)) = find(*earlier).zip(find(*waiting)) {
                write_end(events, b"s", number, earlier.end, |event| write_place(event, &earlier));
                write_end(events, b"f", number, waiting.start, |event| write_place(event, &waiting));
                number += 1;
            }
        }
        for (track, time, id) in &self.launches {
            if let Some(work) = find(*id) {
                let place = tracks.place(*track);
                write_end(events, b"s", number, *time, |event| place.write(event));
                write_end(events, b"f", number, work.start, |event| write_place(event, &work));
                number += 1;
            }
        }
    }
}

fn write_place(event: &mut JsonObject<'_>, work: &DeviceWork) {
    event.integer("pid", work.device);
    event.integer("tid", work.stream);
}

/// Writes one end of an arrow.
fn write_end(events: &mut EventText, phase: &[u8], number: u64, time: i64, place: impl FnOnce(&mut JsonObject<'_>)) {
    events.element(|event| {
        event.text("ph", phase);
        event.text("cat", NAME.as_bytes());
        event.text("name", NAME.as_bytes());
        event.integer("id", i64::try_from(number).unwrap_or(i64::MAX));
        place(event);
        event.plain_micros("ts", Ts(time));
        if phase == b"f" {
            event.text("bp", b"e");
        }
    });
}
