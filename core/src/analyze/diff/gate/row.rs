//! A metric in both sides of a gate, with the verdict.

use super::noise::NoisyChange;
use crate::table::{Column, Table, boolean, float, int, put, put_name, text};

/// One metric with the verdict on it.
#[derive(Debug, Clone)]
pub(crate) struct GateRow {
    /// As it is asked for; with a name in place of `*`.
    pub(super) metric: String,
    pub(super) unit: &'static str,
    /// None if a run lacks the metric.
    pub(super) change: Option<NoisyChange>,
    pub(super) threshold: f64,
    pub(super) num_runs: [usize; 2],
    pub(super) num_iterations: [usize; 2],
    /// Why the change is unknown.
    pub(super) reason: &'static str,
    /// Whether the gate passes then.
    pub(super) may_be_unknown: bool,
    /// On recordings that are not complete.
    pub(super) caveat: String,
}

/// The verdict on a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GateStatus {
    Worse,
    Better,
    Same,
    Noisy,
    Unknown,
}

impl GateStatus {
    fn name(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Same => "same",
            Self::Noisy => "noisy",
            Self::Unknown => "unknown",
        }
    }
}

impl GateRow {
    pub(super) fn status(&self) -> GateStatus {
        let Some(change) = self.change else { return GateStatus::Unknown };
        let Some(noise) = change.noise else { return GateStatus::Unknown };
        let (size, limit) = (change.change(), self.threshold * change.before.abs());
        if size > limit {
            if size > noise { GateStatus::Worse } else { GateStatus::Noisy }
        } else if -size > limit.max(noise) {
            GateStatus::Better
        } else {
            GateStatus::Same
        }
    }

    fn share(&self, value: impl Fn(&NoisyChange) -> Option<f64>) -> Option<f64> {
        let change = self.change.as_ref()?;
        Some(value(change)? / change.before).filter(|share| share.is_finite())
    }

    pub(super) fn change_share(&self) -> Option<f64> {
        self.share(|change| Some(change.change()))
    }

    pub(super) fn noise_share(&self) -> Option<f64> {
        self.share(|change| change.noise)
    }

    fn note(&self) -> String {
        let notes = [self.remark(), self.caveat.clone()];
        notes.into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; ")
    }

    fn remark(&self) -> String {
        let [before, after] = self.num_runs;
        match self.status() {
            GateStatus::Unknown if !self.reason.is_empty() => self.reason.to_owned(),
            GateStatus::Unknown => String::from("cannot judge one iteration: record at least 10, or several runs"),
            GateStatus::Noisy if before + after > 2 => format!("{NOISY}: add runs of each side"),
            GateStatus::Noisy => match self.more_iterations() {
                Some(num @ 0..=MANY) => format!("{NOISY}: record about {num} iterations"),
                _ => format!("{NOISY}: compare several runs of each side"),
            },
            GateStatus::Worse if before + after == 2 => String::from(ALONE),
            GateStatus::Same if self.noise_share() > Some(BLIND) => String::from(HIDDEN),
            _ => String::new(),
        }
    }

    /// As many as shrink the noise to the change: it falls with their square root.
    fn more_iterations(&self) -> Option<u64> {
        let (change, few) = (self.change?, *self.num_iterations.iter().min()?);
        let ratio = change.noise? / change.change().abs();
        Some((few as f64 * ratio * ratio * 1.2).ceil().clamp(2.0, 1e9) as u64)
    }
}

const NOISY: &str = "beyond the threshold, but within the noise";
const ALONE: &str = "runs may differ by more than their iterations: compare several runs of each side";

const HIDDEN: &str = "the noise hides even large changes: record more iterations, or more runs";

/// A noise of so much of the value before says nearly nothing.
const BLIND: f64 = 0.5;

/// More iterations are seldom recorded.
const MANY: u64 = 1000;

/// Rounded to an integer.
fn whole(value: Option<f64>) -> Option<i64> {
    value.map(|value| value.round() as i64)
}

pub(crate) static TABLE: Table<Vec<GateRow>> = Table {
    name: "gate",
    doc: "a metric: its change, the threshold, the noise, and the verdict",
    num_rows: Vec::len,
    columns: COLUMNS,
};

const COLUMNS: &[Column<Vec<GateRow>>] = &[
    text("metric", |rows, at, out| put_name(out, &rows[at].metric)),
    text("status", |rows, at, out| put_name(out, rows[at].status().name())),
    boolean("is_failing", |rows, at| match rows[at].status() {
        GateStatus::Unknown => rows[at].may_be_unknown.then_some(false),
        status => Some(status == GateStatus::Worse),
    }),
    text("unit", |rows, at, out| put_name(out, rows[at].unit)),
    int("before_value", |rows, at| whole(rows[at].change.map(|change| change.before))),
    int("after_value", |rows, at| whole(rows[at].change.map(|change| change.after))),
    int("change_value", |rows, at| whole(rows[at].change.map(|change| change.change()))),
    float("change_share", |rows, at| rows[at].change_share()),
    float("threshold_share", |rows, at| Some(rows[at].threshold)),
    float("noise_share", |rows, at| rows[at].noise_share()),
    float("p_value", |rows, at| rows[at].change?.p_value),
    int("num_before_runs", |rows, at| Some(rows[at].num_runs[0] as i64)),
    int("num_after_runs", |rows, at| Some(rows[at].num_runs[1] as i64)),
    int("num_before_iterations", |rows, at| Some(rows[at].num_iterations[0] as i64)),
    int("num_after_iterations", |rows, at| Some(rows[at].num_iterations[1] as i64)),
    text("note", |rows, at, out| put(out, &rows[at].note())),
];
