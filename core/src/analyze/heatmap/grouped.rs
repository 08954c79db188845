//! Sums the iterations of machines, or of process groups.

use std::collections::BTreeMap;

use super::cell::HeatCell;
use crate::analyze::analysis::{Analysis, CrossRank, Run};
use crate::analyze::job::Job;
use crate::analyze::machine::division::{MACHINE, RankDivision, purposes};
use crate::analyze::options::{OptionDoc, OptionKind};
use crate::analyze::plot::Plot;
use crate::analyze::result::AnalysisResult;
use crate::table::{Table, int, put_name, text};
use crate::time::add_ns;

/// The iterations of machines, or of process groups.
pub(in crate::analyze) static GROUPED_HEATMAP: Analysis = Analysis {
    name: "grouped_heatmap",
    doc: "the iterations of a heat map, for the ranks of a machine or process group together",
    options: &[OptionDoc {
        name: GROUP,
        doc: "`machine`, or the description of process groups; default: `machine`",
        kind: OptionKind::Text,
    }],
    run: Run::Ranks(CrossRank {
        compare: |job, options| grouped(job, options.text(GROUP).unwrap_or(MACHINE)),
        plan: super::plan,
        queries: super::QUERIES,
    }),
};

const GROUP: &str = "group";

/// An iteration of a set of ranks.
#[derive(Debug, Clone)]
pub(crate) struct GroupedCell {
    set: usize,
    name: String,
    iteration: Option<i64>,
    num_traces: i64,
    dur_ns: i64,
    slowest_rank: Option<i64>,
    busy_ns: Option<i64>,
    exposed_ns: Option<i64>,
    wait_ns: Option<i64>,
    caused_wait_ns: Option<i64>,
}

pub(crate) static GROUPED: Table<Vec<GroupedCell>> = Table {
    name: "grouped_heatmap",
    doc: "an iteration of the ranks of a machine, or of a process group",
    num_rows: Vec::len,
    columns: &[
        int("number", |rows, at| Some(rows[at].set as i64)),
        text("name", |rows, at, out| put_name(out, &rows[at].name)),
        int("iteration", |rows, at| rows[at].iteration),
        int("num_traces", |rows, at| Some(rows[at].num_traces)),
        int("dur_ns", |rows, at| Some(rows[at].dur_ns)),
        int("slowest_rank", |rows, at| rows[at].slowest_rank),
        int("device_busy_ns", |rows, at| rows[at].busy_ns.map(|ns| ns / rows[at].num_traces)),
        int("exposed_communication_ns", |rows, at| rows[at].exposed_ns.map(|ns| ns / rows[at].num_traces)),
        int("wait_ns", |rows, at| rows[at].wait_ns),
        int("caused_wait_ns", |rows, at| rows[at].caused_wait_ns),
    ],
};

/// The map.
const PLOT: Plot = Plot::Heat {
    row: "number",
    name: Some("name"),
    column: "iteration",
    values: &["caused_wait_ns", "dur_ns", "exposed_communication_ns", "device_busy_ns"],
};

/// The iterations of machines, or of the process groups with a description.
fn grouped(job: &Job<'_>, by: &str) -> AnalysisResult {
    let (division, reason) = if by == MACHINE {
        (RankDivision::by_machine(&job.ranks), String::from("the machines of the ranks are unknown"))
    } else {
        let known = purposes(&job.ranks);
        let known =
            if known.is_empty() { String::from("none has any") } else { format!("the descriptions are {known:?}") };
        (RankDivision::by_purpose(&job.ranks, by), format!("no process group has the description {by:?}; {known}"))
    };
    let mut sums: BTreeMap<(usize, Option<i64>), GroupedCell> = BTreeMap::new();
    for cell in &super::measured(job) {
        let Some(set) = division.of_member.get(cell.member).copied().flatten() else { continue };
        let sum = sums.entry((set, cell.time.number)).or_insert_with(|| GroupedCell {
            set,
            name: division.names[set].clone(),
            iteration: cell.time.number,
            num_traces: 0,
            dur_ns: i64::MIN,
            slowest_rank: None,
            busy_ns: Some(0),
            exposed_ns: Some(0),
            wait_ns: None,
            caused_wait_ns: None,
        });
        sum.add(cell);
    }
    let rows: Vec<_> = sums.into_values().collect();
    let reason = rows.is_empty().then_some(reason.into());
    AnalysisResult { reason, ..AnalysisResult::of(&GROUPED, rows, "").drawn(PLOT) }
}

impl GroupedCell {
    fn add(&mut self, cell: &HeatCell) {
        self.num_traces += 1;
        if cell.time.dur_ns > self.dur_ns {
            (self.dur_ns, self.slowest_rank) = (cell.time.dur_ns, cell.rank);
        }
        // One unknown time makes a sum unknown.
        let sum = |sum: Option<i64>, own: Option<i64>| Some(sum?.saturating_add(own?));
        self.busy_ns = sum(self.busy_ns, cell.time.busy_ns);
        self.exposed_ns = sum(self.exposed_ns, cell.time.exposed_ns);
        if let Some(wait) = cell.wait {
            add_ns(self.wait_ns.get_or_insert(0), wait.own_ns);
            add_ns(self.caused_wait_ns.get_or_insert(0), wait.caused_ns);
        }
    }
}
