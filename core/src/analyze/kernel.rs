//! Sums device work by name.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::analysis::{Analysis, Run};
use super::class::{WorkClass, classes};
use super::graph_node;
use super::kernel_class::{self, by_class};
use super::kernel_origin::KernelOrigin;
use super::launch_config::{LaunchConfig, LaunchConfigReader};
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use super::statistics::Durations;
use super::tensor_core::uses_tensor_cores;
use crate::id::StrId;
use crate::sort;
use crate::table::{Column, Table, boolean, float, int, put, put_name, text};
use crate::time::sum_ns;
use crate::trace::kind::EventKind;

/// Device work by kernel name.
pub(super) static KERNELS: Analysis = Analysis {
    name: "kernels",
    doc: "count, duration and launch configuration of kernels, copies and fills, by name",
    options: &[OptionDoc {
        name: "short_ns",
        doc: "threshold in ns: shorter runs count as short",
        kind: OptionKind::Count(SHORT_NS),
    }],
    run: Run::Trace(|selection, options: &Options| {
        let rows = kernels(selection, options.count("short_ns"));
        let classes = by_class(&rows);
        AnalysisResult::of(&TABLE, rows, selection.why_nothing_ran())
            .and(&kernel_class::TABLE, classes)
            .and(&graph_node::TABLE, graph_node::graph_nodes(selection))
            .drawn(Plot::Bars { label: "name", parts: &["total_ns"] })
    }),
};

pub(crate) static TABLE: Table<Vec<KernelRow>> =
    Table { name: "kernels", doc: "all runs of one kernel, copy or fill", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<KernelRow>>] = &[
    text("name", |rows, at, out| put_name(out, &rows[at].name)),
    text("kind", |rows, at, out| put_name(out, rows[at].kind)),
    text("class", |rows, at, out| put_name(out, rows[at].class)),
    int("count", |rows, at| Some(rows[at].count as i64)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    float("share", |rows, at| Some(rows[at].share)),
    int("mean_ns", |rows, at| Some(rows[at].mean_ns)),
    float("std_ns", |rows, at| rows[at].std_ns),
    int("min_ns", |rows, at| Some(rows[at].min_ns)),
    int("max_ns", |rows, at| Some(rows[at].max_ns)),
    int("num_short", |rows, at| Some(rows[at].num_short as i64)),
    int("longest_id", |rows, at| Some(i64::from(rows[at].longest_id))),
    text("operator", |rows, at, out| put(out, &rows[at].origin.operator)),
    text("python_line", |rows, at, out| put(out, &rows[at].origin.python_line)),
    int("num_python_lines", |rows, at| rows[at].origin.num_python_lines),
    boolean("tensor_cores", |rows, at| Some(rows[at].tensor_cores)),
    int("blocks", |rows, at| rows[at].ran.blocks),
    int("threads", |rows, at| rows[at].ran.threads),
    int("cluster_size", |rows, at| rows[at].ran.cluster_size),
    int("registers", |rows, at| rows[at].ran.registers),
    int("shared_memory_bytes", |rows, at| rows[at].ran.shared_memory_bytes),
    float("occupancy", |rows, at| rows[at].ran.occupancy.mean()),
    float("theoretical_occupancy", |rows, at| rows[at].ran.theoretical_occupancy),
    text("occupancy_limit", |rows, at, out| {
        let LaunchConfig { resident, blocks_per_sm, .. } = rows[at].ran;
        resident.is_some_and(|blocks| {
            blocks.write_limits(blocks_per_sm, out);
            true
        })
    }),
    float("sm_efficiency", |rows, at| rows[at].ran.sm_efficiency.mean()),
    float("waves", |rows, at| rows[at].ran.waves),
];

/// Default threshold in ns: a shorter run takes less time than its launch.
pub const SHORT_NS: i64 = 10_000;

/// All executions of one kernel, copy or fill.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelRow {
    /// Its name.
    pub name: String,
    /// `kernel`, `copy` or `fill`.
    pub kind: &'static str,
    /// Its purpose: the name of a [`WorkClass`].
    pub class: &'static str,
    /// How often it ran.
    pub count: u64,
    /// Time of all runs together.
    pub total_ns: i64,
    /// `total_ns / count`, rounded down.
    pub mean_ns: i64,
    /// Sample standard deviation of the runs; `None` of a single one.
    pub std_ns: Option<f64>,
    /// Shortest run.
    pub min_ns: i64,
    /// Longest run.
    pub max_ns: i64,
    /// `total_ns` over the total of all device work.
    pub share: f64,
    /// Runs below the threshold.
    pub num_short: u64,
    /// Id of the longest run.
    pub longest_id: u32,
    /// The operator and the line of Python that launched most of its time.
    #[serde(skip)]
    pub origin: KernelOrigin,
    /// Whether its name shows the use of matrix units.
    #[serde(skip)]
    pub tensor_cores: bool,
    /// Its launch configuration.
    #[serde(skip)]
    pub ran: LaunchConfig,
}

/// Kernels, copies and fills by name, the longest total first.
///
/// `total_ns = Σ dur` over the executions that overlap the selection, cut to it; `share = total_ns
/// / Σ total_ns`; `num_short` counts those of less than `short_ns`.
///
/// ```
/// use std::sync::Arc;
/// use kinetoscope::analyze::{SHORT_NS, Selection, kernels};
/// use kinetoscope::{Input, Limits, LinkedTrace, read};
/// let json = br#"[{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 0, "dur": 40},
///                 {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 50, "dur": 2}]"#;
/// let linked = Arc::new(LinkedTrace::new(read([Input::new(json)], Limits::default())?));
/// let gemm = &kernels(&Selection::all(&linked), SHORT_NS)[0];
/// assert_eq!((gemm.count, gemm.total_ns, gemm.num_short, gemm.class), (2, 42_000, 1, "computation"));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn kernels(selection: &Selection<'_>, short_ns: i64) -> Vec<KernelRow> {
    let (linked, events) = (selection.linked, &selection.linked.trace.events);
    let classes = classes(linked);
    let mut groups: FxHashMap<(StrId, &'static str, WorkClass), Vec<usize>> = FxHashMap::default();
    for row in selection.device_work() {
        groups.entry((events.name.at(row), events.kind[row].name(), classes[row])).or_default().push(row);
    }
    let mut reader = LaunchConfigReader::new(&linked.trace);
    let row = |((_, kind, class), rows): ((StrId, &'static str, WorkClass), Vec<usize>)| {
        let durs: Vec<_> = rows.iter().map(|row| selection.dur_ns(*row)).collect();
        let Durations { count, total_ns, mean_ns, std_ns, min_ns, max_ns } = Durations::of(&durs);
        let longest = rows.iter().copied().max_by_key(|row| (selection.dur_ns(*row), std::cmp::Reverse(*row)));
        let name = rows.first().map_or("", |row| linked.trace.event_name(*row)).to_owned();
        KernelRow {
            origin: KernelOrigin::of(selection, &rows),
            tensor_cores: kind == EventKind::Kernel.name() && uses_tensor_cores(&name),
            ran: longest.map_or_else(LaunchConfig::default, |longest| reader.ran(selection, &rows, longest)),
            name,
            kind,
            class: class.name(),
            count,
            total_ns,
            mean_ns,
            std_ns,
            min_ns,
            max_ns,
            share: 0.0,
            num_short: durs.iter().filter(|dur| **dur < short_ns).count() as u64,
            longest_id: longest.map_or(0, |row| events.position.at(row)),
        }
    };
    let mut table: Vec<_> = groups.into_iter().map(row).collect();
    sort::by(&mut table, |a, b| {
        let name = |row: &KernelRow| (row.name.clone(), row.kind, row.class);
        b.total_ns.cmp(&a.total_ns).then_with(|| name(a).cmp(&name(b)))
    });
    let sum = sum_ns(table.iter().map(|row| row.total_ns));
    table.iter_mut().for_each(|row| row.share = row.total_ns as f64 / sum.max(1) as f64);
    table
}
