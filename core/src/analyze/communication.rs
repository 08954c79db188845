//! Gives names to communication on devices, the same in all analyses.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::label::Label;
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
    pub(super) fn name(&self, row: u32) -> Cow<'a, str> {
        let recorded = self.recorded.get(&row).map(|name| Cow::Borrowed(*name));
        recorded.unwrap_or_else(|| of_kernel(self.linked.trace.event_name(row as usize)))
    }
}

/// `ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)` gives `all_reduce`; a name without a known
/// collective gives its label.
fn of_kernel(name: &str) -> Cow<'_, str> {
    let head = name.split(['(', '<']).next().unwrap_or(name);
    let word = collective_word(head).filter(|_| is_communication_kernel(head));
    match word.and_then(known) {
        Some((name, _)) => Cow::Borrowed(name),
        None => match Label::of(name).telling {
            // A function of C has no scope by which to tell it from a sentence.
            whole if whole == name && !head.trim().is_empty() => Cow::Borrowed(head),
            short => short,
        },
    }
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
            ("void vllm::cross_device_reduce_1stage<float, 8>(vllm::RankData*)", "cross_device_reduce_1stage"),
            ("cross_device_reduce_1stage<float, 8>(float*)", "cross_device_reduce_1stage"),
            (
                "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(int)",
                "multimem_all_reduce_kernel",
            ),
            ("void dpsk::ep::internode::dispatch<false, 8>(int4*, long*)", "internode::dispatch"),
            ("void deep_ep::intranode::combine<__nv_bfloat16, (int)8>(T1 *, float *)", "intranode::combine"),
        ];
        for (kernel, name) in cases {
            assert_eq!(of_kernel(kernel), name);
        }
    }
}
