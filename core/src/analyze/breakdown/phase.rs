//! Sums the iterations of each phase of a serving engine.

use super::row::BreakdownRow;
use super::span::BreakdownSpan;
use crate::table::{Column, Table, float, int, put_name, text};
use crate::trace::step_name::{Phase, StepFacts};

/// The iterations of one phase on one device. Sums are missing where an iteration does not tell.
#[derive(Debug, Clone)]
pub(crate) struct PhaseRow {
    phase: Phase,
    device: Option<i64>,
    num_iterations: i64,
    num_requests: Option<u64>,
    num_context_tokens: Option<u64>,
    num_generated_tokens: Option<u64>,
    /// Of all iterations.
    times: BreakdownRow,
}

pub(crate) static TABLE: Table<Vec<PhaseRow>> = Table {
    name: "phases",
    doc: "the iterations of one phase of a serving engine on one device",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<PhaseRow>>] = &[
    text("phase", |rows, at, out| put_name(out, rows[at].phase.name())),
    int("device", |rows, at| rows[at].device),
    int("num_iterations", |rows, at| Some(rows[at].num_iterations)),
    int("num_requests", |rows, at| signed(rows[at].num_requests)),
    int("num_context_tokens", |rows, at| signed(rows[at].num_context_tokens)),
    int("num_generated_tokens", |rows, at| signed(rows[at].num_generated_tokens)),
    int("first_token_ns", |rows, at| rows[at].first_token_ns()),
    int("output_token_ns", |rows, at| rows[at].output_token_ns()),
    float("tokens_per_s", |rows, at| rows[at].tokens_per_s()),
    int("span_ns", |rows, at| Some(rows[at].times.span_ns)),
    int("compute_ns", |rows, at| Some(rows[at].times.compute_ns)),
    int("exposed_communication_ns", |rows, at| Some(rows[at].times.exposed_communication_ns)),
    int("exposed_copy_ns", |rows, at| Some(rows[at].times.exposed_copy_ns)),
    int("exposed_other_ns", |rows, at| Some(rows[at].times.exposed_other_ns)),
    int("idle_ns", |rows, at| Some(rows[at].times.idle_ns)),
    int("unknown_ns", |rows, at| Some(rows[at].times.unknown_ns)),
];

/// A number that a name states; a larger one than a column of the report holds is unknown.
fn signed(number: Option<u64>) -> Option<i64> {
    i64::try_from(number?).ok()
}

impl PhaseRow {
    fn of(phase: Phase, facts: &StepFacts, times: BreakdownRow) -> Self {
        Self {
            phase,
            device: times.device,
            num_iterations: 1,
            num_requests: facts.num_requests,
            num_context_tokens: facts.context.num_tokens,
            num_generated_tokens: facts.generation.num_tokens,
            times,
        }
    }

    fn add(&mut self, other: &Self) {
        let sum = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
        self.num_iterations += 1;
        self.num_requests = sum(self.num_requests, other.num_requests);
        self.num_context_tokens = sum(self.num_context_tokens, other.num_context_tokens);
        self.num_generated_tokens = sum(self.num_generated_tokens, other.num_generated_tokens);
        self.times.add(&other.times);
    }

    /// A prompt that is read in one iteration has its first token at the end of it.
    fn first_token_ns(&self) -> Option<i64> {
        matches!(self.phase, Phase::Prefill | Phase::Mixed).then(|| self.times.span_ns / self.num_iterations)
    }

    /// A request gets one token in an iteration. How many proposed ones are accepted is unknown.
    fn output_token_ns(&self) -> Option<i64> {
        matches!(self.phase, Phase::Decode | Phase::Mixed).then(|| self.times.span_ns / self.num_iterations)
    }

    fn tokens_per_s(&self) -> Option<f64> {
        let tokens = match self.phase {
            Phase::Prefill => self.num_context_tokens?,
            Phase::Mixed => self.num_context_tokens?.saturating_add(self.num_generated_tokens?),
            Phase::Decode | Phase::Draft | Phase::Verify => self.num_generated_tokens?,
        };
        (self.times.span_ns > 0).then(|| tokens as f64 * 1e9 / self.times.span_ns as f64)
    }
}

/// The rows of all spans, by phase and device; those of no phase are left out. `rows` has one for
/// each span and device.
pub(super) fn phases(spans: &[BreakdownSpan], rows: &[BreakdownRow]) -> Vec<PhaseRow> {
    let per_span = rows.len() / spans.len().max(1);
    let mut found: Vec<PhaseRow> = Vec::new();
    for (span, rows) in spans.iter().zip(rows.chunks(per_span.max(1))) {
        let Some(phase) = span.facts.phase else { continue };
        for row in rows {
            let row = PhaseRow::of(phase, &span.facts, *row);
            match found.iter_mut().find(|known| (known.phase, known.device) == (row.phase, row.device)) {
                Some(known) => known.add(&row),
                None => found.push(row),
            }
        }
    }
    crate::sort::by_key(&mut found, |row| (row.phase, row.device));
    found
}
