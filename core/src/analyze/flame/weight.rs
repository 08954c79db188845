//! Weighs the events of a flame graph.

use super::chain::FrameChains;
use crate::analyze::idle::{IdleCause, KERNEL_WAIT_NS, ThreadActivity, gaps, thread_activity};
use crate::analyze::memory::changes;
use crate::analyze::roofline;
use crate::analyze::selection::Selection;
use crate::time::sum_ns;

/// The quantity that the width of a frame shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlameWeight {
    /// Duration of kernels, copies and fills.
    DeviceNs,
    /// Time of host threads.
    HostNs,
    /// Time of host threads in frames, without events inside that are no frames.
    SelfNs,
    /// Calls.
    Calls,
    /// Allocated memory.
    AllocatedBytes,
    /// Floating-point operations, from shapes.
    Flops,
    /// Time in which streams waited for the host.
    IdleNs,
}

/// The weights of events.
#[derive(Debug, Default)]
pub(super) struct WeightedRows {
    /// Rows of events with their weights, positive ones.
    pub(super) rows: Vec<(u32, i64)>,
    /// The weight that is for no event.
    pub(super) unowned: i64,
    /// Events whose weight is not known.
    pub(super) num_unknown: i64,
    /// Whether an event counts only if it is a frame.
    pub(super) is_of_frames: bool,
}

impl FlameWeight {
    /// The names used in requests; the first stands for the best one for a trace.
    pub(super) const NAMES: &'static [&'static str] =
        &["auto", "device_ns", "host_ns", "self_ns", "calls", "allocated_bytes", "flops", "idle_ns"];

    pub(super) fn of(name: &str, selection: &Selection<'_>) -> Self {
        match name {
            "device_ns" => Self::DeviceNs,
            "host_ns" => Self::HostNs,
            "self_ns" => Self::SelfNs,
            "calls" => Self::Calls,
            "allocated_bytes" => Self::AllocatedBytes,
            "flops" => Self::Flops,
            "idle_ns" => Self::IdleNs,
            _ if selection.device_work().next().is_some() => Self::DeviceNs,
            _ => Self::HostNs,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::DeviceNs => "device_ns",
            Self::HostNs => "host_ns",
            Self::SelfNs => "self_ns",
            Self::Calls => "calls",
            Self::AllocatedBytes => "allocated_bytes",
            Self::Flops => "flops",
            Self::IdleNs => "idle_ns",
        }
    }

    /// The unit of the weight, as columns have it.
    pub(super) const fn unit(self) -> &'static str {
        match self {
            Self::DeviceNs | Self::HostNs | Self::SelfNs | Self::IdleNs => "ns",
            Self::AllocatedBytes => "bytes",
            Self::Calls => "calls",
            Self::Flops => "flops",
        }
    }

    /// Why there may be no frame.
    pub(super) fn why_empty(self, selection: &Selection<'_>) -> &'static str {
        match self {
            Self::DeviceNs => selection.why_nothing_ran(),
            Self::HostNs | Self::SelfNs | Self::Calls => "no host event was recorded",
            Self::AllocatedBytes => "no allocation was recorded (profile_memory=True records them)",
            Self::Flops => "no operator with a cost model has recorded shapes (record_shapes=True records them)",
            Self::IdleNs => "no stream waited for the host",
        }
    }

    pub(super) fn rows(self, selection: &Selection<'_>) -> WeightedRows {
        match self {
            Self::DeviceNs => device_time(selection),
            Self::HostNs => WeightedRows { rows: host_time(selection), ..WeightedRows::default() },
            Self::SelfNs => WeightedRows { rows: host_time(selection), is_of_frames: true, ..WeightedRows::default() },
            Self::Calls => {
                let rows = selection.rows().map(|row| (row as u32, 1)).collect();
                WeightedRows { rows, is_of_frames: true, ..WeightedRows::default() }
            }
            Self::AllocatedBytes => allocations(selection),
            Self::Flops => {
                let (rows, num_unknown) = roofline::flops(selection);
                WeightedRows { rows, num_unknown, ..WeightedRows::default() }
            }
            Self::IdleNs => idle_time(selection),
        }
    }
}

impl WeightedRows {
    /// The weights of events that count with these frames.
    pub(super) fn counted<'a>(&'a self, chains: &'a FrameChains<'_>) -> impl Iterator<Item = (usize, i64)> + 'a {
        let rows = self.rows.iter().map(|(row, weight)| (*row as usize, *weight));
        rows.filter(|(row, _)| !self.is_of_frames || chains.is_frame(*row))
    }

    fn add(&mut self, row: Option<u32>, weight: i64) {
        match row {
            _ if weight <= 0 => {}
            Some(row) => self.rows.push((row, weight)),
            None => self.unowned = self.unowned.saturating_add(weight),
        }
    }
}

fn device_time(selection: &Selection<'_>) -> WeightedRows {
    let mut found = WeightedRows::default();
    selection.device_work().for_each(|row| found.add(Some(row as u32), selection.dur_ns(row)));
    let lost = &selection.linked.links.lost_launches;
    found.num_unknown = lost.iter().filter(|row| selection.contains(**row as usize)).count() as i64;
    found
}

/// The time of threads that the program or the libraries made.
fn host_time(selection: &Selection<'_>) -> Vec<(u32, i64)> {
    let trace = &selection.linked.trace;
    let is_thread = |at: usize| trace.tracks[at].stream.is_none() && !selection.linked.is_profilers_own(at);
    let is_thread: Vec<bool> = (0..trace.tracks.len()).map(is_thread).collect();
    let all = (0..).zip(selection.self_ns());
    all.filter(|(row, ns)| *ns > 0 && is_thread[trace.events.track.at(*row as usize).index()]).collect()
}

fn allocations(selection: &Selection<'_>) -> WeightedRows {
    let mut found = WeightedRows::default();
    changes(selection).iter().for_each(|change| found.add(change.around, change.bytes));
    found
}

/// The time of each gap of a stream before work that was launched late, for what the launching
/// thread did meanwhile.
fn idle_time(selection: &Selection<'_>) -> WeightedRows {
    let mut found = WeightedRows::default();
    for gap in gaps(selection, KERNEL_WAIT_NS) {
        match gap.wait {
            IdleCause::Unknown => found.num_unknown += 1,
            IdleCause::Host => {
                let activity = gap.launch.and_then(|launch| thread_activity(selection.linked, launch, gap.time));
                let self_ns = activity.map(|activity: ThreadActivity| activity.self_ns).unwrap_or_default();
                let known = self_ns.iter().map(|(row, ns)| (*row, (*ns).max(0)));
                let idle_ns = gap.time.dur().0.saturating_sub(sum_ns(known.clone().map(|(_, ns)| ns)));
                known.for_each(|(row, ns)| found.add(Some(row), ns));
                found.add(None, idle_ns);
            }
            IdleCause::Kernel | IdleCause::Other => {}
        }
    }
    found
}
