//! Decomposes the change of the step time into parts.

use rustc_hash::FxHashMap;

use super::super::breakdown::{BreakdownRow, MICRO_NS, breakdown, spans};
use super::change::{is_significant, mean, rounded};
use super::name_keys::NameKeys;
use super::side::DiffSide;
use super::significance::p_value;
use crate::sort;
use crate::table::{Column, Table, boolean, float, int, put_name, text};
use crate::time::{add_ns, sum_ns};
use crate::trace::kind::EventKind;

/// A part of the step in both traces, or the step itself.
pub(super) struct StepPart {
    name: String,
    /// Mean over the iterations; of the parts, rounded so that they add up.
    ns: [i64; 2],
    share: Option<f64>,
    p_value: Option<f64>,
}

pub(super) static TABLE: Table<Vec<StepPart>> = Table {
    name: "diff",
    doc: "the mean step time (first row), or one of the parts that add up to it",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<StepPart>>] = &[
    text("part", |rows, at, out| put_name(out, &rows[at].name)),
    int("before_ns", |rows, at| Some(rows[at].ns[0])),
    int("after_ns", |rows, at| Some(rows[at].ns[1])),
    int("change_ns", |rows, at| Some(rows[at].change_ns())),
    float("share", |rows, at| rows[at].share),
    float("p_value", |rows, at| rows[at].p_value),
    boolean("is_significant", |rows, at| is_significant(rows[at].p_value)),
];

/// Times of one part, by iteration, in both traces.
type PartSamples = [Vec<i64>; 2];

/// How the device spent the step, as `breakdown` has it; without a device, the outermost calls of
/// the iteration's thread.
///
/// `share` is a part's change over the step's.
pub(super) fn parts(sides: &[DiffSide<'_>; 2], keys: &NameKeys) -> Vec<StepPart> {
    if sides.iter().all(|side| side.selection.linked.trace.events.is_empty()) {
        return Vec::new();
    }
    let named = if sides.iter().any(DiffSide::has_device) { of_device(sides) } else { of_host(sides, keys) };
    added_up(named)
}

/// Parts with rounded means that add up to the mean of the step.
fn added_up(named: Vec<(String, PartSamples)>) -> Vec<StepPart> {
    let num = [0, 1].map(|side| named.first().map_or(0, |(_, samples)| samples[side].len()));
    let mut steps: PartSamples = num.map(|num| vec![0; num]);
    let mut sums = [0; 2];
    let mut rows = Vec::new();
    for (name, samples) in named {
        let mut ns = [0; 2];
        for side in 0..2 {
            let before = rounded(sums[side], num[side]);
            add_ns(&mut sums[side], sum_ns(samples[side].iter().copied()));
            ns[side] = rounded(sums[side], num[side]).saturating_sub(before);
            steps[side].iter_mut().zip(&samples[side]).for_each(|(step, part)| add_ns(step, *part));
        }
        rows.push(StepPart { name, ns, share: None, p_value: p_value(&samples[0], &samples[1]) });
    }
    let ns = [mean(&steps[0]), mean(&steps[1])];
    let step = StepPart { name: String::from("step"), ns, share: None, p_value: p_value(&steps[0], &steps[1]) };
    let all_ns = step.change_ns();
    let mut all = vec![step];
    all.extend(rows);
    for part in &mut all {
        part.share = (all_ns != 0).then(|| part.change_ns() as f64 / all_ns as f64);
    }
    all
}

impl StepPart {
    fn change_ns(&self) -> i64 {
        self.ns[1].saturating_sub(self.ns[0])
    }
}

/// A part of the time of a device, with its name.
type BreakdownPart = (&'static str, fn(&BreakdownRow) -> i64);

const PARTS: [BreakdownPart; 6] = [
    ("compute", |row| row.compute_ns),
    ("exposed_communication", |row| row.exposed_communication_ns),
    ("exposed_copy", |row| row.exposed_copy_ns),
    ("exposed_other", |row| row.exposed_other_ns),
    ("idle", |row| row.idle_ns),
    ("unknown", |row| row.unknown_ns),
];

/// Of several devices, the mean.
fn of_device(sides: &[DiffSide<'_>; 2]) -> Vec<(String, PartSamples)> {
    let rows = sides.each_ref().map(|side| {
        let per = if side.iterations.is_empty() { "selection" } else { "iteration" };
        breakdown(side.selection, &spans(side.selection, per), MICRO_NS)
    });
    let samples = |part: fn(&BreakdownRow) -> i64| {
        [0, 1].map(|side| {
            let num_devices = (rows[side].len() / sides[side].num_samples()).max(1);
            let of_iteration = rows[side].chunks(num_devices);
            of_iteration.map(|devices| rounded(sum_ns(devices.iter().map(part)), devices.len())).collect()
        })
    };
    PARTS.into_iter().map(|(name, part)| (name.to_owned(), samples(part))).collect()
}

/// Time between the outermost calls.
const BETWEEN: &str = "between operators";

/// Outermost operators and annotations on the threads of the iterations, by name, the largest
/// change first; and the rest.
fn of_host(sides: &[DiffSide<'_>; 2], keys: &NameKeys) -> Vec<(String, PartSamples)> {
    let mut named: FxHashMap<u32, PartSamples> = FxHashMap::default();
    let num = sides.each_ref().map(DiffSide::num_samples);
    let mut rest: PartSamples = [0, 1].map(|side| lengths(&sides[side]));
    for (side, of) in sides.iter().enumerate() {
        for (sample, row) in outermost(of) {
            let ns = of.selection.dur_ns(row);
            let samples = named.entry(of.key[row]).or_insert_with(|| num.map(|num| vec![0; num]));
            add_ns(&mut samples[side][sample], ns);
            add_ns(&mut rest[side][sample], -ns);
        }
    }
    let mut named: Vec<_> = named.into_iter().map(|(key, samples)| (keys.text(key).to_owned(), samples)).collect();
    let size = |samples: &PartSamples| mean(&samples[1]).abs_diff(mean(&samples[0]));
    sort::by(&mut named, |(name_a, a), (name_b, b)| size(b).cmp(&size(a)).then_with(|| name_a.cmp(name_b)));
    named.push((String::from(BETWEEN), rest));
    named
}

/// Lengths of the samples.
fn lengths(side: &DiffSide<'_>) -> Vec<i64> {
    if side.iterations.is_empty() {
        return vec![side.selection.span().dur().0];
    }
    side.iterations.iter().map(|iteration| side.selection.cut(iteration.range()).dur().0).collect()
}

/// Outermost operators and annotations of the thread that the iterations are on, or else the
/// busiest, by sample.
fn outermost(side: &DiffSide<'_>) -> Vec<(usize, usize)> {
    let (links, events) = (&side.selection.linked.links, &side.selection.linked.trace.events);
    let steps: Vec<u32> = side.iterations.iter().map(|iteration| iteration.event).collect();
    let is_call = |row: usize| {
        matches!(events.kind[row], EventKind::Operator | EventKind::Annotation) && !steps.contains(&(row as u32))
    };
    let around = links.nesting.innermost(is_call);
    let track = side.iterations.first().map(|iteration| events.track[iteration.event as usize]);
    let track = track.or_else(|| busiest(side));
    let calls = side.selection.rows().filter(|row| is_call(*row) && around.get(*row).is_none());
    let calls = calls.filter(|row| Some(events.track[*row]) == track);
    calls.filter_map(|row| Some((side.sample(row)?, row))).collect()
}

/// The thread with the most operators.
fn busiest(side: &DiffSide<'_>) -> Option<crate::id::TrackId> {
    let trace = &side.selection.linked.trace;
    let mut counts = vec![0_usize; trace.tracks.len()];
    for row in side.selection.rows().filter(|row| trace.events.kind[*row] == EventKind::Operator) {
        counts[trace.events.track[row].index()] += 1;
    }
    let most = (0..counts.len()).max_by_key(|track| (counts[*track], std::cmp::Reverse(*track)))?;
    Some(crate::id::TrackId::from(most))
}
