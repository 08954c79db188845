//! Finds the track of each element, and names tracks from metadata events.

use rustc_hash::FxHashMap;

use super::builder::TraceBuilder;
use super::element::{TraceElement, unquoted};
use super::element_shape::is_fine;
use crate::id::{StrId, TrackId};
use crate::json::{self, JsonText};
use crate::time::{Ts, ns_from_micros};
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::args::{ArgsRef, plain_text};
use crate::trace::decimal::Decimal;
use crate::trace::flow::{GAP, Metadata};
use crate::trace::track::{Process, Stream, Track, device_in_place};
use crate::warning::WarningKind;

/// `pid` and `tid`.
pub(super) type TrackKey = (StrId, StrId);

/// Finds tracks by `pid`, `tid` and side: a stream may have the numbers of a thread.
#[derive(Debug, Default)]
pub(super) struct TrackFinder {
    threads: FxHashMap<TrackKey, TrackId>,
    streams: FxHashMap<TrackKey, TrackId>,
    /// Streams that a file draws elsewhere: at the lane that an annotation names.
    lanes: FxHashMap<TrackKey, TrackId>,
    names: FxHashMap<TrackKey, (StrId, Option<i64>)>,
    processes: FxHashMap<StrId, usize>,
    recent: RecentTrack,
}

/// The last place, so that most elements need no look-up.
#[derive(Debug, Default)]
struct RecentTrack {
    process: Vec<u8>,
    thread: Vec<u8>,
    place: Option<TrackKey>,
}

impl TraceBuilder {
    /// The place that an element names.
    #[inline]
    pub(super) fn place(&mut self, element: &TraceElement<'_>) -> TrackKey {
        let recent = &self.tracks.recent;
        if let Some(place) = recent.place
            && recent.process == element.process
            && recent.thread == element.thread
        {
            return place;
        }
        let place = self.place_of(element.process, element.thread);
        let recent = &mut self.tracks.recent;
        recent.process.clear();
        recent.process.extend_from_slice(element.process);
        recent.thread.clear();
        recent.thread.extend_from_slice(element.thread);
        recent.place = Some(place);
        place
    }

    /// The place with these values of `pid` and `tid`.
    pub(super) fn place_of(&mut self, process: &[u8], thread: &[u8]) -> TrackKey {
        (self.intern_scalar(process), self.intern_scalar(thread))
    }

    /// A number's or a string's text: `7` and `"7"` are the same thread.
    fn intern_scalar(&mut self, raw: &[u8]) -> StrId {
        self.intern(JsonText { raw: unquoted(raw), escaped: raw.contains(&b'\\') })
    }

    /// The thread at `place`.
    #[inline]
    pub(super) fn thread_track(&mut self, place: TrackKey) -> TrackId {
        match self.tracks.threads.get(&place) {
            Some(track) => *track,
            None => {
                let track = self.new_track(place, None);
                self.tracks.threads.insert(place, track);
                track
            }
        }
    }

    /// The stream at `place`. With `graph_lanes`, it is the one on which the work ran that the file
    /// draws there.
    ///
    /// Annotations may have no arguments, so the first event that tells a number gives it.
    #[inline]
    pub(super) fn stream_track(&mut self, place: TrackKey, args: ArgsRef) -> TrackId {
        let original = self.trace.args.integer(&self.trace.strings, args, ArgKey::OriginalStream);
        let own = match original {
            Some(original) => (place.0, self.trace.strings.intern(&original.to_string())),
            None => place,
        };
        let track = match self.tracks.streams.get(&own) {
            Some(track) => *track,
            None => {
                let track = self.new_track(own, Some(Stream { device: None, stream: original }));
                self.tracks.streams.insert(own, track);
                track
            }
        };
        if original.is_some() {
            self.tracks.lanes.entry(place).or_insert(track);
        }
        let Trace { args: all, strings, tracks, .. } = &mut self.trace;
        if let Some(Stream { device, stream }) = &mut tracks[track.index()].stream {
            *device = device.or_else(|| all.integer(strings, args, ArgKey::Device));
            *stream = stream.or_else(|| all.integer(strings, args, ArgKey::Stream));
        }
        track
    }

    /// Numbers streams by their places where no event told a number.
    pub(super) fn number_streams(&mut self) {
        let Trace { strings, tracks, .. } = &mut self.trace;
        for track in tracks {
            let Some(Stream { device, stream }) = &mut track.stream else { continue };
            *device = device.or_else(|| device_in_place(strings.text(track.process)));
            *stream = stream.or_else(|| strings.text(track.thread).trim_start_matches("stream ").parse().ok());
        }
    }

    /// The stream at `place` where there is one, else the thread: for elements that do not say
    /// their side.
    pub(super) fn any_track(&mut self, place: TrackKey) -> TrackId {
        let stream = self.tracks.streams.get(&place).or_else(|| self.tracks.lanes.get(&place)).copied();
        stream.unwrap_or_else(|| self.thread_track(place))
    }

    fn new_track(&mut self, (process, thread): TrackKey, stream: Option<Stream>) -> TrackId {
        self.trace.tracks.push(Track { process, thread, name: StrId::EMPTY, sort_index: None, stream });
        TrackId::from(self.trace.tracks.len() - 1)
    }

    /// Keeps a metadata event (`M`).
    pub(super) fn push_metadata(&mut self, element: &TraceElement<'_>) {
        let place = self.place(element);
        let Some(name) = element.name else { return self.warn(WarningKind::NotAnEvent) };
        self.keep_metadata(element, name, place);
        match name.raw {
            b"process_name" => self.process(place.0).name = self.metadata_text(element, b"name"),
            b"process_labels" => self.process(place.0).labels = self.metadata_text(element, b"labels"),
            b"process_sort_index" => self.process(place.0).sort_index = metadata_number(element),
            b"thread_name" => {
                let text = self.metadata_text(element, b"name");
                self.tracks.names.entry(place).or_insert((StrId::EMPTY, None)).0 = text;
            }
            b"thread_sort_index" => {
                self.tracks.names.entry(place).or_insert((StrId::EMPTY, None)).1 = metadata_number(element);
            }
            _ => {}
        }
    }

    fn keep_metadata(&mut self, element: &TraceElement<'_>, name: JsonText<'_>, (process, thread): TrackKey) {
        if name.raw == GAP.as_bytes() {
            return;
        }
        let name = self.intern(name);
        let args = self.keep_args(&element.args);
        let time = ns_from_micros(element.time).map(Ts);
        self.has_fine_times |= time.is_some_and(|time| is_fine(element.time, time.0));
        self.trace.metadata.push(Metadata { position: self.position, name, process, thread, time, args });
    }

    fn process(&mut self, process: StrId) -> &mut Process {
        let processes = &mut self.trace.processes;
        let row = *self.tracks.processes.entry(process).or_insert_with(|| {
            processes.push(Process { process, name: StrId::EMPTY, labels: StrId::EMPTY, sort_index: None });
            processes.len() - 1
        });
        &mut processes[row]
    }

    fn metadata_text(&mut self, element: &TraceElement<'_>, key: &[u8]) -> StrId {
        let text = match element.args.value(key) {
            Some(text) => plain_text(&json::canonical(text).text),
            None => return StrId::EMPTY,
        };
        self.trace.strings.intern(&text)
    }

    /// Gives tracks the names that metadata events gave their places.
    pub(super) fn name_tracks(&mut self) {
        for track in &mut self.trace.tracks {
            if let Some((name, sort_index)) = self.tracks.names.get(&(track.process, track.thread)) {
                track.name = *name;
                track.sort_index = *sort_index;
            }
        }
    }
}

fn metadata_number(element: &TraceElement<'_>) -> Option<i64> {
    Decimal::parse(element.args.value(b"sort_index")?)?.integer()
}
