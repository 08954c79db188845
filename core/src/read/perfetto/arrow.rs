//! Arrows to the work of devices: from what it waited for, and from the calls that launched it.

use super::target::PerfettoTarget;
use crate::read::element_shape::OwnValues;
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
    pub(super) fn write(mut self, target: &mut PerfettoTarget<'_>) {
        if self.waits.is_empty() && self.launches.is_empty() {
            return;
        }
        sort::by_key(&mut self.works, |work| work.id);
        let find = |id: u64| self.works.binary_search_by_key(&id, |work| work.id).ok().map(|at| self.works[at]);
        let mut number = FIRST;
        for (waiting, earlier) in &self.waits {
            if let Some((earlier, waiting)) = find(*earlier).zip(find(*waiting)) {
                write_end(target, *b"s", (number, earlier.end), ArrowPlace::Work(&earlier));
                write_end(target, *b"f", (number, waiting.start), ArrowPlace::Work(&waiting));
                number += 1;
            }
        }
        for (track, time, id) in &self.launches {
            if let Some(work) = find(*id) {
                write_end(target, *b"s", (number, *time), ArrowPlace::Track(*track));
                write_end(target, *b"f", (number, work.start), ArrowPlace::Work(&work));
                number += 1;
            }
        }
    }
}

/// Where an arrow begins or ends.
#[derive(Debug, Clone, Copy)]
enum ArrowPlace<'w> {
    Track(u64),
    Work(&'w DeviceWork),
}

/// Writes one end of an arrow.
fn write_end(target: &mut PerfettoTarget<'_>, phase: [u8; 1], (number, time): (u64, i64), at: ArrowPlace<'_>) {
    target.key.clear();
    target.key.kind([phase[0], b'A', 0], 0, 0);
    let place = match at {
        ArrowPlace::Track(track) => Some(target.tracks.place(track).key(target.rows.builder)),
        ArrowPlace::Work(work) => {
            [work.device, work.stream].into_iter().for_each(|number| target.key.number(Some(number as u64)));
            None
        }
    };
    let own = OwnValues { flow: number, ..OwnValues::exact(time, 0) };
    target.put(place, own, |event, tracks| {
        event.text("ph", &phase);
        event.text("cat", NAME.as_bytes());
        event.text("name", NAME.as_bytes());
        event.integer("id", i64::try_from(number).unwrap_or(i64::MAX));
        match at {
            ArrowPlace::Track(track) => tracks.place(track).write(event),
            ArrowPlace::Work(work) => {
                event.integer("pid", work.device);
                event.integer("tid", work.stream);
            }
        }
        event.plain_micros("ts", Ts(time));
        if phase == *b"f" {
            event.text("bp", b"e");
        }
    });
}
