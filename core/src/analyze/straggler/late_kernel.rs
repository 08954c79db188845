//! Ranks whose last long communication of an iteration begins late: who is a straggler to `HolisticTraceAnalysis`.

use std::collections::{BTreeMap, BTreeSet};

use crate::analyze::analysis::Answer;
use crate::analyze::class::{Class, classes};
use crate::analyze::job::Job;
use crate::analyze::selection::Selection;
use crate::analyze::statistics::deviation;
use crate::sort;
use crate::table::{Column, Table, boolean, float, int, put_name, text};
use crate::time::Ts;

/// Kernels shorter than this part of an iteration make nobody late.
const LONG: f64 = 0.01;

/// The last long communication of one name on a stream, in an iteration of a rank.
#[derive(Debug, Clone)]
struct LateKernel {
    rank: Option<i64>,
    iteration: i64,
    stream: i64,
    name: String,
    start: Ts,
    dur_ns: i64,
    normalized_start: f64,
    is_late: bool,
}

static TABLE: Table<Vec<LateKernel>> = Table {
    name: "late_kernels",
    doc: "the last long communication of a stream, in an iteration of a rank",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<LateKernel>>] = &[
    int("rank", |rows, at| rows[at].rank),
    int("iteration", |rows, at| Some(rows[at].iteration)),
    int("stream", |rows, at| Some(rows[at].stream)),
    text("name", |rows, at, out| put_name(out, &rows[at].name)),
    int("start_ns", |rows, at| Some(rows[at].start.0)),
    int("dur_ns", |rows, at| Some(rows[at].dur_ns)),
    float("normalized_start", |rows, at| Some(rows[at].normalized_start)),
    boolean("is_late", |rows, at| Some(rows[at].is_late)),
];

/// Of all streams and names of communication kernels, the one whose last long run of an iteration differs the most
/// between ranks; its runs, and which of them began late.
///
/// With `t` the mean time of the iterations, from the first start to the last end of what is in them on any rank: runs of
/// at least `t / 100` are long, the spread is the sample standard deviation of their durations over the ranks, the
/// mean of the iterations', and late are the starts that are not before the `candidates`th last of the iteration.
pub(super) fn answer(job: &Job<'_>, iterations: Option<&str>, candidates: usize) -> Answer {
    let wanted: Option<BTreeSet<i64>> =
        iterations.map(|text| text.split(',').filter_map(|number| number.trim().parse().ok()).collect());
    let is_wanted = |number: i64| wanted.as_ref().is_none_or(|wanted| wanted.contains(&number));
    let mut rows = found(job, &is_wanted);
    rows.chunk_by_mut(|row, next| row.iteration == next.iteration).for_each(|rows| mark(rows, candidates.max(1)));
    Answer::of(&TABLE, rows, "no long communication ran on several ranks in an iteration")
}

/// What is in the iterations of a rank.
struct Seen {
    numbers: BTreeSet<i64>,
    start: Ts,
    end: Ts,
    /// Rows of communication kernels with their iterations.
    kernels: Vec<(i64, u32)>,
}

fn seen(part: &Selection<'_>, is_wanted: &(impl Fn(i64) -> bool + Sync)) -> Seen {
    let (events, links) = (&part.linked.trace.events, &part.linked.links);
    let classes = classes(part.linked);
    let mut seen = Seen { numbers: BTreeSet::new(), start: Ts(i64::MAX), end: Ts(i64::MIN), kernels: Vec::new() };
    for (row, class) in classes.iter().enumerate() {
        let number = links.iteration.get(row).map(|at| links.iterations[at as usize].number);
        let Some(number) = number.filter(|number| is_wanted(*number)) else { continue };
        seen.numbers.insert(number);
        seen.start = seen.start.min(events.start[row]);
        seen.end = seen.end.max(events.end(row));
        if *class == Class::Communication && number > 0 {
            seen.kernels.push((number, row as u32));
        }
    }
    seen
}

/// The last run of each stream and name, by iteration and member.
type Last<'a> = BTreeMap<(i64, &'a str), BTreeMap<(i64, usize), u32>>;

fn found(job: &Job<'_>, is_wanted: &(impl Fn(i64) -> bool + Sync)) -> Vec<LateKernel> {
    let all = job.each(|_, part| seen(part, is_wanted));
    let num_iterations = all.iter().flat_map(|seen| &seen.numbers).collect::<BTreeSet<_>>().len();
    let (Some(start), Some(end)) = (all.iter().map(|seen| seen.start).min(), all.iter().map(|seen| seen.end).max())
    else {
        return Vec::new();
    };
    if num_iterations == 0 {
        return Vec::new();
    }
    let mean_ns = end.since(start).0 as f64 / num_iterations as f64;
    let mut last = Last::new();
    for (member, seen) in all.iter().enumerate() {
        let trace = &job.parts[member].linked.trace;
        for (number, row) in &seen.kernels {
            let stream = trace.track(trace.events.track[*row as usize]).stream.and_then(|on| on.stream);
            let is_long = trace.events.dur[*row as usize].0 as f64 >= mean_ns * LONG;
            if let Some(stream) = stream.filter(|stream| *stream > 0 && is_long) {
                last.entry((stream, trace.event_name(*row as usize))).or_default().insert((*number, member), *row);
            }
        }
    }
    let dur_ns = |member: usize, row: u32| job.parts[member].linked.trace.events.dur[row as usize].0;
    let spread = |runs: &BTreeMap<(i64, usize), u32>| {
        let runs: Vec<_> = runs.iter().map(|((number, member), row)| (*number, dur_ns(*member, *row))).collect();
        let by_iteration = runs.chunk_by(|run, next| run.0 == next.0);
        let spreads: Vec<f64> =
            by_iteration.filter_map(|runs| deviation(&runs.iter().map(|run| run.1).collect::<Vec<_>>())).collect();
        (!spreads.is_empty()).then(|| spreads.iter().sum::<f64>() / spreads.len() as f64)
    };
    let spreads = last.iter().filter_map(|(key, runs)| Some((spread(runs)?, key, runs)));
    let most = spreads.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let row = |((stream, name), number, member, row): ((i64, &str), i64, usize, u32)| {
        let began = job.parts[member].linked.trace.events.start[row as usize];
        LateKernel {
            rank: job.ranks.members[member].rank,
            iteration: number,
            stream,
            name: name.to_owned(),
            start: began,
            dur_ns: dur_ns(member, row),
            normalized_start: began.since(start).0 as f64 / mean_ns.max(1.0),
            is_late: false,
        }
    };
    let runs = most
        .into_iter()
        .flat_map(|(_, key, runs)| runs.iter().map(move |((number, member), row)| (*key, *number, *member, *row)));
    runs.map(row).collect()
}

/// Marks the last starts of one iteration, and those at the same time.
fn mark(rows: &mut [LateKernel], candidates: usize) {
    let mut starts: Vec<_> = rows.iter().map(|row| row.start).collect();
    sort::ascending(&mut starts);
    let threshold = starts[starts.len().saturating_sub(candidates)];
    rows.iter_mut().for_each(|row| row.is_late = row.start >= threshold);
}
