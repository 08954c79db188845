//! Puts the records of a pipeline's stages together.

use std::collections::BTreeMap;

use super::micro_batch::{MicroBatchRow, StageSurroundings};
use super::row::PipelineRow;
use super::schedule::PipelineSchedule;
use super::stage_record::{StageEvent, StageRecord};
use crate::analyze::statistics::median;
use crate::sort;
use crate::trace::pipeline_action::PipelinePass;

/// The stages of one pipeline.
pub(super) struct StagePipeline<'a> {
    records: &'a BTreeMap<i64, StageRecord>,
    /// The stages, in the order of the forward pass.
    stages: Vec<StageSurroundings>,
    /// The passes of all stages; none where nothing tells forward and backward passes apart.
    pub(super) passes: Vec<MicroBatchRow>,
    /// How many parts of the model each rank has.
    num_chunks: Option<i64>,
}

impl<'a> StagePipeline<'a> {
    /// A pipeline of ranks in the order of the forward pass.
    pub(super) fn of(order: &[i64], records: &'a BTreeMap<i64, StageRecord>) -> Self {
        let stages = (0..order.len()).map(|stage| StageSurroundings::of(order, stage)).collect();
        let mut pipeline = Self { records, stages, passes: Vec::new(), num_chunks: None };
        if pipeline.is_directed() {
            pipeline.num_chunks =
                pipeline.stages.first().and_then(|first| first.num_chunks(pipeline.whole_record(first)?));
            pipeline.passes = pipeline.stages.iter().flat_map(|stage| pipeline.passes_of(stage)).collect();
        } else if !pipeline.has_shortcut() {
            pipeline.num_chunks = Some(1);
        }
        if let Some(chunk) = pipeline.passes.iter().filter_map(|pass| pass.chunk).max() {
            pipeline.num_chunks = Some(chunk + 1);
        }
        pipeline
    }

    fn passes_of(&self, stage: &StageSurroundings) -> Vec<MicroBatchRow> {
        let record = self.whole_record(stage);
        record.map(|record| stage.micro_batches(record, self.num_chunks)).unwrap_or_default()
    }

    /// The record of a stage; `None` where some of its work is unknown. Where others have device
    /// work, one without any lost its own.
    fn whole_record(&self, stage: &StageSurroundings) -> Option<&'a StageRecord> {
        let has_device =
            self.stages.iter().any(|stage| self.records.get(&stage.rank).is_some_and(|one| one.has_device));
        self.records.get(&stage.rank).filter(|record| !record.has_lost_work && record.has_device == has_device)
    }

    fn events(&self, stage: &StageSurroundings) -> impl Iterator<Item = &StageEvent> {
        let record = self.records.get(&stage.rank);
        record.into_iter().flat_map(|record| &record.iterations).flat_map(|(_, events)| events)
    }

    /// Whether names or operators of autograd tell the directions of work, or all work is forward.
    fn is_directed(&self) -> bool {
        let tells = |event: &StageEvent| match event {
            StageEvent::Run(run) => run.is_backward || run.action.is_some(),
            StageEvent::Message { .. } => false,
        };
        let returns = |stage: &StageSurroundings| {
            self.events(stage).any(|event| match event {
                StageEvent::Message { is_send, peer } => stage.is_backward(*peer, *is_send),
                StageEvent::Run(_) => false,
            })
        };
        self.stages.iter().any(|stage| self.events(stage).any(tells)) || !self.stages.iter().any(returns)
    }

    /// Whether the last stage and the first exchange messages, as neighbours do.
    fn has_shortcut(&self) -> bool {
        let (Some(first), Some(last)) = (self.stages.first(), self.stages.last()) else { return false };
        let meets = |event: &StageEvent| matches!(event, StageEvent::Message { peer, .. } if *peer == last.rank);
        self.stages.len() > 2 && self.events(first).any(meets)
    }

    /// The passes of a stage in each iteration, in order; by its messages where nothing else tells.
    fn order(&self, stage: &StageSurroundings) -> Vec<Vec<PipelinePass>> {
        let Some(record) = self.whole_record(stage) else { return Vec::new() };
        if self.passes.is_empty() {
            let is_last = self.stages.last().is_some_and(|last| last.rank == stage.rank);
            let of_message = |event: &StageEvent| match event {
                StageEvent::Message { is_send, peer } => {
                    let is_backward = stage.is_backward(*peer, *is_send);
                    // The last stage gets what the others give: one message for each pass.
                    let counts = *is_send != (is_last != is_backward);
                    let pass = if is_backward { PipelinePass::Backward } else { PipelinePass::Forward };
                    counts.then_some(pass)
                }
                StageEvent::Run(_) => None,
            };
            return record.iterations.iter().map(|(_, all)| all.iter().filter_map(of_message).collect()).collect();
        }
        let mut own: BTreeMap<Option<i64>, Vec<&MicroBatchRow>> = BTreeMap::new();
        for pass in self.passes.iter().filter(|pass| pass.rank == stage.rank) {
            own.entry(pass.iteration).or_default().push(pass);
        }
        let ordered = |mut passes: Vec<&MicroBatchRow>| {
            sort::by_key(&mut passes, |pass| pass.start_ns);
            passes.into_iter().map(|pass| pass.pass).collect()
        };
        own.into_values().map(ordered).collect()
    }

    /// The stages with a trace.
    pub(super) fn rows(&self, bubble: &dyn Fn(i64) -> Option<(i64, i64)>) -> Vec<PipelineRow> {
        let last = self.stages.last().map(|last| self.order(last)).unwrap_or_default();
        let schedule = last.first().and_then(|passes| PipelineSchedule::of(passes, self.num_chunks));
        let row = |stage: &StageSurroundings| {
            let record = self.records.get(&stage.rank)?;
            let order = self.order(stage);
            let num_forward = median(order.iter().map(|passes| count(passes, PipelinePass::Forward)));
            let num_chunks = self.num_chunks.filter(|num| *num > 0 && num_forward % num == 0);
            Some(PipelineRow {
                rank: stage.rank,
                pipeline: self.stages.iter().map(|stage| stage.rank).min().unwrap_or(stage.rank),
                stage: stage.stage,
                num_stages: self.stages.len(),
                num_chunks: self.num_chunks,
                num_micro_batches: num_chunks.map(|num| num_forward / num).filter(|num| *num > 0),
                num_iterations: record.iterations.len() as i64,
                schedule,
                forward_ns: self.mean_ns(stage.rank, true),
                backward_ns: self.mean_ns(stage.rank, false),
                bubble: bubble(stage.rank),
            })
        };
        self.stages.iter().filter_map(row).collect()
    }

    /// The mean work of one pass; both parts of a backward pass count as one.
    fn mean_ns(&self, rank: i64, is_forward: bool) -> Option<i64> {
        let own = self.passes.iter().filter(|pass| pass.rank == rank);
        let own: Vec<_> = own.filter(|pass| (pass.pass == PipelinePass::Forward) == is_forward).collect();
        let num = own.iter().filter(|pass| pass.pass != PipelinePass::WeightBackward).count() as i64;
        let total = own.iter().fold(0_i64, |sum, pass| sum.saturating_add(pass.busy_ns));
        (num > 0).then(|| total / num)
    }
}

fn count(passes: &[PipelinePass], wanted: PipelinePass) -> i64 {
    passes.iter().filter(|pass| **pass == wanted).count() as i64
}
