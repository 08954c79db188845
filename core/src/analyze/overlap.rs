//! Measures how much communication is hidden behind computation.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::analysis::{Analysis, Run};
use super::class::{WorkClass, classes};
use super::communication::CommunicationNames;
use super::exposed_call::{self, exposed_calls};
use super::interval::{intersection, total_ns};
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
use super::result::AnalysisResult;
use super::selection::Selection;
use crate::link::LinkedTrace;
use crate::table::{Column, Table, float, int, put_name, text};
use crate::time::TimeRange;

/// Hidden and exposed communication.
pub(super) static OVERLAP: Analysis = Analysis {
    name: "overlap",
    doc: "communication time and the part that computation hides, per collective",
    options: &[OptionDoc {
        name: "by",
        doc: "grouping key besides the collective",
        kind: OptionKind::Choice(&["collective", "module", "annotation"]),
    }],
    run: Run::Trace(|selection, options: &Options| {
        let rows = by_owner(selection, CommunicationOwner::of(options.choice("by")));
        AnalysisResult::of(&TABLE, rows, selection.why_none("no communication ran on a device"))
            .and(&exposed_call::TABLE, exposed_calls(selection))
            .drawn(Plot::Bars { label: "collective", parts: &["hidden_ns", "exposed_ns"] })
    }),
};

/// All communication of one kind on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct OverlapRow {
    /// The number of the device, where the file gives one.
    pub device: Option<i64>,
    /// Its name, or that of its kernels where no record names the collective; `all` for any.
    pub collective: String,
    /// The module or annotation that it is for, if rows are divided by it; empty without one.
    pub owner: Option<(CommunicationOwner, String)>,
    /// Device events.
    pub count: u64,
    /// Time with any of it running.
    pub total_ns: i64,
    /// The part of it with computation running on the device, too.
    pub hidden_ns: i64,
    /// The other part.
    pub exposed_ns: i64,
    /// `hidden_ns / total_ns`.
    pub hidden_share: f64,
}

/// Owner of communication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommunicationOwner {
    /// The innermost module around its launch, or that of the forward operator.
    Module,
    /// The innermost annotation around its launch.
    Annotation,
}

impl CommunicationOwner {
    fn of(by: &str) -> Option<Self> {
        match by {
            "module" => Some(Self::Module),
            "annotation" => Some(Self::Annotation),
            _ => None,
        }
    }

    /// The name of the owner of an event; empty without one.
    pub(super) fn name(self, linked: &LinkedTrace, row: usize) -> String {
        let name = match self {
            Self::Module => linked.module_name(row),
            Self::Annotation => linked.annotation_name(row),
        };
        name.map_or_else(String::new, Cow::into_owned)
    }
}

impl OverlapRow {
    fn owner_of(&self, wanted: CommunicationOwner, out: &mut String) -> bool {
        let own = self.owner.as_ref().filter(|(owner, _)| *owner == wanted);
        own.is_some_and(|(_, name)| put_name(out, name))
    }
}

pub(crate) static TABLE: Table<Vec<OverlapRow>> =
    Table { name: "overlap", doc: "all communication of one kind on a device", num_rows: Vec::len, columns: COLUMNS };

const COLUMNS: &[Column<Vec<OverlapRow>>] = &[
    int("device", |rows, at| rows[at].device),
    text("collective", |rows, at, out| put_name(out, &rows[at].collective)),
    text("module", |rows, at, out| rows[at].owner_of(CommunicationOwner::Module, out)),
    text("annotation", |rows, at, out| rows[at].owner_of(CommunicationOwner::Annotation, out)),
    int("count", |rows, at| Some(rows[at].count as i64)),
    int("total_ns", |rows, at| Some(rows[at].total_ns)),
    int("hidden_ns", |rows, at| Some(rows[at].hidden_ns)),
    int("exposed_ns", |rows, at| Some(rows[at].exposed_ns)),
    float("hidden_share", |rows, at| Some(rows[at].hidden_share)),
];

/// Communication of each kind on each device, after that of all kinds together (`all`).
///
/// With `N` the time in which communication of the kind runs and `C` that of any computation on the
/// same device, both unions of events: `total = |N|`, `hidden = |N ∩ C|`, `exposed = |N \ C|`.
/// Kinds that run at the same time both count it, so they may add up to more than `all`.
pub fn overlap(selection: &Selection<'_>) -> Vec<OverlapRow> {
    by_owner(selection, None)
}

/// Key of a row: device, whether all of it, collective and owner.
type OverlapKey<'a> = (Option<i64>, bool, Cow<'a, str>, String);

/// The same, divided by what the communication is for.
fn by_owner(selection: &Selection<'_>, owner: Option<CommunicationOwner>) -> Vec<OverlapRow> {
    let (linked, trace) = (selection.linked, &selection.linked.trace);
    let classes = classes(linked);
    let names = CommunicationNames::of(linked);
    let computing = computing(selection, &classes);
    let mut talking: BTreeMap<OverlapKey<'_>, Vec<TimeRange>> = BTreeMap::new();
    for row in selection.device_work().filter(|row| classes[*row] == WorkClass::Communication) {
        let device = trace.device(row);
        let owner = owner.map_or_else(String::new, |owner| owner.name(linked, row));
        let keys = [(false, Cow::Borrowed(ALL), String::new()), (true, names.name(row as u32), owner)];
        for (is_single, kind, owner) in keys {
            talking.entry((device, is_single, kind, owner)).or_default().push(selection.time(row));
        }
    }
    let row = |((device, is_single, kind, name), ranges): (OverlapKey<'_>, Vec<TimeRange>)| {
        let (count, ranges) = (ranges.len() as u64, selection.union(device, ranges));
        let total_ns = total_ns(&ranges);
        let hidden = computing.get(&device).map(|computing| intersection(&ranges, computing));
        let hidden_ns = super::interval::total_ns(&hidden.unwrap_or_default());
        let (exposed_ns, hidden_share) = (total_ns - hidden_ns, hidden_ns as f64 / total_ns.max(1) as f64);
        let owner = owner.filter(|_| is_single).map(|owner| (owner, name));
        OverlapRow {
            device,
            collective: kind.into_owned(),
            owner,
            count,
            total_ns,
            hidden_ns,
            exposed_ns,
            hidden_share,
        }
    };
    talking.into_iter().map(row).collect()
}

const ALL: &str = "all";

/// When each device computes. Computation of others hides communication of named calls, too.
pub(super) fn computing(selection: &Selection<'_>, classes: &[WorkClass]) -> BTreeMap<Option<i64>, Vec<TimeRange>> {
    let mut found: BTreeMap<Option<i64>, Vec<TimeRange>> = BTreeMap::new();
    for row in selection.work_beside().filter(|row| classes[*row] == WorkClass::Computation) {
        found.entry(selection.linked.trace.device(row)).or_default().push(selection.time(row));
    }
    for (device, ranges) in &mut found {
        *ranges = selection.union(*device, std::mem::take(ranges));
    }
    found
}
