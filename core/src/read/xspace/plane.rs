//! A plane by the places of its lines and names.

use rustc_hash::FxHashMap;

use super::field::{entry, metadata, plane};
use super::span::PlaneSpan;
use crate::read::wire::{bytes_in, number_in};

/// Where everything in a plane is. Names stand behind the lines that refer to them.
#[derive(Debug, Default)]
pub(super) struct PlaneIndex {
    name: PlaneSpan,
    pub(super) lines: Vec<PlaneSpan>,
    events: FxHashMap<i64, PlaneSpan>,
    stats: FxHashMap<i64, PlaneSpan>,
    pub(super) own_stats: Vec<PlaneSpan>,
    pub(super) is_damaged: bool,
}

impl PlaneIndex {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut found = Self::default();
        let is_damaged = PlaneSpan::whole(bytes).each(bytes, |field, span| match field {
            plane::NAME => found.name = span,
            plane::LINE => found.lines.push(span),
            plane::STAT => found.own_stats.push(span),
            plane::EVENT_METADATA => found.events.extend(entry_of(bytes, span)),
            plane::STAT_METADATA => found.stats.extend(entry_of(bytes, span)),
            _ => {}
        });
        found.is_damaged = is_damaged;
        found
    }

    pub(super) fn name<'p>(&self, bytes: &'p [u8]) -> &'p [u8] {
        self.name.of(bytes)
    }

    /// The metadata of an event.
    pub(super) fn event<'p>(&self, bytes: &'p [u8], id: i64) -> Option<&'p [u8]> {
        Some(self.events.get(&id)?.of(bytes))
    }

    /// The name of a stat, which may be a value of others.
    pub(super) fn stat_name<'p>(&self, bytes: &'p [u8], id: i64) -> Option<&'p [u8]> {
        bytes_in(self.stats.get(&id)?.of(bytes), metadata::NAME)
    }
}

/// Key and value of a map's entry; an absent key is 0.
fn entry_of(bytes: &[u8], span: PlaneSpan) -> Option<(i64, PlaneSpan)> {
    let mut value = None;
    span.each(bytes, |field, inner| {
        if field == entry::VALUE {
            value = Some(inner);
        }
    });
    Some((number_in(span.of(bytes), entry::KEY).unwrap_or(0) as i64, value?))
}
