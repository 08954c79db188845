//! Collects the events of packets.

use super::arrow::DeviceArrows;
use super::flow::PerfettoFlows;
use super::lane::LaneSlices;
use super::packet_key::PacketKey;
use super::rows::PacketRows;
use super::stream::NamedStreams;
use super::track::PerfettoTracks;
use crate::read::builder::TraceBuilder;
use crate::read::element_shape::OwnValues;
use crate::read::event_text::EventText;
use crate::read::json_object::JsonObject;
use crate::read::recent_map::RecentMap;
use crate::read::tracks::TrackKey;

/// Where events go, and what later packets add to.
pub(super) struct PerfettoTarget<'b> {
    pub(super) rows: PacketRows<'b>,
    /// Events that are not among the rows yet.
    pub(super) events: EventText,
    /// The key of the event at hand.
    pub(super) key: PacketKey,
    pub(super) tracks: PerfettoTracks,
    pub(super) streams: NamedStreams,
    pub(super) arrows: DeviceArrows,
    pub(super) lanes: LaneSlices,
    pub(super) flows: PerfettoFlows,
    /// The places of the counters of devices.
    pub(super) devices: RecentMap<i64, TrackKey>,
}

impl<'b> PerfettoTarget<'b> {
    pub(super) fn new(builder: &'b mut TraceBuilder) -> Self {
        Self {
            rows: PacketRows::new(builder),
            events: EventText::default(),
            key: PacketKey::default(),
            tracks: PerfettoTracks::default(),
            streams: NamedStreams::default(),
            arrows: DeviceArrows::default(),
            lanes: LaneSlices::default(),
            flows: PerfettoFlows::default(),
            devices: RecentMap::default(),
        }
    }

    /// Brings what was written among the rows.
    pub(super) fn flush(&mut self) {
        if !self.events.out.is_empty() {
            self.rows.flush(&mut self.events);
        }
    }

    /// Adds the event whose key was made: like an earlier one if there is one, else by its text.
    /// The place is part of the key where it is not given.
    pub(super) fn put(
        &mut self,
        place: Option<TrackKey>,
        own: OwnValues,
        fill: impl FnOnce(&mut JsonObject<'_>, &mut PerfettoTracks),
    ) {
        self.flush();
        if !self.rows.put(&self.key, place, own) {
            let Self { rows, events, key, tracks, .. } = self;
            events.element(|element| fill(element, tracks));
            rows.learn(events, key);
        }
    }
}
