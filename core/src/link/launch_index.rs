//! Finds the launch of a device event by `correlation`, inside one rank and process.

use super::host_launches::{HostLaunches, LaunchMatch};
use super::row_labels::RowLabels;
use crate::id::StrId;
use crate::trace::Trace;
use crate::trace::kind::EventKind;

/// Whether an event is a call of a device's runtime or driver.
pub(super) fn is_launch(trace: &Trace, row: usize) -> bool {
    trace.events.kind[row] == EventKind::Launch && !trace.is_on_device(row)
}

/// The rows of all such calls.
pub(super) fn launches(trace: &Trace) -> impl Iterator<Item = usize> + Clone {
    trace.events.rows_of(|kind| kind == EventKind::Launch).filter(|row| !trace.is_on_device(*row))
}

/// Rows, counted first so that they take no more memory than they need.
pub(super) fn collected(rows: impl Iterator<Item = usize> + Clone) -> Vec<u32> {
    let mut found = Vec::with_capacity(rows.clone().count());
    found.extend(rows.map(|row| row as u32));
    found
}

/// Launches by their ranks, if a merger labelled these.
///
/// Each rank numbers its launches anew.
#[derive(Debug)]
pub(super) struct LaunchIndex {
    labels: Option<RowLabels>,
    /// Rows of all calls, ascending.
    calls: Vec<u32>,
    /// Those of the file.
    all: HostLaunches,
    /// Those of each label.
    of_label: Vec<HostLaunches>,
}

impl LaunchIndex {
    pub(super) fn new(trace: &Trace) -> Self {
        let num_events = trace.events.len();
        let calls = collected(launches(trace));
        let all = HostLaunches::new(trace, &calls, None);
        let labels = if all.is_empty() { None } else { RowLabels::of(trace) };
        let mut index = Self { labels, calls, all, of_label: Vec::new() };
        if let Some(labels) = &index.labels {
            let mut rows: Vec<Vec<u32>> = vec![Vec::new(); labels.labels.len()];
            for row in 0..num_events {
                if let Some(label) = labels.of_event(trace, row) {
                    rows[label as usize].push(row as u32);
                }
            }
            let has =
                |rows: &[u32], is_it: fn(&Trace, usize) -> bool| rows.iter().any(|row| is_it(trace, *row as usize));
            // Labels that launches and device events do not share say nothing about launches.
            if rows.iter().any(|rows| has(rows, is_launch) && has(rows, Trace::is_on_device)) {
                let launches = |rows: &Vec<u32>| {
                    let launches = rows.iter().copied().filter(|row| is_launch(trace, *row as usize));
                    HostLaunches::new(trace, &launches.collect::<Vec<u32>>(), Some(rows))
                };
                index.of_label = rows.iter().map(launches).collect();
            } else {
                index.labels = None;
            }
        }
        index
    }

    /// Rows of all calls of a device's runtime or driver, ascending.
    pub(super) fn calls(&self) -> &[u32] {
        &self.calls
    }

    /// Rows of all launches with a number; of a call of the driver inside one of the runtime, only
    /// the outer.
    pub(super) fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.all.rows()
    }

    /// The label of an event's rank.
    pub(super) fn label(&self, trace: &Trace, row: usize) -> Option<u32> {
        self.labels.as_ref()?.of_event(trace, row)
    }

    /// Launches of the rank of a device event; of the file if it has no label.
    fn launches(&self, trace: &Trace, row: usize) -> &HostLaunches {
        self.label(trace, row).map_or(&self.all, |label| &self.of_label[label as usize])
    }

    /// The host process of a device event, if the file tells it.
    pub(super) fn process_of(&self, trace: &Trace, row: usize) -> Option<StrId> {
        self.launches(trace, row).process_of(trace, row)
    }

    /// Whether a host event may have launched a device event: their ranks and processes allow it.
    pub(super) fn may_launch(&self, trace: &Trace, host: u32, device: u32) -> bool {
        let label = self.label(trace, device as usize);
        label.is_none_or(|label| self.label(trace, host as usize) == Some(label))
            && self.launches(trace, device as usize).may_launch(trace, host, device)
    }

    /// The launch of a device event.
    pub(super) fn of(&self, trace: &Trace, row: usize) -> LaunchMatch {
        self.launches(trace, row).of(trace, row)
    }
}
