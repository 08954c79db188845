//! Files of the runtime of IBM's AIU (Flex): `aiu-trace-analyzer` reads them.
//!
//! Events have no category. The end of a name tells work of the device: `add_11 Cmpt Exec` (a
//! kernel) and `Cmpt Prep` (before it), `DmaI` and `DmaO` (copies to and from the device, or RDMA).
//! A row has events of one sort.

use super::entry::{EventNames, Producer, TrackNames, TrackRole};
use crate::event_kind::EventKind;
use crate::vendor::aiu::AIU;

pub(super) static FLEX: Producer = Producer {
    title: "the runtime of IBM's AIU (Flex)",
    records_pytorch: true,
    vendor: Some(&AIU),
    advice: "work of the device is right; such files have no operators and no launches",
    event_ends: &WORK,
    role,
    ..Producer::EMPTY
};

const WORK: [&str; 4] = [" Cmpt Exec", " Cmpt Prep", " DmaI", " DmaO"];

fn role(names: &TrackNames<'_>) -> TrackRole {
    if !WORK.iter().any(|end| names.event.ends_with(end)) {
        return TrackRole::HOST;
    }
    // Numbers of rows are hashes: the sign is none.
    let stream = names.number.parse::<u64>().ok().map(|number| (number & i64::MAX.unsigned_abs()) as i64);
    TrackRole::device(None, stream, work)
}

fn work(names: &EventNames<'_>) -> Option<EventKind> {
    let is_copy = (names.name.ends_with(" DmaI") || names.name.ends_with(" DmaO")) && !names.name.contains("Rdma");
    let is_work = WORK.iter().any(|end| names.name.ends_with(end));
    is_work.then_some(if is_copy { EventKind::Copy } else { EventKind::Kernel })
}
