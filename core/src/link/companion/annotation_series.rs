//! Finds annotations that two recordings have in common.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::id::StrId;
use crate::sort;
use crate::trace::Trace;
use crate::trace::kind::EventKind;

/// Occurrences of a name that are compared; the first ones.
const MAX_OCCURRENCES: usize = 1024;

/// Pairs of names that are compared.
const MAX_PAIRS: usize = 256;

/// Calls that annotate one moment for two tools are apart by less.
pub(super) const LEAST_TOLERANCE_NS: i64 = 20_000;
const TOLERANCE_NS: i64 = 1_000_000;

/// Clocks drift apart by less than this part of the time.
const DRIFT: i64 = 10_000;

/// The occurrences of a name: the middle of each, ascending. An annotation around another begins
/// before it and ends after it, but their middles agree.
#[derive(Default)]
struct AnnotationSeries<'a> {
    name: &'a str,
    is_annotation: bool,
    middles: Vec<i64>,
    tolerance_ns: i64,
}

/// An annotation in both recordings.
pub(super) struct CommonAnnotation<'a> {
    pub(super) name: &'a str,
    /// The middles of its occurrences in either recording, in nanoseconds.
    pub(super) middles: [Vec<i64>; 2],
    /// How far matching occurrences may be apart, in nanoseconds.
    pub(super) tolerance_ns: i64,
}

impl CommonAnnotation<'_> {
    /// The most occurrences that may have a partner.
    pub(super) fn num_pairs(&self) -> usize {
        self.middles.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// Ways to place the occurrences beside each other such that `num_alone` of the shorter list
    /// have no partner: they lie before all of the other list, or after them. A way with only one
    /// pair counts only where the shorter list has one occurrence.
    pub(super) fn placements(&self, num_alone: usize) -> impl Iterator<Item = [&[i64]; 2]> {
        let [here, there] = self.middles.each_ref().map(Vec::as_slice);
        let is_here_longer = here.len() > there.len();
        let (short, long) = if is_here_longer { (there, here) } else { (here, there) };
        let num_pairs = short.len().saturating_sub(num_alone);
        let skipped = match num_alone {
            0 => 0..long.len() - short.len() + 1,
            _ if num_pairs > 1 => long.len() - num_pairs..long.len() - num_pairs + 1,
            _ => 0..0,
        };
        let is_before = num_alone > 0 && num_pairs > 1;
        let before = is_before.then(|| [&short[num_alone..], long]);
        let placed = skipped.map(move |skipped| [short, &long[skipped..]]);
        let as_given = move |[short, long]: [_; 2]| if is_here_longer { [long, short] } else { [short, long] };
        before.into_iter().chain(placed).map(as_given)
    }
}

/// Annotations with the same name. A name may be in several pairs: tools name functions and
/// annotations alike.
pub(super) fn common_annotations<'a>(main: &'a Trace, other: &'a Trace) -> Vec<CommonAnnotation<'a>> {
    let mut names = annotation_names(main);
    names.extend(annotation_names(other));
    let [here, there] = [main, other].map(|trace| series(trace, &names));
    let mut by_name: FxHashMap<&str, Vec<&AnnotationSeries<'_>>> = FxHashMap::default();
    there.iter().for_each(|other| by_name.entry(other.name).or_default().push(other));
    let mut found = Vec::new();
    for one in &here {
        let others = by_name.get(one.name).into_iter().flatten();
        for other in others.filter(|other| one.is_annotation || other.is_annotation) {
            if found.len() == MAX_PAIRS {
                return found;
            }
            let middles = [one.middles.clone(), other.middles.clone()];
            let tolerance_ns = one.tolerance_ns.min(other.tolerance_ns);
            found.push(CommonAnnotation { name: one.name, middles, tolerance_ns });
        }
    }
    found
}

/// The name without the place that some tools add: `step` of `step (train.py:12)`.
fn plain_name(name: &str) -> &str {
    let placed = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("));
    let is_line = |place: &str| place.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok());
    placed.filter(|(_, place)| is_line(place)).map_or(name, |(start, _)| start)
}

fn is_annotation(trace: &Trace, row: usize) -> bool {
    trace.events.kind[row] == EventKind::Annotation && !trace.is_on_device(row)
}

/// The names of annotations on the host.
fn annotation_names(trace: &Trace) -> FxHashSet<&str> {
    let rows = (0..trace.events.len()).filter(|row| is_annotation(trace, *row));
    let names: FxHashSet<StrId> = rows.map(|row| trace.events.name.at(row)).collect();
    names.into_iter().map(|name| plain_name(trace.strings.text(name))).collect()
}

/// Events with such names on the host, by full name, in the order of the file.
fn series<'a>(trace: &'a Trace, names: &FxHashSet<&str>) -> Vec<AnnotationSeries<'a>> {
    let mut places: FxHashMap<StrId, Option<usize>> = FxHashMap::default();
    let mut found: Vec<AnnotationSeries<'a>> = Vec::new();
    for row in (0..trace.events.len()).filter(|row| !trace.is_on_device(*row)) {
        let place = *places.entry(trace.events.name.at(row)).or_insert_with(|| {
            let name = plain_name(trace.event_name(row));
            names.contains(name).then(|| {
                found.push(AnnotationSeries { name, ..AnnotationSeries::default() });
                found.len() - 1
            })
        });
        if let Some(series) = place.map(|at| &mut found[at]) {
            series.is_annotation |= is_annotation(trace, row);
            series.middles.push(trace.events.start.at(row).0.midpoint(trace.events.end(row).0));
        }
    }
    for series in &mut found {
        sort::ascending(&mut series.middles);
        series.middles.truncate(MAX_OCCURRENCES);
        series.tolerance_ns = tolerance(&series.middles);
    }
    found
}

/// How far an occurrence may be off: less than the next one is, and not far.
fn tolerance(middles: &[i64]) -> i64 {
    let mut gaps: Vec<i64> = middles.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    let span = gaps.iter().fold(0_i64, |sum, gap| sum.saturating_add(*gap));
    let limit = TOLERANCE_NS.saturating_add(span / DRIFT);
    if gaps.is_empty() { limit } else { (median(&mut gaps) / 4).clamp(LEAST_TOLERANCE_NS, limit) }
}

/// The upper one of two.
pub(super) fn median(values: &mut [i64]) -> i64 {
    sort::ascending(values);
    values.get(values.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::plain_name;

    #[test]
    fn places_are_no_part_of_a_name() {
        assert_eq!(plain_name("step (train.py:12)"), "step");
        assert_eq!(plain_name("load (best) (a b/train.py:12)"), "load (best)");
        for name in ["step", "step (train.py)", "step (a:b)", "step()", ")", "", "(a.py:1)"] {
            assert_eq!(plain_name(name), name);
        }
    }
}
