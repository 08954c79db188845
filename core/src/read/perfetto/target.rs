//! Collects the events of packets.

use super::arrow::DeviceArrows;
use super::flow::PerfettoFlows;
use super::lane::LaneSlices;
use super::stream::NamedStreams;
use super::track::PerfettoTracks;
use crate::read::event_text::EventText;

/// The text of the events, and what later packets add to.
#[derive(Debug, Default)]
pub(super) struct PerfettoTarget {
    pub(super) events: EventText,
    pub(super) tracks: PerfettoTracks,
    pub(super) streams: NamedStreams,
    pub(super) arrows: DeviceArrows,
    pub(super) lanes: LaneSlices,
    pub(super) flows: PerfettoFlows,
}
