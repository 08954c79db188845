//! Stacks the allocations of a trace over time, each as a band.

use std::cmp::Reverse;

use super::allocation::Allocation;
use super::band_stack::BandSource;
use super::bands::{BandName, MemoryBandRow, rows};
use super::category::PREEXISTING;
use super::change::MemoryChange;
use super::device::MemoryDevice;
use super::origin::UNKNOWN;
use super::owner::module;
use super::row::MemoryRow;
use crate::analyze::selection::Selection;
use crate::sort;
use crate::sorted_map::SortedMap;
use crate::time::add_ns;

/// Memory of which only the release or the total is recorded.
const BEFORE: &str = "in use before the recording";
/// The place of such memory.
const NO_PLACE: usize = usize::MAX;

/// The memory of one device.
#[derive(Default)]
struct DeviceSources {
    ends: Option<(i64, i64)>,
    sources: Vec<BandSource>,
    /// Bytes that are known to be in use before the first change.
    known: i64,
}

/// Pieces of bands by device, as a snapshot has them.
///
/// Memory from before the first change is known by its release, or by a snapshot of the allocator.
/// The rest of the first total is one band that stays.
pub(super) fn bands(
    selection: &Selection<'_>,
    (changes, devices): (&[MemoryChange], &[MemoryRow]),
    lives: &[Allocation],
    categories: &[&'static str],
) -> Vec<MemoryBandRow> {
    let mut of_device: SortedMap<MemoryDevice, DeviceSources> =
        SortedMap::of(changes.iter().map(|change| change.device));
    for change in changes {
        let Some(device) = of_device.get_mut(&change.device) else { continue };
        let (_, last) = device.ends.get_or_insert((change.time.0, change.time.0));
        *last = change.time.0.max(*last);
    }
    let mut is_known = vec![false; changes.len()];
    let mut add = |device: &MemoryDevice, place: usize, bytes: i64, at: [Option<usize>; 2]| {
        let Some(all) = of_device.get_mut(device) else { return };
        let (first, last) = all.ends.unwrap_or_default();
        let time_of = |at: Option<usize>, end: i64| at.map_or(end, |at| changes[at].time.0);
        let time = [time_of(at[0], first), time_of(at[1], last)];
        all.sources.push(BandSource { place, bytes, changes: at, time });
        add_ns(&mut all.known, if at[0].is_none() { bytes } else { 0 });
    };
    for (place, life) in lives.iter().enumerate() {
        add(&life.made.device, place, life.made.bytes, [life.first, life.last]);
        life.last.into_iter().for_each(|last| is_known[last] = true);
    }
    for (at, change) in changes.iter().enumerate().filter(|(at, change)| change.bytes < 0 && !is_known[*at]) {
        add(&change.device, NO_PLACE, change.bytes.saturating_neg(), [None, Some(at)]);
    }
    for row in devices {
        let Some(all) = of_device.get_mut(&row.device) else { continue };
        let (first, last) = all.ends.unwrap_or_default();
        let bytes = row.first_bytes.saturating_sub(all.known);
        let rest = BandSource { place: NO_PLACE, bytes, changes: [None, None], time: [first, last] };
        all.sources.splice(0..0, (bytes > 0).then_some(rest));
    }
    let name = |place: usize| match lives.get(place) {
        Some(life) => name(selection, life, categories[place]),
        None => BandName { site: BEFORE.to_owned(), category: PREEXISTING, ..BandName::default() },
    };
    let rows = |((kind, number), all): (MemoryDevice, DeviceSources)| {
        rows((kind, Some(number)), &all.sources, all.ends.unwrap_or_default(), &name)
    };
    // The device whose memory matters first: a host may hold a few bytes beside it.
    let peak = |device: &MemoryDevice| {
        devices.iter().find(|row| row.device == *device).map_or(0, |row| row.peak_allocated_bytes)
    };
    let mut all = of_device.into_vec();
    sort::by_key(&mut all, |(device, _)| Reverse(peak(device)));
    all.into_iter().flat_map(rows).collect()
}

/// The line of Python, or else the module or the operator.
fn name(selection: &Selection<'_>, life: &Allocation, category: &'static str) -> BandName {
    let trace = &selection.linked.trace;
    let made = &life.made;
    let operator = || made.operator.map_or(UNKNOWN, |row| trace.event_name(row as usize));
    let site = made.line.map_or_else(String::new, |line| line.text(trace));
    let or = |site: String, other: &str| if site.is_empty() { other.to_owned() } else { site };
    let site = or(or(site, module(trace, made)), operator());
    BandName { change: None, site, category, origin: made.operator.map(i64::from) }
}
