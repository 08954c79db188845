//! Numbers and descriptors of tracks.

use std::io;

use rustc_hash::FxHashMap;

use super::packets::PacketWriter;
use crate::id::{StrId, TrackId};
use crate::perfetto::packet;
use crate::trace::Trace;

/// The numbers of all tracks that were described.
pub(super) struct TrackIds<'t> {
    trace: &'t Trace,
    next: u64,
    processes: FxHashMap<StrId, u64>,
    /// Threads and their further lanes.
    threads: FxHashMap<(TrackId, usize), u64>,
    /// Counters by process or thread, name and series.
    counters: FxHashMap<(u64, StrId, StrId), u64>,
}

impl<'t> TrackIds<'t> {
    pub(super) fn new(trace: &'t Trace) -> Self {
        let (processes, threads, counters) = <_>::default();
        Self { trace, next: 1, processes, threads, counters }
    }

    fn take_next(&mut self) -> u64 {
        let id = self.next;
        self.next += 1;
        id
    }

    /// The track of a process, described when it comes first.
    pub(super) fn process(&mut self, packets: &mut PacketWriter<'t, '_>, process: StrId) -> io::Result<u64> {
        if let Some(id) = self.processes.get(&process) {
            return Ok(*id);
        }
        let id = self.take_next();
        self.processes.insert(process, id);
        let text = self.trace.strings.text(process);
        let known = self.trace.processes.iter().find(|known| known.process == process);
        packets.packet(None, packet::TRACK, |_, track| {
            track.number(1, id);
            let Some(number) = number_of::<i32>(text) else { return track.text(2, text.as_bytes()) };
            track.message(3, |descriptor| {
                descriptor.signed(1, i64::from(number));
                let Some(known) = known else { return };
                for (field, name) in [(6, known.name), (8, known.labels)] {
                    if name != StrId::EMPTY {
                        descriptor.text(field, self.trace.strings.text(name).as_bytes());
                    }
                }
                if let Some(index) = known.sort_index.and_then(|index| i32::try_from(index).ok()) {
                    descriptor.signed(3, i64::from(index));
                }
            });
        })?;
        Ok(id)
    }

    /// The track of a thread's lane, described when it comes first. Lanes but the first are tracks
    /// inside the thread, with its name.
    pub(super) fn thread(
        &mut self,
        packets: &mut PacketWriter<'t, '_>,
        track: TrackId,
        lane: usize,
    ) -> io::Result<u64> {
        if let Some(id) = self.threads.get(&(track, lane)) {
            return Ok(*id);
        }
        let place = self.trace.track(track);
        let text = |id: StrId| self.trace.strings.text(id);
        let parent = if lane > 0 { self.thread(packets, track, 0)? } else { self.process(packets, place.process)? };
        let id = self.take_next();
        self.threads.insert((track, lane), id);
        let numbers = number_of::<i32>(text(place.process)).zip(number_of::<i64>(text(place.thread)));
        packets.packet(None, packet::TRACK, |_, descriptor| {
            descriptor.number(1, id);
            descriptor.number(5, parent);
            match numbers.filter(|_| lane == 0) {
                Some((process, thread)) => descriptor.message(4, |descriptor| {
                    descriptor.signed(1, i64::from(process));
                    descriptor.signed(2, thread);
                    if place.name != StrId::EMPTY {
                        descriptor.text(5, text(place.name).as_bytes());
                    }
                    if let Some(index) = place.sort_index.and_then(|index| i32::try_from(index).ok()) {
                        descriptor.signed(3, i64::from(index));
                    }
                }),
                None if place.name != StrId::EMPTY && numbers.is_some() => {
                    descriptor.text(2, text(place.name).as_bytes());
                }
                None => descriptor.text(2, text(place.thread).as_bytes()),
            }
        })?;
        Ok(id)
    }

    /// The track of a counter's series.
    pub(super) fn counter(
        &mut self,
        packets: &mut PacketWriter<'t, '_>,
        track: TrackId,
        (name, series): (StrId, StrId),
    ) -> io::Result<u64> {
        let place = self.trace.track(track);
        let parent = if place.thread == StrId::EMPTY {
            self.process(packets, place.process)?
        } else {
            self.thread(packets, track, 0)?
        };
        if let Some(id) = self.counters.get(&(parent, name, series)) {
            return Ok(*id);
        }
        let id = self.take_next();
        self.counters.insert((parent, name, series), id);
        let text = |id: StrId| self.trace.strings.text(id).as_bytes();
        packets.packet(None, packet::TRACK, |_, descriptor| {
            descriptor.number(1, id);
            descriptor.number(5, parent);
            descriptor.text(2, text(name));
            descriptor.message(8, |_| {});
            descriptor.text(14, text(series));
        })?;
        Ok(id)
    }
}

/// A number, if a text is one as it is written.
pub(super) fn number_of<T: std::str::FromStr + ToString>(text: &str) -> Option<T> {
    text.parse::<T>().ok().filter(|number| number.to_string() == text)
}
