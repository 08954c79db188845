//! Lists the streams of a selection, with their work.

use crate::analyze::selection::Selection;
use crate::id::TrackId;
use crate::sort;
use crate::trace::track::Stream;

/// The streams, with their tracks, in the order of device and number.
pub(in crate::analyze) fn streams(selection: &Selection<'_>) -> Vec<(TrackId, Stream)> {
    let tracks = selection.linked.trace.tracks.iter().enumerate();
    let mut streams: Vec<_> = tracks.filter_map(|(at, track)| Some((TrackId::from(at), track.stream?))).collect();
    sort::by_key(&mut streams, |(track, stream)| (stream.device, stream.stream, track.index()));
    streams
}

/// Rows of a track's selected kernels, copies and fills, by start.
pub(in crate::analyze) fn work<'a>(selection: &'a Selection<'_>, track: TrackId) -> impl Iterator<Item = usize> + 'a {
    let kinds = &selection.linked.trace.events.kind;
    let rows = selection.linked.links.nesting.track_rows(track).iter().map(|row| *row as usize);
    rows.filter(|row| kinds[*row].is_device_work() && selection.contains(*row))
}
