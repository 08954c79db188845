//! Finds the ranges that mark the steps of a loop: the profiler's, or those of a serving engine or
//! a trainer.

use std::cmp::Reverse;

use super::iteration::Iteration;
use super::launch_group::{LaunchGroup, launch_groups};
use crate::id::TrackId;
use crate::sort;
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::iteration::iteration_number;
use crate::trace::kind::EventKind;
use crate::trace::step_name::StepFacts;

/// Owner of ranges that mark steps, the most telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepMarker {
    /// The profiler: `ProfilerStep#n`.
    Profiler,
    /// A serving engine, whose names have numbers of requests and tokens.
    Engine,
    /// vLLM, whose names of the stages of a step have none.
    Stage,
    /// A trainer.
    Trainer,
    /// Python functions that engines and trainers call once a step.
    Function,
    /// The user, who gave the names of events.
    User,
}

/// Names of ranges of trainers, one a step.
const TRAINERS: [&str; 3] = ["[pl][profile]run_training_batch", "run_training_batch", "DeepSpeedEngine.forward"];

/// The first stage of a step of vLLM.
const STAGE: &str = "gpu_model_runner: preprocess";

/// Python functions of engines and trainers: the end of their file, and their name.
const FUNCTIONS: [(&str, &str); 6] = [
    ("worker.py", "execute_model"),
    ("scheduler.py", "run_batch"),
    ("server.py", "generate_token"),
    ("trainer.py", "training_step"),
    ("training.py", "train_step"),
    ("train.py", "train_step"),
];

impl StepMarker {
    /// All markers, the most telling first; the user's decides wherever there is one.
    pub const ALL: [Self; 6] = [Self::Profiler, Self::Engine, Self::Stage, Self::Trainer, Self::Function, Self::User];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Profiler => "profiler",
            Self::Engine => "engine",
            Self::Stage => "stage",
            Self::Trainer => "trainer",
            Self::Function => "function",
            Self::User => "user",
        }
    }

    fn of_range(name: &str) -> Option<Self> {
        if iteration_number(name).is_some() {
            Some(Self::Profiler)
        } else if name == STAGE {
            Some(Self::Stage)
        } else if TRAINERS.contains(&name) {
            Some(Self::Trainer)
        } else {
            StepFacts::of(name).map(|_| Self::Engine)
        }
    }

    /// `vllm/v1/worker/gpu_worker.py(612): execute_model`.
    fn of_function(name: &str) -> Option<Self> {
        let file = |function: &str| Some(name.strip_suffix(function)?.strip_suffix("): ")?.rsplit_once('(')?.0);
        let is_step = |(end, function): &(&str, &str)| file(function).is_some_and(|file| file.ends_with(end));
        FUNCTIONS.iter().any(is_step).then_some(Self::Function)
    }

    /// Python functions are marked by their frames, the others by a range of the user's or of NVTX.
    fn fits(self, kind: EventKind) -> bool {
        match self {
            Self::Function => kind == EventKind::Python,
            Self::User => true,
            _ => matches!(kind, EventKind::Annotation | EventKind::Operator | EventKind::Other),
        }
    }
}

/// Owner of the ranges that mark the iterations of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IterationSource {
    /// The one that was taken; `None` without iterations.
    pub taken: Option<StepMarker>,
    /// The number of iterations that each marker would give, as [`StepMarker::ALL`].
    pub counts: [u32; StepMarker::ALL.len()],
    /// The first event of each marker.
    pub first: [Option<u32>; StepMarker::ALL.len()],
}

/// A range around a step, or at its begin.
#[derive(Debug, Clone, Copy)]
struct MarkerRange {
    row: u32,
    track: TrackId,
    start: Ts,
    end: Ts,
}

/// The ranges of each marker. None is in another one of its marker and thread, but the profiler's.
pub(super) struct StepMarkers {
    ranges: [Vec<MarkerRange>; StepMarker::ALL.len()],
}

impl StepMarkers {
    /// Finds the ranges.
    pub(super) fn find(trace: &Trace) -> Self {
        let of_name = |text| StepMarker::of_range(text).or_else(|| StepMarker::of_function(text));
        let by_name: Vec<Option<StepMarker>> = trace.strings.iter().map(of_name).collect();
        let of_user = trace.iteration_names();
        let events = &trace.events;
        let mut ranges: [Vec<MarkerRange>; StepMarker::ALL.len()] = Default::default();
        for (row, name) in events.name.iter().enumerate() {
            let is_of_user = of_user.as_ref().is_some_and(|names| names[name.index()]);
            let named = by_name[name.index()];
            if named.is_none() && !is_of_user {
                continue;
            }
            let is_it = |marker: &StepMarker| marker.fits(events.kind[row]) && !trace.is_on_device(row);
            for marker in named.into_iter().chain(is_of_user.then_some(StepMarker::User)).filter(is_it) {
                let (track, start) = (events.track.at(row), events.start.at(row));
                let end = start.after(events.dur.at(row));
                ranges[marker as usize].push(MarkerRange { row: row as u32, track, start, end });
            }
        }
        for ranges in &mut ranges[1..] {
            keep_outermost(ranges);
        }
        let of_user = &mut ranges[StepMarker::User as usize];
        if of_user.is_empty() && trace.has_iterations_by_gaps() {
            let range = |LaunchGroup { row, track, start, end }| MarkerRange { row, track, start, end };
            of_user.extend(launch_groups(trace).into_iter().map(range));
        }
        Self { ranges }
    }

    /// Rows of the ranges of a marker.
    pub(super) fn rows(&self, marker: StepMarker) -> impl Iterator<Item = u32> {
        self.ranges[marker as usize].iter().map(|range| range.row)
    }

    /// Which marker to take beside so many steps of the profiler: the first with enough ranges.
    pub(super) fn source(&self, num_profiler_steps: usize) -> IterationSource {
        let mut counts = self.ranges.each_ref().map(|ranges| ranges.len() as u32);
        counts[StepMarker::Profiler as usize] = num_profiler_steps as u32;
        let is_enough = |marker: &StepMarker| match (marker, counts[*marker as usize]) {
            (StepMarker::Engine, num) => num as usize > num_profiler_steps,
            (StepMarker::Stage, num) => num > 0 && num_profiler_steps == 0,
            (StepMarker::Trainer | StepMarker::Function, num) => num > 1 && num_profiler_steps == 0,
            (StepMarker::Profiler | StepMarker::User, _) => false,
        };
        let user = (counts[StepMarker::User as usize] > 0).then_some(StepMarker::User);
        let profiler = (num_profiler_steps > 0).then_some(StepMarker::Profiler);
        let first = self.ranges.each_ref().map(|ranges| ranges.first().map(|range| range.row));
        let taken = user.or_else(|| StepMarker::ALL.into_iter().find(is_enough)).or(profiler);
        IterationSource { taken, counts, first }
    }

    /// The iterations of a marker, by thread. Each lasts until the next one of its thread if work
    /// follows its range. The last one ends with that work, but is no longer than all others.
    pub(super) fn iterations(&self, trace: &Trace, marker: StepMarker) -> Vec<Iteration> {
        let ranges = &self.ranges[marker as usize];
        let work_end = work_ends(trace, ranges);
        let mut iterations = Vec::with_capacity(ranges.len());
        for thread in ranges.chunk_by(|range, next| range.track == next.track) {
            let first = iterations.len();
            for (at, range) in thread.iter().enumerate() {
                let next = thread.get(at + 1).map(|next| next.start);
                let end = work_end[first + at].map_or(range.end, |work| next.unwrap_or(work));
                let facts = facts(trace, range.row).unwrap_or_default();
                let number = facts.number.unwrap_or(at as i64);
                let (start, dur) = (range.start, end.since(range.start));
                iterations.push(Iteration {
                    number,
                    event: range.row,
                    start,
                    dur,
                    facts,
                    is_observed: false,
                    state: None,
                });
            }
            if let [others @ .., last] = &mut iterations[first..]
                && let Some(longest) = others.iter().map(|other| other.dur).max()
            {
                let own = thread[others.len()].end.since(last.start);
                last.dur = last.dur.min(longest.max(own));
            }
        }
        iterations
    }

    /// Adds what an engine tells to the steps of the profiler, where it has one range in each.
    pub(super) fn describe(&self, trace: &Trace, iterations: &mut [Iteration]) {
        let mut inside: Vec<Option<u32>> = vec![None; iterations.len()];
        let mut is_single = vec![true; iterations.len()];
        for range in &self.ranges[StepMarker::Engine as usize] {
            if let Some(at) = Iteration::at(iterations, range.start) {
                is_single[at] = inside[at].replace(range.row).is_none();
            }
        }
        for ((iteration, row), _) in iterations.iter_mut().zip(inside).zip(is_single).filter(|(_, single)| *single) {
            iteration.facts = row.and_then(|row| facts(trace, row)).unwrap_or_default();
        }
    }
}

fn facts(trace: &Trace, row: u32) -> Option<StepFacts> {
    StepFacts::of(trace.event_name(row as usize))
}

fn keep_outermost(ranges: &mut Vec<MarkerRange>) {
    sort::by_key(ranges, |range| (range.track, range.start, Reverse(range.end), range.row));
    ranges.dedup_by(|next, last| next.track == last.track && next.end <= last.end);
}

/// When the work ended that follows a range on its thread, before the next one; `None` without.
fn work_ends(trace: &Trace, ranges: &[MarkerRange]) -> Vec<Option<Ts>> {
    let events = &trace.events;
    let mut ends: Vec<Option<Ts>> = vec![None; ranges.len()];
    for row in events.rows_of(|kind| matches!(kind, EventKind::Operator | EventKind::Launch)) {
        let (track, start) = (events.track.at(row), events.start.at(row));
        let after = ranges.partition_point(|range| (range.track, range.start) <= (track, start));
        let Some(at) = after.checked_sub(1).filter(|at| ranges[*at].track == track) else { continue };
        if start >= ranges[at].end {
            ends[at] = ends[at].max(Some(start.after(events.dur.at(row))));
        }
    }
    ends
}
