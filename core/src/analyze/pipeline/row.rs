//! One row per stage of a pipeline: schedule, times of passes, and the bubble.

use super::schedule::PipelineSchedule;
use crate::table::{Column, Table, float, int, put_name, text};

/// A rank as a stage of a pipeline.
#[derive(Debug, Clone)]
pub(crate) struct PipelineRow {
    pub(super) rank: i64,
    /// The smallest rank of its pipeline.
    pub(super) pipeline: i64,
    pub(super) stage: usize,
    pub(super) num_stages: usize,
    pub(super) num_chunks: Option<i64>,
    pub(super) num_micro_batches: Option<i64>,
    pub(super) num_iterations: i64,
    pub(super) schedule: Option<PipelineSchedule>,
    /// Mean work of one forward pass and of one backward pass.
    pub(super) forward_ns: Option<i64>,
    pub(super) backward_ns: Option<i64>,
    /// Bubble and whole time of the pipeline.
    pub(super) bubble: Option<(i64, i64)>,
}

pub(crate) static TABLE: Table<Vec<PipelineRow>> = Table {
    name: "pipeline",
    doc: "one rank as a stage of a pipeline: its schedule, the times of its passes, and the bubble",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<PipelineRow>>] = &[
    int("pipeline", |rows, at| Some(rows[at].pipeline)),
    int("stage", |rows, at| i64::try_from(rows[at].stage).ok()),
    int("rank", |rows, at| Some(rows[at].rank)),
    int("num_stages", |rows, at| i64::try_from(rows[at].num_stages).ok()),
    int("num_chunks", |rows, at| rows[at].num_chunks),
    int("num_micro_batches", |rows, at| rows[at].num_micro_batches),
    int("num_iterations", |rows, at| Some(rows[at].num_iterations)),
    text("schedule", |rows, at, out| rows[at].schedule.is_some_and(|schedule| put_name(out, schedule.name()))),
    int("mean_forward_ns", |rows, at| rows[at].forward_ns),
    int("mean_backward_ns", |rows, at| rows[at].backward_ns),
    int("span_ns", |rows, at| Some(rows[at].bubble?.1)),
    int("bubble_ns", |rows, at| Some(rows[at].bubble?.0)),
    float("bubble_share", |rows, at| {
        let (bubble_ns, span_ns) = rows[at].bubble?;
        (span_ns > 0).then(|| bubble_ns as f64 / span_ns as f64)
    }),
    float("ideal_bubble_share", |rows, at| rows[at].ideal_bubble_share()),
];

impl PipelineRow {
    /// `(p − 1) / (m·v + p − 1)` for `p` stages, `m` micro-batches and `v` parts of the model on
    /// each rank: the bubble of stages that all take the same time.
    fn ideal_bubble_share(&self) -> Option<f64> {
        self.schedule.filter(|schedule| schedule.fills_evenly())?;
        let empty = (self.num_stages as f64) - 1.0;
        let passes = self.num_micro_batches? as f64 * self.num_chunks? as f64;
        Some(empty / (passes + empty))
    }
}
