//! Tests analyses of device time against a scan of every microsecond.

use std::sync::Arc;

use std::collections::BTreeMap;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{
    BreakdownSpan, IdleCause, Selection, analysis, breakdown, gaps, idle, kernels, overlap, queue_length, queue_points,
};
use kinetoscope::time::{TimeRange, Ts};
use proptest::prelude::*;
use serde_json::json;

use crate::files;

/// A microsecond; all times of these traces are whole ones.
const US: i64 = 1_000;
const FULL: i64 = 2;
const MICRO_US: i64 = 3;
const KERNEL_WAIT_US: i64 = 2;

/// The class of device work, as an index in `NAMES`.
const NAMES: [(&str, &str); 4] =
    [("kernel", "gemm"), ("kernel", "ncclDevKernel_AllReduce"), ("gpu_memcpy", "Memcpy HtoD"), ("kernel", "pe_exe")];

#[derive(Debug, Clone)]
struct Work {
    class: usize,
    device: i64,
    stream: i64,
    start: i64,
    dur: i64,
    launch: Option<i64>,
}

/// A part of a trace, in microseconds.
#[derive(Debug, Clone)]
struct Part {
    range: Option<(i64, i64)>,
    stream: Option<i64>,
    is_launched_inside: bool,
    is_unclipped: bool,
}

impl Part {
    /// The same at any time, where times are cut to the range.
    fn around(&self) -> Self {
        let is_cut = !self.is_unclipped && !self.is_launched_inside;
        Self { range: self.range.filter(|_| !is_cut), ..self.clone() }
    }
}

impl Work {
    fn end(&self) -> i64 {
        self.start + self.dur
    }

    fn is_in(&self, part: &Part) -> bool {
        let Some((from, to)) = part.range else { return part.stream.is_none_or(|stream| stream == self.stream) };
        let is_launched = self.launch.is_some_and(|launch| (from..to).contains(&launch));
        let overlaps = self.start < to && (self.end() > from || self.start >= from);
        let is_inside =
            if part.is_unclipped { is_launched } else { overlaps && (is_launched || !part.is_launched_inside) };
        is_inside && part.stream.is_none_or(|stream| stream == self.stream)
    }

    /// When it runs, inside the part.
    fn time(&self, part: &Part) -> (i64, i64) {
        let Some((from, to)) = part.range.filter(|_| !part.is_unclipped) else { return (self.start, self.end()) };
        let start = self.start.max(from);
        (start, self.end().min(to).max(start))
    }

    fn runs_at(&self, us: i64, part: &Part) -> bool {
        let (start, end) = self.time(part);
        start <= us && us < end
    }
}

fn work() -> impl Strategy<Value = Work> {
    let launch = prop::option::weighted(0.8, 0..40_i64);
    (0..4_usize, 0..2_i64, 7..9_i64, 0..40_i64, 0..9_i64, launch)
        .prop_map(|(class, device, stream, start, dur, launch)| Work { class, device, stream, start, dur, launch })
}

fn part() -> impl Strategy<Value = Part> {
    let range = prop::option::of((0..45_i64, 0..45_i64).prop_map(|(a, b)| (a.min(b), a.max(b))));
    (range, prop::option::weighted(0.3, 7..9_i64), any::<bool>(), any::<bool>()).prop_map(
        |(range, stream, is_launched_inside, is_unclipped)| Part { range, stream, is_launched_inside, is_unclipped },
    )
}

fn linked(all: &[Work]) -> Arc<LinkedTrace> {
    let device = all.iter().enumerate().map(|(at, work)| {
        let (category, name) = NAMES[work.class];
        let mut args = json!({"device": work.device, "stream": work.stream});
        if work.launch.is_some() {
            args["correlation"] = json!(at + 1);
        }
        json!({"ph": "X", "cat": category, "name": name, "pid": work.device, "tid": work.stream, "ts": work.start,
            "dur": work.dur, "args": args})
    });
    let calls = all.iter().enumerate().filter_map(|(at, work)| {
        Some(json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 1,
            "ts": work.launch?, "dur": 0, "args": {"correlation": at + 1}}))
    });
    let events: Vec<_> = device.chain(calls).collect();
    Arc::new(LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string())))
}

fn selection<'a>(linked: &'a Arc<LinkedTrace>, part: &Part) -> Selection<'a> {
    let range = part.range.map(|(from, to)| TimeRange { start: Ts(from * US), end: Ts(to * US) });
    let Part { stream, is_launched_inside, is_unclipped, .. } = *part;
    Selection { stream, is_launched_inside, is_unclipped, ..Selection::within(linked, range) }
}

/// The microseconds of the part, or of the whole trace.
fn span(selection: &Selection<'_>) -> std::ops::Range<i64> {
    selection.span().start.0 / US..selection.span().end.0 / US
}

/// How many microseconds are in stretches that are shorter than `limit`, of those that are true.
fn in_short(is_idle: &[bool], limit: i64) -> i64 {
    let stretches = is_idle.chunk_by(|a, b| a == b).filter(|stretch| stretch[0]);
    stretches.map(|stretch| stretch.len() as i64).filter(|len| *len < limit).sum()
}

fn by_stream<'a>(all: &'a [Work], part: &Part) -> BTreeMap<(i64, i64), Vec<(usize, &'a Work)>> {
    let mut streams: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (at, work) in all.iter().enumerate().filter(|(_, work)| work.is_in(part)) {
        streams.entry((work.device, work.stream)).or_default().push((at, work));
    }
    streams
}

proptest! {
    #[test]
    fn a_breakdown_is_that_of_every_microsecond(all in prop::collection::vec(work(), 0..12), part in part()) {
        let linked = linked(&all);
        let selection = selection(&linked, &part);
        let rows = breakdown(&selection, &[BreakdownSpan::of(selection.span())], MICRO_US * US);
        let inside: Vec<_> = all.iter().filter(|work| work.is_in(&part)).collect();
        for device in 0..2 {
            let of_device: Vec<_> = inside.iter().filter(|work| work.device == device).collect();
            let row = rows.iter().find(|row| row.device == Some(device));
            let is_there = |work: &Work| work.device == device && part.stream.is_none_or(|stream| stream == work.stream);
            prop_assert_eq!(row.is_some(), all.iter().any(is_there));
            let Some(row) = row else { continue };
            let running = |us: i64| {
                let mut classes = [false; 4];
                of_device.iter().filter(|work| work.runs_at(us, &part)).for_each(|work| classes[work.class] = true);
                classes
            };
            let swept: Vec<_> = span(&selection).map(running).collect();
            let count = |is_counted: fn(&[bool; 4]) -> bool| swept.iter().filter(|us| is_counted(us)).count() as i64 * US;
            prop_assert_eq!(row.compute_ns, count(|us| us[0]));
            prop_assert_eq!(row.exposed_communication_ns, count(|us| us[1] && !us[0]));
            prop_assert_eq!(row.exposed_copy_ns, count(|us| us[2] && !us[0] && !us[1]));
            prop_assert_eq!(row.exposed_other_ns, count(|us| us[3] && !us[0] && !us[1] && !us[2]));
            prop_assert_eq!(row.idle_ns, count(|us| us == &[false; 4]));
            prop_assert_eq!(row.busy_ns, count(|us| us != &[false; 4]));
            prop_assert_eq!((row.communication_ns, row.copy_ns), (count(|us| us[1]), count(|us| us[2])));
            prop_assert_eq!(row.overlap_ns, count(|us| us[0] && us[1]));
            let is_idle: Vec<_> = swept.iter().map(|us| us == &[false; 4]).collect();
            prop_assert_eq!(row.micro_idle_ns, in_short(&is_idle, MICRO_US) * US);
        }
    }

    #[test]
    fn parts_that_share_no_time_add_up(all in prop::collection::vec(work(), 1..12), cuts in (0..45_i64, 0..45_i64, 0..45_i64)) {
        let linked = linked(&all);
        let mut cuts = [cuts.0, cuts.1, cuts.2];
        cuts.sort_unstable();
        let total = |from: i64, to: i64| {
            let part = Part { range: Some((from, to)), stream: None, is_launched_inside: false, is_unclipped: false };
            let selection = selection(&linked, &part);
            let rows = breakdown(&selection, &[BreakdownSpan::of(selection.span())], 0);
            let kernels: i64 = kernels(&selection, 0).iter().map(|row| row.total_ns).sum();
            (rows.iter().map(|row| row.compute_ns).sum::<i64>(), rows.iter().map(|row| row.busy_ns).sum::<i64>(), kernels)
        };
        let (first, second, both) = (total(cuts[0], cuts[1]), total(cuts[1], cuts[2]), total(cuts[0], cuts[2]));
        prop_assert_eq!((first.0 + second.0, first.1 + second.1, first.2 + second.2), both);
    }

    #[test]
    fn overlap_is_that_of_every_microsecond(all in prop::collection::vec(work(), 0..12), part in part()) {
        let linked = linked(&all);
        let rows = overlap(&selection(&linked, &part));
        for device in 0..2 {
            let of_class = |class: usize| {
                all.iter().filter(move |work| work.device == device && work.class == class).filter(|work| work.is_in(&part))
            };
            let row = rows.iter().find(|row| row.device == Some(device) && row.collective == "all");
            prop_assert_eq!(row.map_or(0, |row| row.count), of_class(1).count() as u64);
            let Some(row) = row else { continue };
            let runs = |class: usize, us: i64| of_class(class).any(|work| work.runs_at(us, &part));
            let total = (0..60).filter(|us| runs(1, *us)).count() as i64 * US;
            let hidden = (0..60).filter(|us| runs(1, *us) && runs(0, *us)).count() as i64 * US;
            prop_assert_eq!((row.total_ns, row.hidden_ns, row.exposed_ns), (total, hidden, total - hidden));
        }
    }

    #[test]
    fn gaps_are_what_no_work_of_the_stream_covers(all in prop::collection::vec(work(), 0..12), part in part()) {
        let linked = linked(&all);
        let gaps = gaps(&selection(&linked, &part), KERNEL_WAIT_US * US);
        let mut num_idle = 0;
        // Events before and after a range determine the gaps in it.
        let around = part.around();
        let (from, to) = part.range.filter(|_| around.range.is_none()).unwrap_or((i64::MIN, i64::MAX));
        for ((device, stream), work) in by_stream(&all, &around) {
            let times = || work.iter().map(|(_, work)| work.time(&around));
            let (first, last) = (times().map(|time| time.0).min().unwrap(), times().map(|time| time.1).max().unwrap());
            let is_idle = |us: &i64| !work.iter().any(|(_, work)| work.runs_at(*us, &around));
            let of_stream = || gaps.iter().filter(|gap| (gap.stream.device, gap.stream.stream) == (Some(device), Some(stream)));
            let total: i64 = of_stream().map(|gap| gap.time.dur().0).sum();
            let num_idle_us = (first.max(from)..last.min(to)).filter(is_idle).count() as i64;
            prop_assert_eq!(total, num_idle_us * US);
            num_idle += num_idle_us;
            for gap in of_stream() {
                let (start, end) = (gap.time.start.0 / US, gap.time.end.0 / US);
                prop_assert!((start..end).all(|us| is_idle(&us)));
                let (before, after) = (&all[gap.before_id.unwrap() as usize], &all[gap.after_id.unwrap() as usize]);
                let (begin, over) = (before.time(&around).1, after.time(&around).0);
                prop_assert_eq!((begin.max(from), over.min(to)), (start, end));
                let expected = match after.launch {
                    Some(launch) if launch > begin => IdleCause::Host,
                    Some(_) if over - begin < KERNEL_WAIT_US => IdleCause::Kernel,
                    _ => IdleCause::Other,
                };
                prop_assert_eq!(gap.wait, expected);
            }
        }
        let rows = idle(&gaps, MICRO_US * US);
        prop_assert_eq!(rows.iter().map(|row| row.total_ns).sum::<i64>(), num_idle * US);
        prop_assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), gaps.len() as u64);
    }

    #[test]
    fn a_queue_holds_what_is_launched_and_has_not_begun(all in prop::collection::vec(work(), 0..12), part in part()) {
        let linked = linked(&all);
        let selection = selection(&linked, &part);
        let rows = queue_length(&queue_points(&selection), selection.span(), FULL);
        let mut num_rows = 0;
        for ((device, stream), work) in by_stream(&all, &part) {
            let launched: Vec<_> = work.iter().filter_map(|(_, work)| Some((work.launch?, work.start))).collect();
            if launched.is_empty() {
                continue;
            }
            num_rows += 1;
            let row = rows.iter().find(|row| (row.stream.device, row.stream.stream) == (Some(device), Some(stream))).unwrap();
            let length = |us: i64| launched.iter().filter(|(launch, start)| *launch <= us && us < *start).count() as i64;
            let swept: Vec<_> = span(&selection).map(length).collect();
            prop_assert_eq!(row.count, launched.len() as u64);
            prop_assert_eq!(row.max, swept.iter().copied().max().unwrap_or(0));
            prop_assert_eq!(row.empty_ns, swept.iter().filter(|length| **length == 0).count() as i64 * US);
            prop_assert_eq!(row.full_ns, swept.iter().filter(|length| **length >= FULL).count() as i64 * US);
            let mean = swept.iter().sum::<i64>() as f64 / swept.len().max(1) as f64;
            prop_assert!((row.mean - mean).abs() < 1e-9);
        }
        prop_assert_eq!(rows.len(), num_rows);
    }
}

#[test]
fn fills_compute_in_the_timeline_of_tracelens_alone() {
    let work = |category: &str, start: i64, dur: i64| json!({"ph": "X", "cat": category, "name": category, "pid": 0, "tid": 7, "ts": start, "dur": dur, "args": {"device": 0, "stream": 7}});
    let events = json!([work("kernel", 0, 10), work("gpu_memset", 10, 5), work("gpu_memcpy", 15, 2)]);
    let linked = Arc::new(LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string())));
    let answer = analysis("breakdown").unwrap().answer(&linked, "{}").unwrap();
    let of = |table: usize| files::rows(&*answer.tables[table]);
    assert_eq!((&of(0)[0]["compute_ns"], &of(0)[0]["copy_ns"]), (&json!(10_000), &json!(7_000)));
    let part = |name: &str| of(1).iter().find(|row| row["type"] == name).unwrap()["total_ns"].clone();
    assert_eq!((part("computation_time"), part("total_memcpy_time")), (json!(15_000), json!(2_000)));
}
