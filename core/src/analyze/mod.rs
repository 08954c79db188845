//! Answers about a linked trace: exact in nanoseconds, total (no input gives an empty answer), the same every time.

mod afar;
mod analysis;
mod annotation;
mod attribution;
mod breakdown;
mod chosen;
mod class;
mod collective;
mod communication;
mod concurrency;
mod copy_bandwidth;
mod coverage;
mod critical_path;
mod device;
mod diff;
mod finding;
mod gpu_timeline;
mod health;
mod idle;
pub mod interval;
mod job;
mod kernel;
mod kernel_class;
mod launch;
mod launches;
mod memory;
mod module;
mod operator;
mod options;
mod overlap;
mod priority;
mod queue;
mod ran;
mod reason;
mod roofline;
mod screen;
mod selection;
mod sequence;
mod stack;
mod stacks;
mod statistics;
mod straggler;
mod summary;
mod tensor_core;
mod words;

pub use analysis::{Analysis, Answer, Ceiling, Plot};
pub use annotation::{AnnotationRow, annotations};
pub use breakdown::{BreakdownRow, MICRO_NS, Span, breakdown};
pub use chosen::{events_inside, events_within};
pub use class::{Class, classes};
pub use coverage::{Coverage, Share, WindowRow, coverage};
pub use critical_path::{
    Bound, CriticalPath, PathEdge, PathGraph, PathKind, PathNode, PathRow, WhatIf, critical_path, critical_path_of_hta,
    path_rows,
};
pub(crate) use critical_path::{BoundRow, DrawnStep, by_bound, drawn_steps, drawn_steps_of_job};
pub use diff::{Changed, changed, diff, diff_jobs};
pub use finding::{Finding, MIN_SHARE, findings, findings_of_job};
pub use health::{HealthRow, health};
pub(crate) use idle::{Doing, Pause, pause_at};
pub use idle::{Gap, IdleRow, KERNEL_WAIT_NS, Wait, gaps, idle};
pub use job::{Job, RankedTrace};
pub use kernel::{KernelRow, SHORT_NS, kernels};
pub(crate) use launch::why_unlaunched;
pub use launches::{LaunchRow, launches};
pub use memory::{
    MemoryChange, MemoryDevice, MemoryRow, changes as memory_changes, memory, memory_of_snapshot, memory_of_timeline,
};
pub use module::{ModuleRow, modules};
pub use operator::{OperatorRow, operators};
pub use options::{OptionDoc, OptionKind, Options};
pub use overlap::{OverlapRow, overlap};
pub use queue::{FULL, QueuePoint, QueueRow, points as queue_points, queue_length};
pub use ran::Ran;
pub use reason::Reason;
pub use selection::{Selection, Wanted};
pub use sequence::{SequenceRow, sequences};
pub use stacks::{StackRow, stacks};
pub(crate) use summary::outline;
pub use summary::{DeviceRow, IterationRow, IterationTime, KindRow, Outline, Summary, TOP, brief_summary, summary};
pub use tensor_core::uses_tensor_cores;

use crate::error::Error;

/// All analyses, by their names.
pub const ANALYSES: &[&Analysis] = &[
    &screen::SUMMARY,
    &breakdown::BREAKDOWN,
    &overlap::OVERLAP,
    &operator::OPERATORS,
    &module::MODULES,
    &annotation::ANNOTATIONS,
    &stacks::STACKS,
    &kernel::KERNELS,
    &launches::LAUNCHES,
    &queue::QUEUE_LENGTH,
    &copy_bandwidth::COPY_BANDWIDTH,
    &idle::IDLE,
    &collective::COLLECTIVES,
    &straggler::STRAGGLERS,
    &critical_path::CRITICAL_PATH,
    &critical_path::JOB_CRITICAL_PATH,
    &sequence::SEQUENCES,
    &memory::MEMORY,
    &finding::FINDINGS,
    &roofline::ROOFLINE,
];

/// The analysis of that name. An error says which there are.
pub fn analysis(name: &str) -> Result<&'static Analysis, Error> {
    ANALYSES.iter().copied().find(|analysis| analysis.name == name).ok_or_else(|| {
        let names: Vec<_> = ANALYSES.iter().map(|analysis| analysis.name).collect();
        options::unlike(&format!("one of the analyses {names:?}"), name)
    })
}
