//! Classifies device work as computation, communication, memory or other, by the names of kernels.

use crate::label::mangled_path;
use crate::link::LinkedTrace;
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;
use crate::vendor::is_kernel_of;

/// The purpose of device work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkClass {
    /// Computes.
    Computation,
    /// Exchanges data with other ranks.
    Communication,
    /// Copies or fills memory.
    Memory,
    /// Only contains or waits for other work.
    Other,
}

impl WorkClass {
    /// All classes, in the order of their codes.
    pub const ALL: [WorkClass; 4] = [Self::Computation, Self::Communication, Self::Memory, Self::Other];

    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Computation => "computation",
            Self::Communication => "communication",
            Self::Memory => "memory",
            Self::Other => "other",
        }
    }

    /// The class of a kernel by its name.
    ///
    /// ```
    /// use kinetoscope::analyze::WorkClass;
    /// assert_eq!(WorkClass::of_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)"), WorkClass::Communication);
    /// assert_eq!(WorkClass::of_kernel("sm90_xmma_gemm_bf16bf16_bf16f32"), WorkClass::Computation);
    /// ```
    pub fn of_kernel(name: &str) -> Self {
        let lower = mangled_path(name).as_deref().unwrap_or(name).to_ascii_lowercase();
        let is_named_so = is_kernel_of(&lower, |kernels| kernels.communication);
        if is_named_so && !is_kernel_of(&lower, |kernels| kernels.computation) {
            Self::Communication
        } else if is_kernel_of(&lower, |kernels| kernels.memory) {
            Self::Memory
        } else if is_kernel_of(&lower, |kernels| kernels.envelope) {
            Self::Other
        } else {
            Self::Computation
        }
    }
}

/// The class of each event by row; events other than device work are [`WorkClass::Other`].
///
/// Copies and fills (`gpu_memcpy`, `gpu_memset`) are memory. Kernels with a `Collective name` are
/// communication, as are rows of collectives that other tools than Kineto write. The name decides
/// on other kernels.
pub fn classes(linked: &LinkedTrace) -> Vec<WorkClass> {
    let (trace, events) = (&linked.trace, &linked.trace.events);
    let mut by_name = rustc_hash::FxHashMap::default();
    let producer = trace.producer();
    let mut foreign = rustc_hash::FxHashMap::default();
    let mut is_foreign_communication = |row: usize| {
        producer.is_some_and(|producer| {
            let (track, name) = (events.track.at(row), events.name.at(row));
            let text = || trace.event_name(row).to_ascii_lowercase();
            *foreign.entry((track, name)).or_insert_with(|| trace.communicates(producer, track, &text()))
        })
    };
    let mut text = String::new();
    let class = |row: usize| match events.kind[row] {
        EventKind::Copy | EventKind::Fill => WorkClass::Memory,
        EventKind::Kernel => {
            text.clear();
            if trace.args.write_text(&trace.strings, events.args(row), ArgKey::Collective, &mut text) {
                return WorkClass::Communication;
            }
            if is_foreign_communication(row) {
                return WorkClass::Communication;
            }
            *by_name.entry(events.name.at(row)).or_insert_with(|| WorkClass::of_kernel(trace.event_name(row)))
        }
        _ => WorkClass::Other,
    };
    (0..events.len()).map(class).collect()
}
