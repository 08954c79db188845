//! Numbers and names the processes and rows of `trace_view.json`.

use rustc_hash::FxHashSet;

use crate::read::event_text::EventText;

/// A process of `trace_view.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum TraceLayer {
    /// Operators; it has the number of the program.
    Python,
    Cann,
    Hardware,
    Communication,
}

impl TraceLayer {
    fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Cann => "CANN",
            Self::Hardware => "Ascend Hardware",
            Self::Communication => "Communication",
        }
    }

    fn number(self, process: i64, device: i64) -> i64 {
        if self == Self::Python {
            return process;
        }
        let layer = self as i64 * LAYER + device.rem_euclid(LAYER);
        process.saturating_mul(PROCESS).saturating_add(layer)
    }
}

/// Devices that a layer, and numbers that a program has room for.
const LAYER: i64 = 1 << 12;
const PROCESS: i64 = 1 << 16;

/// Layers and rows that were named.
#[derive(Debug, Default)]
pub(super) struct NamedLayers {
    layers: FxHashSet<i64>,
    rows: FxHashSet<(i64, i64)>,
}

impl NamedLayers {
    /// The number of a layer, named where it comes first.
    pub(super) fn host(&mut self, events: &mut EventText, layer: TraceLayer, process: i64) -> i64 {
        self.layer(events, layer, (process, 0), "CPU")
    }

    /// The same for a layer of a device.
    pub(super) fn device(&mut self, events: &mut EventText, layer: TraceLayer, place: (i64, i64)) -> i64 {
        self.layer(events, layer, place, &format!("NPU {}", place.1))
    }

    fn layer(&mut self, events: &mut EventText, layer: TraceLayer, (process, device): (i64, i64), labels: &str) -> i64 {
        let number = layer.number(process, device);
        if self.layers.insert(number) {
            events.metadata("process_name", (number, 0), layer.name().as_bytes());
            events.labels((number, 0), labels.as_bytes());
            events.sort_index("process_sort_index", (number, 0), layer as i64);
        }
        number
    }

    /// Names a row where it comes first.
    pub(super) fn row(&mut self, events: &mut EventText, place: (i64, i64), name: impl FnOnce() -> String) {
        if self.rows.insert(place) {
            events.metadata("thread_name", place, name().as_bytes());
        }
    }
}
