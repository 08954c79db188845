//! Analyses of linked traces: exact in nanoseconds, total, and reproducible.

mod analysis;
mod annotation;
mod attribution;
mod breakdown;
mod captured_work;
mod class;
mod collective;
mod communication;
mod copy_bandwidth;
#[cfg(feature = "kernel-counters")]
mod counter;
mod coverage;
mod critical_path;
mod device;
mod diff;
mod event_rows;
#[cfg(feature = "machines")]
mod expert;
mod exposed_call;
mod finding;
mod flame;
#[cfg(feature = "flight-job")]
mod flight;
mod frame_names;
mod graph_node;
mod health;
mod heatmap;
mod host_wait;
mod idle;
pub mod interval;
mod job;
mod kernel;
mod kernel_class;
mod kernel_origin;
mod kernel_source;
mod launch;
mod launch_config;
mod launches;
#[cfg(feature = "machines")]
mod machine;
mod memory;
mod module;
mod named_calls;
mod number_text;
mod operator;
mod options;
mod overlap;
mod part;
mod part_request;
mod pipeline;
mod plot;
mod query;
mod queue;
mod registry;
mod resident_blocks;
mod result;
mod roofline;
mod selection;
mod selection_request;
mod sequence;
mod stack;
mod stacks;
mod statistics;
mod straggler;
mod summary;
mod summary_table;
pub(crate) mod tables;
mod tensor_core;
#[cfg(feature = "machines")]
mod topology;
mod unknown_kind;
mod unlinked_reason;
mod verdict;
mod worker;

pub use analysis::Analysis;
pub use annotation::{AnnotationRow, annotations};
pub use breakdown::{BreakdownRow, BreakdownSpan, MICRO_NS, breakdown};
pub use class::{WorkClass, classes};
pub use coverage::{IterationMatchRow, LinkCoverage, LinkedShare, coverage};
#[cfg(feature = "hta")]
pub use critical_path::critical_path_of_hta;
pub(crate) use critical_path::{BoundRow, DrawnStep, by_bound, drawn_steps, drawn_steps_of_job};
pub use critical_path::{
    CriticalPath, PathBound, PathEdge, PathGraph, PathKind, PathNode, PathRow, WhatIf, critical_path, path_rows,
};
#[cfg(feature = "python-reports")]
pub use diff::node_changes;
pub use diff::{ChangedName, changed, diff, diff_jobs, diff_parts};
#[cfg(feature = "gates")]
pub use diff::{check, gate};
pub use event_rows::{events_inside, events_within};
pub use finding::{Finding, MIN_SHARE, findings, findings_of_job};
pub(crate) use flame::{FLAMEGRAPH, changed_weight, changes as changes_of_flames};
pub use flame::{FlameRow, flame_changes, flame_changes_of_jobs, flamegraph};
#[cfg(feature = "flight-job")]
pub use flight::{FlightJob, flight_events, flight_job_tables};
pub use health::{HealthRow, health};
pub use idle::{IdleCause, IdleGap, IdleRow, KERNEL_WAIT_NS, gaps, idle};
pub(crate) use idle::{StreamPause, ThreadActivity, pause_at};
pub(crate) use job::slowest_and_typical;
#[cfg(feature = "python-reports")]
pub(crate) use job::slowest_typical_fastest;
pub use job::{Job, RankedTrace, typical_trace};
pub use kernel::{KernelRow, SHORT_NS, kernels};
pub use kernel_origin::KernelOrigin;
pub use kernel_source::{KERNEL_SOURCES, KernelSourceRow, SourceFile, kernel_file_names, kernel_sources};
pub(crate) use launch::why_unlaunched;
pub use launch_config::LaunchConfig;
pub use launches::{LaunchRow, launches};
pub use memory::{
    MemoryChange, MemoryDevice, MemoryRow, allocator_history, changes as memory_changes, memory, memory_growth,
    memory_of_snapshot, memory_of_timeline, memory_state,
};
pub use module::{ModuleRow, modules};
pub use operator::{OperatorRow, operators};
pub use options::{OptionDoc, OptionKind, Options};
pub use overlap::{CommunicationOwner, OverlapRow, overlap};
pub use part::TracePart;
pub use part_request::PartRequest;
pub use plot::{Ceiling, Plot};
pub use queue::{FULL, QueuePoint, QueueRow, points as queue_points, queue_length};
pub(crate) use registry::known_analysis;
pub use registry::{ANALYSES, analysis};
pub use result::AnalysisResult;
pub use selection::Selection;
pub use selection_request::SelectionRequest;
pub use sequence::{SequenceRow, sequences};
pub use stacks::{StackRow, stacks};
pub(crate) use summary::outline;
pub use summary::{
    DeviceRow, IterationRow, IterationTime, KindRow, MarkerRow, Summary, TOP, TimeOutline, brief_summary, summary,
};
pub use tensor_core::uses_tensor_cores;
pub use unlinked_reason::UnlinkedReason;
pub(crate) use verdict::MissingRanks;
pub use verdict::{Problem, Verdict, VerdictState, verdict};
#[cfg(feature = "python-reports")]
pub(crate) use worker::{packed, unpacked};
