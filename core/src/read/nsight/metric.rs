//! Converts sampled metrics of GPUs to counters.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::export_state::ExportState;
use super::row::SqlRow;
use super::row_kind::RowKind;
use crate::time::Ts;

/// Metrics by their numbers, and GPUs by the number that metrics know them by.
#[derive(Debug, Default)]
pub(super) struct MetricNames {
    names: FxHashMap<(i64, i64), Arc<[u8]>>,
    gpus: FxHashMap<i64, i64>,
}

/// The bits of a metric's type that hold its GPU.
const GPU_BITS: i64 = 0xFF;

/// More metrics have no names.
const MAX_NAMES: usize = 100_000;

pub(super) const DEVICE: RowKind = RowKind {
    table: "TARGET_INFO_GPU",
    takes: &["id", "cuDevice", "pwGpuId"],
    has_rest: false,
    write: |row, state| {
        let [id, cuda, known_as] = row.taken();
        // Without this table, events have the numbers of CUDA.
        let gpu = if state.known.places.gpus.is_empty() { cuda.integer().or(id.integer()) } else { id.integer() };
        if let (Some(gpu), Some(known_as)) = (gpu, known_as.integer()) {
            state.known.metrics.gpus.insert(known_as, gpu);
        }
    },
};

pub(super) const NAME: RowKind = RowKind {
    table: "TARGET_INFO_GPU_METRICS",
    takes: &["typeId", "metricId", "metricName"],
    has_rest: false,
    write: |row, state| {
        let [kind, metric, name] = row.taken();
        let name = name.name(&mut state.known.names);
        let (Some(kind), Some(metric)) = (kind.integer(), metric.integer()) else { return };
        if !name.is_empty() && state.known.metrics.names.len() < MAX_NAMES {
            state.known.metrics.names.insert((kind, metric), name);
        }
    },
};

pub(super) const SAMPLE: RowKind = RowKind {
    table: "GPU_METRICS",
    takes: &["timestamp", "typeId", "metricId", "value"],
    has_rest: false,
    write: sample,
};

fn sample(row: &SqlRow<'_>, state: &mut ExportState) {
    let [time, kind, metric, value] = row.taken();
    let (kind, metric) = (kind.integer().unwrap_or(0), metric.integer().unwrap_or(0));
    let (time, known_as) = (time.integer(), kind & GPU_BITS);
    state.element(|event, known| {
        let MetricNames { names, gpus } = &known.metrics;
        event.text("ph", b"C");
        match names.get(&(kind, metric)) {
            Some(name) => event.text("name", name),
            None => event.text("name", format!("metric {metric}").as_bytes()),
        }
        let gpu = gpus.get(&known_as).copied().unwrap_or(known_as);
        event.text("pid", format!("GPU {gpu} Counters").as_bytes());
        if let Some(time) = time {
            event.micros("ts", Ts(time));
        }
        event.object("args", |args| value.write_plain("", args));
    });
}
