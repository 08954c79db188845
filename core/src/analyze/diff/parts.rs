//! Decomposes the change of the step time into parts.

use rustc_hash::{FxHashMap, FxHashSet};

use super::change::{MeanRounding, is_significant, mean};
use super::device_parts::DeviceParts;
use super::name_keys::NameKeys;
use super::recorded::{RecordedKind, not_compared};
use super::side::DiffSide;
use super::significance::p_value;
use super::step_times::StepTimes;
use crate::sort;
use crate::table::{Column, Table, boolean, float, int, put, put_name, text};
use crate::time::add_ns;
use crate::trace::kind::EventKind;

/// A part of the step in both traces, or the step itself.
pub(crate) struct StepPart {
    name: String,
    /// Mean over the iterations; of the parts, rounded so that they add up. None if a trace did not
    /// record it.
    ns: Option<[i64; 2]>,
    share: Option<f64>,
    p_value: Option<f64>,
    note: String,
}

pub(crate) static TABLE: Table<Vec<StepPart>> = Table {
    name: "diff",
    doc: "the mean host time of the step (first row), or one of the parts that add up to it",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<StepPart>>] = &[
    text("part", |rows, at, out| put_name(out, &rows[at].name)),
    int("before_ns", |rows, at| Some(rows[at].ns?[0])),
    int("after_ns", |rows, at| Some(rows[at].ns?[1])),
    int("change_ns", |rows, at| rows[at].change_ns()),
    float("share", |rows, at| rows[at].share),
    float("p_value", |rows, at| rows[at].p_value),
    boolean("is_significant", |rows, at| is_significant(rows[at].p_value)),
    text("note", |rows, at, out| put(out, &rows[at].note)),
];

/// Times of one part, by iteration, in both traces.
pub(super) type PartSamples = [StepTimes; 2];

/// How the device spent the step, if both traces recorded a device; else the outermost calls of the
/// iteration's thread.
///
/// `share` is a part's change over the step's; none where it is larger than that. Parts are of the
/// iterations that kept their device work; the step is of all.
pub(super) fn parts(
    sides: &[DiffSide<'_>; 2],
    keys: &NameKeys,
    device: DeviceParts,
    kinds: &[RecordedKind],
) -> Vec<StepPart> {
    if sides.iter().any(|side| side.selection.linked.trace.events.is_empty()) {
        return Vec::new();
    }
    let compared = sides[0].compared;
    let has = |count: fn(&DiffSide<'_>) -> bool| sides.iter().any(count);
    let named = if compared.device {
        device.named.into_iter().map(|(name, samples)| (name.to_owned(), samples)).collect()
    } else if compared.operators || !has(|side| side.recorded.operators > 0) {
        of_host(sides, keys)
    } else {
        vec![(String::from("unknown"), [0, 1].map(|side| sides[side].window_lengths().into()))]
    };
    // The host's times are right in iterations that lost device work, too.
    let whole = has(|side| side.num_left_out() > 0);
    let whole = whole.then(|| sides.each_ref().map(|side| side.all_window_lengths().into()));
    let mut rows = added_up(named, whole);
    if let Some(step) = rows.first_mut() {
        step.note = step_note(sides, kinds);
    }
    if !compared.device && has(|side| side.recorded.device_work() > 0) {
        let note = kinds.iter().find_map(RecordedKind::device_reason).unwrap_or_default().to_owned();
        rows.push(StepPart { name: String::from("device work"), ns: None, share: None, p_value: None, note });
    }
    rows
}

/// Why there are no parts.
pub(super) fn reason(sides: &[DiffSide<'_>; 2]) -> &'static str {
    match sides.each_ref().map(|side| side.selection.linked.trace.events.is_empty()) {
        [true, true] => "neither trace has events",
        [true, false] => "the trace before has no events",
        _ => "the trace after has no events",
    }
}

/// Kinds that are not compared, and work that no step counts.
fn step_note(sides: &[DiffSide<'_>; 2], kinds: &[RecordedKind]) -> String {
    let mut notes = vec![not_compared(kinds)];
    if sides.iter().all(|side| side.iterations.is_empty())
        && sides[0].recorded.iterations != sides[1].recorded.iterations
    {
        notes.push(String::from("the step is all that is selected, as one of the traces has no iterations"));
    }
    let [before, after] = sides.each_ref().map(DiffSide::num_outside);
    if sides[0].compared.device && before + after > 0 {
        notes.push(format!(
            "device events launched outside of all iterations are left out: {before} before, {after} after"
        ));
    }
    notes.push(lost_note(sides));
    notes.push(observed_note(sides));
    notes.retain(|note| !note.is_empty());
    notes.join("; ")
}

/// Iterations that a selection leaves out by default.
fn observed_note(sides: &[DiffSide<'_>; 2]) -> String {
    let [before, after] = sides.each_ref().map(DiffSide::num_observed_outside);
    if before + after == 0 {
        return String::new();
    }
    format!("iterations with the Execution Trace observer are left out: {before} before, {after} after")
}

/// The meaning of lost device work for the step.
fn lost_note(sides: &[DiffSide<'_>; 2]) -> String {
    let [before, after] = sides.each_ref().map(|side| side.lost.num);
    if before + after == 0 {
        return String::new();
    }
    if !sides[0].compared.device {
        return format!("launches that lost their device work: {before} before, {after} after");
    }
    if sides.iter().all(|side| side.iterations.is_empty()) {
        return format!("device times are too small, as launches lost their work: {before} before, {after} after");
    }
    let [before, after] = sides.each_ref().map(|side| side.lost.iterations.len());
    format!("parts are without iterations that lost device work: {before} before, {after} after")
}

/// Parts with rounded means that add up to the mean of the step, unless `whole` has other steps.
fn added_up(named: Vec<(String, PartSamples)>, whole: Option<PartSamples>) -> Vec<StepPart> {
    let num = [0, 1].map(|side| named.first().map_or(0, |(_, samples)| samples[side].num_steps()));
    let mut steps = num.map(|num| vec![0; num]);
    let mut rounding = num.map(MeanRounding::over);
    let mut rows = Vec::new();
    for (name, samples) in named {
        let ns = [0, 1].map(|side| rounding[side].next(samples[side].sum()));
        for (step, part) in steps.iter_mut().zip(&samples) {
            part.parts().for_each(|(at, ns)| add_ns(&mut step[at], ns));
        }
        rows.push(StepPart::new(name, ns, &samples));
    }
    let steps = whole.unwrap_or_else(|| steps.map(StepTimes::from));
    let step = StepPart::new(String::from("step"), [mean(&steps[0]), mean(&steps[1])], &steps);
    let all_ns = step.change_ns().unwrap_or(0);
    let mut all = vec![step];
    all.extend(rows);
    for part in &mut all {
        let change_ns = part.change_ns().unwrap_or(0);
        if all_ns != 0 && change_ns.unsigned_abs() > all_ns.unsigned_abs() {
            part.note = [part.note.as_str(), OFFSET].join(if part.note.is_empty() { "" } else { "; " });
        } else if all_ns != 0 {
            // Without the sum, a share of 0 may be -0.
            part.share = Some(change_ns as f64 / all_ns as f64 + 0.0);
        }
    }
    all
}

/// Explains a part without a share.
const OFFSET: &str = "changed by more than the step: other parts changed the other way";

impl StepPart {
    fn new(name: String, ns: [i64; 2], samples: &PartSamples) -> Self {
        let note = match name.as_str() {
            "launched_outside" => "device work in the step that was launched outside of it",
            "ran_outside" => "less the device work of the step that ran outside of its host time",
            _ => "",
        };
        Self { name, ns: Some(ns), share: None, p_value: p_value(&samples[0], &samples[1]), note: note.to_owned() }
    }

    fn change_ns(&self) -> Option<i64> {
        self.ns.map(|[before, after]| after.saturating_sub(before))
    }
}

/// Time between the outermost calls.
const BETWEEN: &str = "between operators";

/// Outermost operators and annotations on the threads of the iterations, by name, the largest
/// change first; and the rest.
fn of_host(sides: &[DiffSide<'_>; 2], keys: &NameKeys) -> Vec<(String, PartSamples)> {
    let mut named: FxHashMap<u32, PartSamples> = FxHashMap::default();
    let num = sides.each_ref().map(DiffSide::num_samples);
    let mut rest = [0, 1].map(|side| sides[side].window_lengths());
    for (side, of) in sides.iter().enumerate() {
        for (sample, row) in outermost(of) {
            let ns = of.selection.dur_ns(row);
            let samples = named.entry(of.key[row]).or_insert_with(|| num.map(StepTimes::of));
            samples[side].add(sample, ns);
            add_ns(&mut rest[side][sample], -ns);
        }
    }
    let mut named: Vec<_> = named.into_iter().map(|(key, samples)| (keys.text(key).to_owned(), samples)).collect();
    let size = |samples: &PartSamples| mean(&samples[1]).abs_diff(mean(&samples[0]));
    sort::by(&mut named, |(name_a, a), (name_b, b)| size(b).cmp(&size(a)).then_with(|| name_a.cmp(name_b)));
    named.push((String::from(BETWEEN), rest.map(StepTimes::from)));
    named
}

/// Outermost operators and annotations of the thread that the iterations are on, or else the
/// busiest, by sample.
fn outermost(side: &DiffSide<'_>) -> Vec<(usize, usize)> {
    let (links, events) = (&side.selection.linked.links, &side.selection.linked.trace.events);
    let steps: FxHashSet<u32> = links.iterations.iter().map(|iteration| iteration.event).collect();
    let is_call = |row: usize| {
        matches!(events.kind[row], EventKind::Operator | EventKind::Annotation) && !steps.contains(&(row as u32))
    };
    let around = links.nesting.innermost(is_call);
    let track = side.iterations.first().map(|iteration| events.track.at(iteration.event as usize));
    let track = track.or_else(|| busiest(side));
    let calls = side.selection.rows().filter(|row| is_call(*row) && around.get(*row).is_none());
    let calls = calls.filter(|row| Some(events.track.at(*row)) == track);
    calls.filter_map(|row| Some((side.sample(row)?, row))).collect()
}

/// The thread with the most operators.
fn busiest(side: &DiffSide<'_>) -> Option<crate::id::TrackId> {
    let trace = &side.selection.linked.trace;
    let mut counts = vec![0_usize; trace.tracks.len()];
    for row in side.selection.rows().filter(|row| trace.events.kind[*row] == EventKind::Operator) {
        counts[trace.events.track.at(row).index()] += 1;
    }
    let most = (0..counts.len()).max_by_key(|track| (counts[*track], std::cmp::Reverse(*track)))?;
    Some(crate::id::TrackId::from(most))
}
