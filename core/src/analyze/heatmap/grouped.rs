//! Sums the iterations of machines, or of process groups.

use std::collections::BTreeMap;
use std::sync::Arc;

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
    options: &[
        OptionDoc {
            name: GROUP,
            doc: "`machine`, or the description of process groups; default: `machine`, or each \
                  description where machines are unknown",
            kind: OptionKind::Text,
        },
        OptionDoc {
            name: RANKS_PER_MACHINE,
            doc: "number of consecutive ranks on each machine; 0 takes it from the traces",
            kind: OptionKind::Count(0),
        },
    ],
    run: Run::Ranks(CrossRank {
        compare: |job, options| grouped(job, options.text(GROUP), options.count(RANKS_PER_MACHINE)),
        plan: super::plan,
        queries: super::QUERIES,
    }),
};

const GROUP: &str = "group";
const RANKS_PER_MACHINE: &str = "ranks_per_machine";

/// An iteration of a set of ranks.
#[derive(Debug, Clone)]
pub(crate) struct GroupedCell {
    /// By which the ranks are divided: machines, or the description of process groups.
    division: Arc<str>,
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
        text("division", |rows, at, out| put_name(out, &rows[at].division)),
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

/// The iterations of machines, or of the process groups with a description. By default, those of
/// each description where the machines are unknown.
fn grouped(job: &Job<'_>, by: Option<&str>, ranks_per_machine: i64) -> AnalysisResult {
    let machines = || RankDivision::by_machine(&job.ranks, ranks_per_machine);
    let mut divisions = vec![match by {
        Some(purpose) if purpose != MACHINE => (purpose.to_owned(), RankDivision::by_purpose(&job.ranks, purpose)),
        _ => (MACHINE.to_owned(), machines()),
    }];
    if by.is_none() && divisions[0].1.names.is_empty() {
        let of = |purpose: String| {
            let division = RankDivision::by_purpose(&job.ranks, &purpose);
            (purpose, division)
        };
        // One set of all ranks divides nothing.
        divisions = purposes(&job.ranks).into_iter().map(of).filter(|(_, division)| division.names.len() > 1).collect();
    }
    let cells = super::measured(job);
    let mut rows = Vec::new();
    let mut num_sets = 0;
    for (name, division) in &divisions {
        rows.extend(sums(&cells, (name, division), num_sets));
        num_sets += division.names.len();
    }
    let reason = rows.is_empty().then(|| unknown(job, by).into());
    AnalysisResult { reason, ..AnalysisResult::of(&GROUPED, rows, "").drawn(PLOT) }
}

/// Why no set of ranks is known.
fn unknown(job: &Job<'_>, by: Option<&str>) -> String {
    let machines = "the machines of the ranks are unknown";
    let known = purposes(&job.ranks);
    match by {
        None => format!("{machines}, and no description of process groups divides the ranks"),
        Some(MACHINE) => machines.to_owned(),
        Some(by) if known.is_empty() => format!("no process group has the description {by:?}; none has any"),
        Some(by) => format!("no process group has the description {by:?}; the descriptions are {known:?}"),
    }
}

/// The iterations of each set of a division, whose numbers begin with `first`.
fn sums(cells: &[HeatCell], (name, division): (&str, &RankDivision), first: usize) -> Vec<GroupedCell> {
    let name: Arc<str> = name.into();
    let mut sums: BTreeMap<(usize, Option<i64>), GroupedCell> = BTreeMap::new();
    for cell in cells {
        let Some(set) = division.of_member.get(cell.member).copied().flatten() else { continue };
        let sum = sums.entry((set, cell.time.number)).or_insert_with(|| GroupedCell {
            division: Arc::clone(&name),
            set: first + set,
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
    sums.into_values().collect()
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
