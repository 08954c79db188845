//! Finds the labels of ranks that a merger left in a file.

use rustc_hash::FxHashMap;

use super::rank_label::RankLabel;
use super::work_processes::WorkProcesses;
use crate::id::StrId;
use crate::sort;
use crate::trace::Trace;
use crate::trace::args::{ArgsRef, ArgsTemplate, FieldValue};

/// The argument that mergers add to each event.
const RANK_KEY: &str = "rank";

/// The place of a rank in the arguments of a template.
#[derive(Debug, Clone, Copy)]
enum RankPlace {
    Slot(usize),
    Number(u32),
}

/// Labels of processes, of names of events, and of arguments, by their index.
#[derive(Debug, Default)]
pub(super) struct RowLabels {
    /// Sorted.
    pub(super) labels: Vec<RankLabel>,
    by_process: FxHashMap<StrId, u32>,
    /// By text; empty if no event has a label in its name.
    by_name: Vec<Option<u32>>,
    /// By template; empty if no argument tells.
    by_args: Vec<Option<RankPlace>>,
}

/// A row's process, name and arguments.
pub(super) type LabelledRow = (StrId, StrId, ArgsRef);

impl RowLabels {
    /// The labels that tell rows of work apart: those of their processes, else of their names, else
    /// of their arguments. `None` if there are no two.
    pub(super) fn of(trace: &Trace) -> Option<Self> {
        let events = &trace.events;
        let first = WorkProcesses::rows(trace).next()?;
        let name_label = |name: StrId| RankLabel::of_event_name(trace.strings.text(name)).map(|(label, _)| label);
        let first_label = name_label(events.name.at(first));
        let places = rank_places(trace);
        let has_argument = number(trace, &places, events.args(first)).is_some();
        let by_process = RankLabel::of_processes(trace);
        if distinct(by_process.values().cloned().collect()).len() < 2 && first_label.is_none() && !has_argument {
            return None;
        }
        let work = WorkProcesses::of(trace);
        let of_processes = work.processes.iter().filter_map(|process| by_process.get(process).cloned()).collect();
        let mut all = distinct(of_processes);
        if all.len() < 2 && first_label.is_some() {
            let mut names: Vec<StrId> = WorkProcesses::rows(trace).map(|row| events.name.at(row)).collect();
            sort::ascending(&mut names);
            names.dedup();
            let labels: Option<Vec<_>> = names.into_iter().map(name_label).collect();
            all = distinct(labels.unwrap_or_default());
        }
        if all.len() < 2 && has_argument {
            let numbers: Option<Vec<u32>> =
                WorkProcesses::rows(trace).map(|row| number(trace, &places, events.args(row))).collect();
            let mut numbers = numbers.unwrap_or_default();
            sort::ascending(&mut numbers);
            numbers.dedup();
            all = numbers.into_iter().map(RankLabel::of_number).collect();
        }
        (all.len() >= 2).then(|| Self::with(trace, all, &by_process, has_argument.then_some(places)))
    }

    fn with(
        trace: &Trace,
        labels: Vec<RankLabel>,
        processes: &FxHashMap<StrId, RankLabel>,
        places: Option<Vec<Option<RankPlace>>>,
    ) -> Self {
        let index = |label: &RankLabel| labels.binary_search(label).ok().map(|at| at as u32);
        let by_process = processes.iter().filter_map(|(process, label)| Some((*process, index(label)?))).collect();
        let of_name = |text| RankLabel::of_event_name(text).and_then(|(label, _)| index(&label));
        let mut by_name: Vec<_> = trace.strings.iter().map(of_name).collect();
        if by_name.iter().all(Option::is_none) {
            by_name = Vec::new();
        }
        Self { by_process, by_name, by_args: places.unwrap_or_default(), labels }
    }

    /// The label of a row.
    pub(super) fn of_row(&self, trace: &Trace, (process, name, args): LabelledRow) -> Option<u32> {
        let of_process = self.by_process.get(&process).copied();
        let of_name = || self.by_name.get(name.index()).copied().flatten();
        of_process.or_else(of_name).or_else(|| {
            let label = RankLabel::of_number(number(trace, &self.by_args, args)?);
            self.labels.binary_search(&label).ok().map(|at| at as u32)
        })
    }

    /// The label of an event.
    pub(super) fn of_event(&self, trace: &Trace, row: usize) -> Option<u32> {
        self.of_row(trace, (trace.process_of(row), trace.events.name.at(row), trace.events.args(row)))
    }

    /// Whether names of events begin with labels.
    pub(super) fn are_in_names(&self) -> bool {
        !self.by_name.is_empty()
    }
}

fn distinct(mut labels: Vec<RankLabel>) -> Vec<RankLabel> {
    sort::ascending(&mut labels);
    labels.dedup();
    labels
}

/// Where each template has its rank; none if no template has one.
fn rank_places(trace: &Trace) -> Vec<Option<RankPlace>> {
    let Some(key) = trace.strings.get(RANK_KEY.as_bytes()) else { return Vec::new() };
    let place = |template: &ArgsTemplate| {
        let mut num_slots = 0;
        for field in template.fields() {
            let is_rank = field.key == key && !field.is_outer;
            match field.value {
                FieldValue::Slot(0) if is_rank => return Some(RankPlace::Slot(num_slots)),
                FieldValue::Json(text) if is_rank => {
                    return trace.strings.text(text).trim_matches('"').parse().ok().map(RankPlace::Number);
                }
                FieldValue::Slot(_) => num_slots += 1,
                FieldValue::Json(_) => {}
            }
        }
        None
    };
    trace.args.templates().iter().map(place).collect()
}

fn number(trace: &Trace, places: &[Option<RankPlace>], args: ArgsRef) -> Option<u32> {
    match places.get(args.template.index()).copied().flatten()? {
        RankPlace::Slot(slot) => trace.args.values(args).nth(slot).and_then(|number| u32::try_from(number).ok()),
        RankPlace::Number(number) => Some(number),
    }
}
