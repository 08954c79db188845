//! Assigns the runs of a stage to micro-batches and passes.

use std::collections::BTreeMap;

use super::stage_record::{StageEvent, StageRecord, StageRun};
use crate::sort;
use crate::table::{Column, Table, int, put_name, text};
use crate::trace::pipeline_action::PipelinePass;

/// One pass of one micro-batch through a stage.
#[derive(Debug, Clone, Copy)]
pub(super) struct MicroBatchRow {
    pub(super) rank: i64,
    /// Place of the rank in its pipeline.
    pub(super) stage: usize,
    /// Which of the rank's parts of the model; `None` if not known.
    pub(super) chunk: Option<i64>,
    pub(super) iteration: Option<i64>,
    /// The number of the micro-batch; `None` if not known.
    pub(super) micro_batch: Option<i64>,
    pub(super) pass: PipelinePass,
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
    pub(super) busy_ns: i64,
}

pub(super) static TABLE: Table<Vec<MicroBatchRow>> = Table {
    name: "micro_batches",
    doc: "one pass of one micro-batch through a stage of a pipeline",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<MicroBatchRow>>] = &[
    int("rank", |rows, at| Some(rows[at].rank)),
    int("stage", |rows, at| i64::try_from(rows[at].stage).ok()),
    int("chunk", |rows, at| rows[at].chunk),
    int("iteration", |rows, at| rows[at].iteration),
    int("micro_batch", |rows, at| rows[at].micro_batch),
    text("pass", |rows, at, out| put_name(out, rows[at].pass.name())),
    int("start_ns", |rows, at| Some(rows[at].start_ns)),
    int("end_ns", |rows, at| Some(rows[at].end_ns)),
    int("busy_ns", |rows, at| Some(rows[at].busy_ns)),
];

/// A stage with its neighbours, which tell its passes apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct StageSurroundings {
    pub(super) rank: i64,
    pub(super) stage: usize,
    /// The ranks before and after it in the order of the forward pass.
    pub(super) previous: Option<i64>,
    pub(super) next: Option<i64>,
}

impl StageSurroundings {
    /// The ranks around a stage. Those of three or more may form a ring, where each rank has
    /// several parts of the model.
    pub(super) fn of(order: &[i64], stage: usize) -> Self {
        let (last, is_ring) = (order.len().saturating_sub(1), order.len() > 2);
        let at = |place: usize| order.get(place).copied();
        let previous = if stage == 0 && is_ring { at(last) } else { stage.checked_sub(1).and_then(at) };
        let next = if stage == last && is_ring { at(0) } else { at(stage + 1) };
        Self { rank: order[stage], stage, previous, next }
    }

    /// The passes of a rank, which has so many parts of the model if no names tell.
    pub(super) fn micro_batches(&self, record: &StageRecord, num_chunks: Option<i64>) -> Vec<MicroBatchRow> {
        let is_named = record.iterations.iter().flat_map(|(_, events)| events).any(has_action);
        let shortest = shortest_passes(record);
        let of_iteration = |own: &(Option<i64>, Vec<StageEvent>)| {
            if is_named { self.named(own.0, &own.1) } else { self.unnamed(own, shortest, num_chunks == Some(1)) }
        };
        let mut rows: Vec<MicroBatchRow> = record.iterations.iter().flat_map(of_iteration).collect();
        if is_named {
            set_chunks(&mut rows);
        }
        rows
    }

    fn row(&self, iteration: Option<i64>, run: StageRun, pass: PipelinePass) -> MicroBatchRow {
        MicroBatchRow {
            rank: self.rank,
            stage: self.stage,
            chunk: None,
            iteration,
            micro_batch: None,
            pass,
            start_ns: run.start_ns,
            end_ns: run.end_ns,
            busy_ns: run.busy_ns,
        }
    }

    /// Passes that ranges of the host name; the chunk is the part of the model, for now.
    fn named(&self, iteration: Option<i64>, events: &[StageEvent]) -> Vec<MicroBatchRow> {
        let of_run = |event: &StageEvent| {
            let StageEvent::Run(run) = event else { return None };
            let action = run.action?;
            let row = self.row(iteration, *run, action.pass);
            Some(MicroBatchRow { chunk: action.stage.or(Some(0)), micro_batch: Some(action.micro_batch), ..row })
        };
        events.iter().filter_map(of_run).collect()
    }

    /// Passes by the messages around them. Work is one only if it follows a message of its
    /// direction or one follows it, and if it is not much shorter than most: preparations and
    /// optimizers are none.
    fn unnamed(
        &self,
        (iteration, events): &(Option<i64>, Vec<StageEvent>),
        shortest: [i64; 2],
        is_one: bool,
    ) -> Vec<MicroBatchRow> {
        let mut counts: BTreeMap<PipelinePass, i64> = BTreeMap::new();
        let row = |(run, pass): (StageRun, PipelinePass)| {
            let count = counts.entry(pass).or_default();
            *count += 1;
            MicroBatchRow {
                chunk: is_one.then_some(0),
                micro_batch: is_one.then_some(*count - 1),
                ..self.row(*iteration, run, pass)
            }
        };
        self.passes(events, shortest).into_iter().map(row).collect()
    }

    /// How many parts of the model the first stage has. All its backward passes receive a message,
    /// and its forward passes but those of the first part. `None` if iterations differ.
    pub(super) fn num_chunks(&self, record: &StageRecord) -> Option<i64> {
        let shortest = shortest_passes(record);
        let of_iteration = |(_, events): &(Option<i64>, Vec<StageEvent>)| {
            let passes = self.passes(events, shortest);
            let num_forward = passes.iter().filter(|(_, pass)| *pass == PipelinePass::Forward).count() as i64;
            let num_backward = passes.len() as i64 - num_forward;
            let num_received = events.iter().filter(|event| is_receive(event)).count() as i64;
            let num_first = num_forward - (num_received - num_backward);
            let divides = num_first > 0 && num_forward % num_first == 0;
            (num_forward > 0).then(|| divides.then(|| num_forward / num_first))
        };
        let mut found = record.iterations.iter().filter_map(of_iteration);
        let first = found.next()??;
        found.all(|other| other == Some(first)).then_some(first)
    }

    /// Runs that are passes, with their directions.
    fn passes(&self, events: &[StageEvent], shortest: [i64; 2]) -> Vec<(StageRun, PipelinePass)> {
        let mut passes: Vec<(StageRun, PipelinePass)> = Vec::new();
        // Per direction, forward and backward: messages that no pass has taken, as some are
        // requested early; and a run that is a pass if a message follows.
        let mut num_received = [0_usize; 2];
        let mut waiting: [Option<StageRun>; 2] = [None; 2];
        let pass = |direction: usize| [PipelinePass::Forward, PipelinePass::Backward][direction];
        for event in events {
            match event {
                StageEvent::Message { is_send: false, peer } => {
                    num_received[usize::from(self.is_backward(*peer, false))] += 1;
                }
                StageEvent::Message { is_send: true, peer } => {
                    let direction = usize::from(self.is_backward(*peer, true));
                    passes.extend(waiting[direction].take().map(|run| (run, pass(direction))));
                }
                StageEvent::Run(run) => {
                    let direction = usize::from(run.is_backward);
                    if run.busy_ns < shortest[direction] {
                        continue;
                    }
                    if num_received[direction] > 0 {
                        num_received[direction] -= 1;
                        waiting[direction] = None;
                        passes.push((*run, pass(direction)));
                    } else {
                        waiting[direction] = Some(*run);
                    }
                }
            }
        }
        sort::by_key(&mut passes, |(run, _)| (run.start_ns, run.end_ns));
        passes
    }

    /// Whether a message belongs to the backward pass.
    pub(super) fn is_backward(&self, peer: i64, is_send: bool) -> bool {
        let (forward, backward) = if is_send { (self.next, self.previous) } else { (self.previous, self.next) };
        Some(peer) == backward && Some(peer) != forward
    }
}

/// A run that works for less than this part of the usual one is no pass.
const MIN_PART: i64 = 10;

/// The shortest passes of each direction, forward and backward.
fn shortest_passes(record: &StageRecord) -> [i64; 2] {
    [false, true].map(|is_backward| {
        let of_event = |event: &StageEvent| match event {
            StageEvent::Run(run) if run.is_backward == is_backward => Some(run.busy_ns),
            _ => None,
        };
        let mut busy: Vec<i64> = record.iterations.iter().flat_map(|(_, events)| events).filter_map(of_event).collect();
        sort::ascending(&mut busy);
        busy.get(busy.len() * 3 / 4).map_or(0, |usual| usual / MIN_PART)
    })
}

fn is_receive(event: &StageEvent) -> bool {
    matches!(event, StageEvent::Message { is_send: false, .. })
}

fn has_action(event: &StageEvent) -> bool {
    matches!(event, StageEvent::Run(StageRun { action: Some(_), .. }))
}

/// Numbers the parts of the model that a rank has.
fn set_chunks(rows: &mut [MicroBatchRow]) {
    let parts = sort::distinct(rows.iter().filter_map(|row| row.chunk));
    for row in rows {
        row.chunk = row.chunk.and_then(|part| parts.binary_search(&part).ok()?.try_into().ok());
    }
}
