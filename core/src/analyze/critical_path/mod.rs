//! Finds the critical path: the longest chain of dependencies.

mod backward_graph;
mod bound;
mod device;
mod drawn;
mod graph;
mod host;
#[cfg(feature = "hta")]
mod hta;
pub(super) mod job_path;
mod leg;
mod longest;
mod path;
mod route;
pub(super) mod row;
mod wait;
mod walk;
mod what_if;

use super::analysis::{Analysis, Run};
use super::options::{OptionDoc, OptionKind, Options};
use super::plot::Plot;
pub use bound::PathBound;
pub(crate) use drawn::{DrawnStep, drawn_steps, drawn_steps_of_job};
pub use graph::{PathEdge, PathGraph, PathKind, PathNode};
#[cfg(feature = "hta")]
pub use hta::critical_path_of_hta;
pub(super) use job_path::JOB_CRITICAL_PATH;
pub use path::{CriticalPath, critical_path};
pub(crate) use row::{BoundRow, by_bound};
pub use row::{PathRow, rows as path_rows};
pub use what_if::WhatIf;

/// The longest chain of dependencies.
pub(super) static CRITICAL_PATH: Analysis = Analysis {
    name: "critical_path",
    doc: "longest dependency chain through host calls, launches, kernels and waits; estimates the effect of faster \
             events",
    options: &[
        OptionDoc {
            name: "what_if",
            doc: "text in event names: recompute the path with scaled durations of the matching events",
            kind: OptionKind::Text,
        },
        OptionDoc {
            name: "factor",
            doc: "factor for the durations of the matching events; 0.5 means twice as fast",
            kind: OptionKind::Number(1.0),
        },
        #[cfg(feature = "hta")]
        OptionDoc {
            name: "like",
            doc: "graph model: that of Kinetoscope or that of HolisticTraceAnalysis",
            kind: OptionKind::Choice(&["kinetoscope", "hta"]),
        },
        #[cfg(feature = "hta")]
        OptionDoc {
            name: "without_last",
            doc: "with like=hta: exclude the last iteration first, as HolisticTraceAnalysis does",
            kind: OptionKind::Flag,
        },
    ],
    run: Run::Trace(|selection, options: &Options| {
        #[cfg(feature = "hta")]
        let path = match options.choice("like") {
            "hta" => critical_path_of_hta(selection, options.flag("without_last")),
            _ => critical_path(selection),
        };
        #[cfg(not(feature = "hta"))]
        let path = critical_path(selection);
        let what_if = WhatIf::of(selection, &path, options.text("what_if"), options.number("factor"));
        row::answer(selection, path, what_if).drawn(Plot::Bars { label: "name", parts: &["dur_ns"] })
    }),
};
