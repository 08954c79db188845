//! Analyzes the idle time of streams by cause.

use std::collections::BTreeMap;

use super::analysis::{Analysis, Run};
use super::class::classes;
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::result::AnalysisResult;
use super::statistics::Durations;
use crate::sort;
use crate::table::{Column, Table, float, int, put_name, text};
use crate::time::sum_ns;
use crate::trace::track::Stream;
pub use gap::{IdleCause, IdleGap, KERNEL_WAIT_NS, gaps};
pub(crate) use host::ThreadActivity;
pub(super) use host::{host_during, self_during, thread_activity};
pub(crate) use pause::{StreamPause, pause_at};
pub(super) use stream_work::{streams, work};

mod gap;
mod host;
mod pause;
mod stream_work;

/// When streams had nothing to do.
pub(super) static IDLE: Analysis = Analysis {
    name: "idle",
    doc: "idle time of each stream by cause (host, kernel wait, other, unknown), and the longest gaps",
    options: &[
        OptionDoc {
            name: "kernel_wait_ns",
            doc: "threshold in ns: shorter gaps before work that is already launched count as kernel_wait",
            kind: OptionKind::Count(KERNEL_WAIT_NS),
        },
        OptionDoc {
            name: "micro_ns",
            doc: "threshold in ns: shorter gaps count as micro_ns",
            kind: OptionKind::Count(super::breakdown::MICRO_NS),
        },
        OptionDoc { name: "longest", doc: "number of longest gaps to list", kind: OptionKind::Count(100) },
    ],
    run: Run::Trace(|selection, options: &Options| {
        let mut gaps = gaps(selection, options.count("kernel_wait_ns"));
        let rows = idle(&gaps, options.count("micro_ns"));
        sort::by_key(&mut gaps, |gap| (std::cmp::Reverse(gap.time.dur()), gap.time.start, gap.after_id));
        gaps.truncate(options.count("longest") as usize);
        let host = |gap: &IdleGap| host_during(selection.linked, gap.launch?, gap.time);
        let classes = classes(selection.linked);
        for gap in &mut gaps {
            let row = gap.after_id.and_then(|id| selection.linked.trace.events.row_at(id));
            (gap.host, gap.after) = (host(gap), row.map(|row| classes[row]));
        }
        let reason = "no stream has two or more kernels, copies or fills";
        AnalysisResult::of(&TABLE, rows, selection.why_none(reason))
            .and(&GAPS, gaps)
            .drawn(Plot::Bars { label: "category", parts: &["total_ns"] })
    }),
};

/// All idle time of one stream for one reason.
#[derive(Debug, Clone, PartialEq)]
pub struct IdleRow {
    /// The stream.
    pub stream: Stream,
    /// Why.
    pub wait: IdleCause,
    /// Gaps.
    pub count: u64,
    /// Their time together.
    pub total_ns: i64,
    /// `total_ns` over all idle time of the stream.
    pub share: f64,
    /// The part of `total_ns` in gaps below the threshold.
    pub micro_ns: i64,
    /// `total_ns / count`, rounded down.
    pub mean_ns: i64,
    /// Sample standard deviation of the gaps; `None` of a single one.
    pub std_ns: Option<f64>,
    /// The longest.
    pub max_ns: i64,
}

pub(crate) static TABLE: Table<Vec<IdleRow>> =
    Table { name: "idle", doc: "all idle time of a stream for one reason", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<IdleRow>>] = &[
    int("device", |rows, at| rows[at].stream.device),
    int("stream", |rows, at| rows[at].stream.stream),
    text("category", |rows, at, out| put_name(out, rows[at].wait.name())),
    int("count", |rows, at| Some(rows[at].count as i64)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    float("share", |rows, at| Some(rows[at].share)),
    int("micro_ns", |rows, at| Some(rows[at].micro_ns)),
    int("mean_ns", |rows, at| Some(rows[at].mean_ns)),
    float("std_ns", |rows, at| rows[at].std_ns),
    int("max_ns", |rows, at| Some(rows[at].max_ns)),
];

pub(crate) static GAPS: Table<Vec<IdleGap>> = Table {
    name: "gaps",
    doc: "one of the longest times in which a stream had nothing to do, or may have run lost work",
    num_rows: Vec::len,
    columns: &[
        int("device", |rows, at| rows[at].stream.device),
        int("stream", |rows, at| rows[at].stream.stream),
        int("start_ns", |rows, at| Some(rows[at].time.start.0)),
        int("dur_ns", |rows, at| Some(rows[at].time.dur().0)),
        text("category", |rows, at, out| put_name(out, rows[at].wait.name())),
        int("before_id", |rows, at| rows[at].before_id.map(i64::from)),
        int("after_id", |rows, at| rows[at].after_id.map(i64::from)),
        text("after_class", |rows, at, out| rows[at].after.is_some_and(|class| put_name(out, class.name()))),
        int("host_event_id", |rows, at| rows[at].host.as_ref().map(|host| i64::from(host.id))),
        text("host_event_name", |rows, at, out| rows[at].host.as_ref().is_some_and(|host| put_name(out, &host.name))),
        int("host_ns", |rows, at| rows[at].host.as_ref().map(|host| host.self_ns)),
    ],
};

/// Gaps by stream and reason.
pub fn idle(gaps: &[IdleGap], micro_ns: i64) -> Vec<IdleRow> {
    let mut groups: BTreeMap<(Option<i64>, Option<i64>, IdleCause), Vec<i64>> = BTreeMap::new();
    let mut totals: BTreeMap<(Option<i64>, Option<i64>), i64> = BTreeMap::new();
    for gap in gaps {
        let (device, stream, ns) = (gap.stream.device, gap.stream.stream, gap.time.dur().0);
        groups.entry((device, stream, gap.wait)).or_default().push(ns);
        crate::time::add_ns(totals.entry((device, stream)).or_default(), ns);
    }
    let row = |((device, stream, wait), durs): ((Option<i64>, Option<i64>, IdleCause), Vec<i64>)| {
        let Durations { count, total_ns, mean_ns, std_ns, max_ns, .. } = Durations::of(&durs);
        let of_stream = totals.get(&(device, stream)).copied().unwrap_or(0);
        IdleRow {
            stream: Stream { device, stream },
            wait,
            count,
            total_ns,
            share: total_ns as f64 / of_stream.max(1) as f64,
            micro_ns: sum_ns(durs.iter().copied().filter(|ns| *ns < micro_ns)),
            mean_ns,
            std_ns,
            max_ns,
        }
    };
    groups.into_iter().map(row).collect()
}
