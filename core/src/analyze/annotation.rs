//! Sums host and device time by user annotation.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::analysis::{Analysis, Run};
use super::options::Options;
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use super::statistics::Durations;
use crate::id::StrId;
use crate::sort;
use crate::table::{Column, Table, float, int, put_name, text};
use crate::time::{Dur, TimeRange, add_ns, sum_ns};
use crate::trace::kind::EventKind;

/// Annotations with their costs.
pub(super) static ANNOTATIONS: Analysis = Analysis {
    name: "annotations",
    doc: "user annotations: time on host and device, and time of the device work launched inside them",
    options: &[],
    run: Run::Trace(|selection, _: &Options| {
        AnalysisResult::of(&TABLE, annotations(selection), "no annotation was recorded")
            .drawn(Plot::Bars { label: "name", parts: &["total_ns"] })
    }),
};

/// All ranges of one name, on one side.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationRow {
    /// The name.
    pub name: String,
    /// `host` (`user_annotation`), `device` (`gpu_user_annotation`), or `kernel`: kernels of graphs
    /// that carry the annotation themselves.
    pub side: &'static str,
    /// How many.
    pub count: u64,
    /// Their time together; a range inside another one of the name counts once.
    pub total_ns: i64,
    /// `total_ns` over that of all ranges on the same side, which may be inside each other.
    pub share: f64,
    /// Mean duration of a range, rounded down.
    pub mean_ns: i64,
    /// Sample standard deviation; `None` of a single one.
    pub std_ns: Option<f64>,
    /// The shortest.
    pub min_ns: i64,
    /// The longest.
    pub max_ns: i64,
    /// Device time of the work launched inside those on the host, and in all that is inside of
    /// them, and by the backward pass while they lasted on the thread that waited for it; `None` on
    /// devices, and where all of it was lost.
    pub device_total_ns: Option<i64>,
    /// Device time of the selected backward work of operators inside those on the host, launched
    /// after them; `None` on devices, and where no operator has a backward operator.
    pub backward_ns: Option<i64>,
    /// Id of the longest.
    pub longest_id: u32,
}

static TABLE: Table<Vec<AnnotationRow>> = Table {
    name: "annotations",
    doc: "all ranges of one name, on host or device",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<AnnotationRow>>] = &[
    text("name", |rows, at, out| put_name(out, &rows[at].name)),
    text("side", |rows, at, out| put_name(out, rows[at].side)),
    int("count", |rows, at| Some(rows[at].count as i64)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    float("share", |rows, at| Some(rows[at].share)),
    int("mean_ns", |rows, at| Some(rows[at].mean_ns)),
    float("std_ns", |rows, at| rows[at].std_ns),
    int("min_ns", |rows, at| Some(rows[at].min_ns)),
    int("max_ns", |rows, at| Some(rows[at].max_ns)),
    int("device_total_ns", |rows, at| rows[at].device_total_ns),
    int("backward_ns", |rows, at| rows[at].backward_ns),
    int("longest_id", |rows, at| Some(i64::from(rows[at].longest_id))),
];

const KERNEL: &str = "kernel";

/// Annotations that kernels of graphs carry, with the time of these kernels.
fn carried(selection: &Selection<'_>) -> Vec<AnnotationRow> {
    let trace = &selection.linked.trace;
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    if trace.has_marks() {
        for row in selection.device_work() {
            if let Some(name) = trace.stated_annotation(row) {
                groups.entry(name).or_default().push(row);
            }
        }
    }
    let row = |(name, rows): (String, Vec<usize>)| {
        let durs: Vec<_> = rows.iter().map(|row| selection.dur_ns(*row)).collect();
        let Durations { count, total_ns, mean_ns, std_ns, min_ns, max_ns } = Durations::of(&durs);
        let longest = rows.iter().copied().max_by_key(|row| (selection.dur_ns(*row), std::cmp::Reverse(*row)));
        let longest_id = longest.map_or(0, |row| trace.events.position.at(row));
        let share = 0.0;
        AnnotationRow {
            name,
            side: KERNEL,
            count,
            total_ns,
            share,
            mean_ns,
            std_ns,
            min_ns,
            max_ns,
            device_total_ns: Some(total_ns),
            backward_ns: None,
            longest_id,
        }
    };
    let mut rows: Vec<_> = groups.into_iter().map(row).collect();
    let all_ns = sum_ns(rows.iter().map(|row| row.total_ns)).max(1);
    rows.iter_mut().for_each(|row| row.share = row.total_ns as f64 / all_ns as f64);
    rows
}

/// Annotations by name and side, the longest total first. Times are cut to the selection; device
/// times of work launched inside, or by the backward pass that the range's thread waited for, are
/// those of whole ranges.
pub fn annotations(selection: &Selection<'_>) -> Vec<AnnotationRow> {
    let (linked, trace) = (selection.linked, &selection.linked.trace);
    let mut groups: BTreeMap<(bool, &str), Vec<usize>> = BTreeMap::new();
    let mut keys = vec![None; trace.events.len()];
    for row in selection.rows().filter(|row| trace.events.kind[*row] == EventKind::Annotation) {
        keys[row] = Some(trace.events.name.at(row));
        groups.entry((trace.is_on_device(row), trace.event_name(row))).or_default().push(row);
    }
    let is_inside = linked.links.nesting.inside_same(&keys);
    let backward = backward_ns(selection);
    let mut sides = [0_i64; 2];
    let row = |((is_device, name), rows): ((bool, &str), Vec<usize>)| {
        let durs: Vec<_> = rows.iter().map(|row| selection.dur_ns(*row)).collect();
        let Durations { count, mean_ns, std_ns, min_ns, max_ns, .. } = Durations::of(&durs);
        let outermost: Vec<usize> = rows.iter().copied().filter(|row| !is_inside[*row]).collect();
        let total_ns = sum_ns(outermost.iter().map(|row| selection.dur_ns(*row)));
        add_ns(&mut sides[usize::from(is_device)], total_ns);
        let longest = rows.iter().copied().max_by_key(|row| (selection.dur_ns(*row), std::cmp::Reverse(*row)));
        let device = || {
            let known: Vec<_> = outermost.iter().filter_map(|row| linked.known_device_ns(*row)).collect();
            (!known.is_empty()).then(|| sum_ns(known))
        };
        AnnotationRow {
            name: name.to_owned(),
            side: if is_device { "device" } else { "host" },
            count,
            total_ns,
            share: 0.0,
            mean_ns,
            std_ns,
            min_ns,
            max_ns,
            device_total_ns: (!is_device).then(device).flatten(),
            backward_ns: backward
                .as_ref()
                .filter(|_| !is_device)
                .map(|known| rows.first().and_then(|row| known.get(&trace.events.name.at(*row))).copied().unwrap_or(0)),
            longest_id: longest.map_or(0, |row| trace.events.position.at(row)),
        }
    };
    let mut rows: Vec<_> = groups.into_iter().map(row).collect();
    rows.extend(carried(selection));
    for row in rows.iter_mut().filter(|row| row.side != KERNEL) {
        row.share = row.total_ns as f64 / sides[usize::from(row.side == "device")].max(1) as f64;
    }
    sort::by_key(&mut rows, |row| std::cmp::Reverse(row.total_ns));
    rows
}

/// Device time of the selected backward work by the name of the annotations around the forward
/// operators; `None` where no operator has a backward operator. Work that was launched while such a
/// range lasted is part of its `device_total_ns`.
fn backward_ns(selection: &Selection<'_>) -> Option<FxHashMap<StrId, i64>> {
    let (linked, events) = (selection.linked, &selection.linked.trace.events);
    if linked.forward_backward().is_empty() {
        return None;
    }
    let frames = linked.frames();
    let mut found: FxHashMap<StrId, i64> = FxHashMap::default();
    for work in selection.device_work() {
        let launch = linked.links.launch.get(work).map_or(work, |launch| launch as usize);
        let mut names: Vec<StrId> = Vec::new();
        let mut around = frames.forward_annotation.get(work);
        for _ in 0..MAX_DEPTH {
            let Some(range) = around else { break };
            let name = events.name.at(range as usize);
            let time = TimeRange { start: events.start.at(range as usize), end: events.end(range as usize) };
            if !time.overlaps(events.start.at(launch), Dur(0)) && !names.contains(&name) {
                names.push(name);
            }
            around = frames.annotation.get(range as usize).filter(|outer| *outer != range);
        }
        for name in names {
            add_ns(found.entry(name).or_default(), selection.dur_ns(work));
        }
    }
    Some(found)
}

/// The most ranges around an operator that are looked at.
const MAX_DEPTH: usize = 64;
