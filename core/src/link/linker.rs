//! Links a trace. For large traces, a second thread nests events while the first one links
//! launches, iterations and nodes.

use super::event_warnings::count_events;
use super::graph::{self, LaunchView};
use super::iteration::FoundIterations;
use super::links::Links;
use super::{
    iteration, launch, launch_order, lost_launch, nesting, node, observed_iteration, overlong, owner, partial_graphs,
    steady_state,
};
use crate::sort;
use crate::threads::both;
use crate::time::{Dur, Ts};
use crate::trace::Trace;
use crate::warning::{WarningKind, Warnings};

pub(super) fn link(trace: &Trace, max_threads: usize) -> Links {
    let nest = || {
        let mut warnings = Warnings::default();
        (nesting::nest(trace, &mut warnings), warnings)
    };
    let join = || {
        let mut warnings = Warnings::default();
        count_odd_durations(trace, &mut warnings);
        let (launch, launched) = launch::link_launches(trace, &mut warnings);
        let FoundIterations { mut iterations, profiled, late, source } = iteration::find_iterations(trace);
        observed_iteration::mark(trace, &mut iterations);
        steady_state::mark(trace, &mut iterations);
        let nodes = node::link_nodes(trace, profiled.as_ref().unwrap_or(&iterations), &mut warnings);
        count_events(trace, WarningKind::LateStep, late.into_iter(), &mut warnings);
        let iteration = iteration::of_events(trace, &iterations, &launch);
        Links { launch, launched, nodes, iterations, iteration_source: source, iteration, warnings, ..Links::default() }
    };
    let ((nesting, mut warnings), joined) = both(max_threads, nest, join);
    warnings.extend(&joined.warnings);
    let (mut operator, mut named) = owner::own(trace, &nesting, &joined.launch, joined.launched.arrows());
    let view = LaunchView { trace, nesting: &nesting, launched: &joined.launched, operator: &operator };
    let captured = graph::captured(view, view);
    owner::own_captured(trace, &captured, &mut operator, &mut named);
    let without_work = lost_launch::find(trace, &nesting, &joined.launch, &joined.launched);
    let mut count = |kind, rows: &[u32]| {
        count_events(trace, kind, rows.iter().map(|row| *row as usize), &mut warnings);
    };
    let mut lost_launches = without_work.lost;
    lost_launches.extend(partial_graphs::find(trace, &joined.launched));
    sort::ascending(&mut lost_launches);
    count(WarningKind::LostDeviceWork, &lost_launches);
    count(WarningKind::LaunchWithoutDeviceEvent, &without_work.others);
    let early_work = launch_order::early(trace, &joined.launched);
    count(WarningKind::WorkBeforeLaunch, &early_work);
    overlong::count(trace, &mut warnings);
    Links { nesting, lost_launches, early_work, operator, named, captured, warnings, ..joined }
}

fn count_odd_durations(trace: &Trace, warnings: &mut Warnings) {
    let rows = trace.events.dur.iter().enumerate().filter(|(_, dur)| dur.0 == 0);
    count_events(trace, WarningKind::ZeroDuration, rows.map(|(row, _)| row), warnings);
    count_events(trace, WarningKind::ImmenseTime, immense(trace), warnings);
}

/// Rows with which durations up to there add up to more than a number of 64 bits holds, or that end
/// so long after the first start.
fn immense(trace: &Trace) -> impl Iterator<Item = usize> {
    let (start, dur) = (&trace.events.start, &trace.events.dur);
    let first = start.iter().min().unwrap_or_default().0.min(0);
    let after_first = |(start, dur): (Ts, Dur)| start.0.checked_add(dur.0)?.checked_sub(first);
    let is_small = dur.iter().try_fold(0_i64, |sum, dur| sum.checked_add(dur.0)).is_some()
        && start.iter().zip(dur.iter()).all(|times| after_first(times).is_some());
    let mut sum = 0_i128;
    (0..if is_small { 0 } else { start.len() }).filter(move |row| {
        let dur = i128::from(dur.at(*row).0);
        sum += dur;
        sum.max(i128::from(start.at(*row).0) + dur - i128::from(first)) > i128::from(i64::MAX)
    })
}
