//! Gives names to communication on devices, the same in all analyses.

use rustc_hash::FxHashMap;

use crate::link::LinkedTrace;
use crate::trace::collective::known;
use crate::vendor::{collective_word, is_communication_kernel};

/// The names of device events that communicate.
pub(super) struct CommunicationNames<'a> {
    linked: &'a LinkedTrace,
    /// Of communications that are recorded, by their rows.
    recorded: FxHashMap<u32, &'a str>,
}

impl<'a> CommunicationNames<'a> {
    pub(super) fn of(linked: &'a LinkedTrace) -> Self {
        let mut recorded = FxHashMap::default();
        for one in &linked.collectives().rows {
            let Some(name) = one.name.as_deref() else { continue };
            recorded.extend(one.device_events.iter().map(|row| (*row, name)));
        }
        Self { linked, recorded }
    }

    /// The name of the recorded collective, else a name derived from the event's name.
    pub(super) fn name(&self, row: u32) -> &'a str {
        self.recorded.get(&row).copied().unwrap_or_else(|| of_kernel(self.linked.trace.event_name(row as usize)))
    }
}

/// `ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)` gives `all_reduce`; a name without a known
/// collective loses its arguments.
fn of_kernel(name: &str) -> &str {
    let name = name.split(['(', '<']).next().unwrap_or(name);
    let word = collective_word(name).filter(|_| is_communication_kernel(name));
    word.and_then(known).map_or(name, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::of_kernel;

    #[test]
    fn kernels_that_nothing_records_are_named_by_their_names() {
        let cases = [
            ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "all_reduce"),
            ("ncclKernel_ReduceScatter_RING_LL_Sum_half(ncclWorkElem)", "reduce_scatter"),
            ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t"),
            ("ncclDevKernel_Generic(ncclDevComm*)", "ncclDevKernel_Generic"),
            ("cross_device_reduce_1stage<float, 8>(x)", "cross_device_reduce_1stage"),
        ];
        for (kernel, name) in cases {
            assert_eq!(of_kernel(kernel), name);
        }
    }
}
