//! Sums the operations of calls.

use super::row::CallWork;
use crate::analyze::device::Peaks;
use crate::time::add_ns;

/// The operations of calls with a known cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct OperationSum {
    pub flops: i64,
    pub bytes: i64,
    /// Time of the calls whose operations are known.
    pub counted_ns: i64,
    /// The time for all operations at their peaks; none where one of these is unknown.
    pub compute_ns: Option<f64>,
}

impl Default for OperationSum {
    fn default() -> Self {
        Self { flops: 0, bytes: 0, counted_ns: 0, compute_ns: Some(0.0) }
    }
}

impl OperationSum {
    pub(super) fn add(&mut self, work: &CallWork, ns: i64, peaks: Option<&Peaks>) {
        self.bytes = self.bytes.saturating_add(work.cost.bytes);
        let Some(flops) = work.flops() else { return };
        add_ns(&mut self.counted_ns, ns);
        self.flops = self.flops.saturating_add(flops);
        if work.cost.flops > 0 && work.precision.is_some() {
            self.compute_ns = self.compute_ns.zip(work.compute_ns(peaks)).map(|(sum, ns)| sum + ns);
        }
    }
}
