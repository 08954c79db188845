//! Classifies event names and categories, once per distinct text.

/// Calls that take the runtime's lock.
const LOCKING: [&str; 3] = ["cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"];
/// Calls that may wait for the device.
const BLOCKING: [&str; 6] = [
    "cudaDeviceSynchronize",
    "cudaStreamSynchronize",
    "cudaEventQuery",
    "cudaEventSynchronize",
    "cudaMemcpy",
    "cudaMemcpyAsync",
];
/// Calls that put work into a queue.
const LAUNCHES: [&str; 12] = [
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cudaMemcpyAsync",
    "cudaMemsetAsync",
    "MTIA runFunction",
    "hipLaunchKernel",
    "hipExtModuleLaunchKernel",
    "hipMemsetAsync",
    "hipMemcpyAsync",
    "hipMemcpyWithStream",
];

/// Facts that the name of an event states.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "a name is looked for in several lists, each for itself")]
pub(super) struct NameFacts {
    pub(super) is_locking: bool,
    pub(super) is_blocking: bool,
    /// It puts work into a queue.
    pub(super) is_launch: bool,
    /// It records an event on a stream.
    pub(super) is_record: bool,
    pub(super) is_forward: bool,
    pub(super) is_backward: bool,
    pub(super) wait: Option<HtaWait>,
}

/// Waits that a file reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HtaWait {
    StreamForEvent,
    Event,
    Stream,
    Context,
}

impl NameFacts {
    pub(super) fn of(text: &str) -> Self {
        Self {
            is_locking: LOCKING.contains(&text),
            is_blocking: BLOCKING.contains(&text),
            is_launch: LAUNCHES.contains(&text),
            is_record: text == "cudaEventRecord",
            is_forward: text.contains("forward"),
            is_backward: text.contains("autograd"),
            wait: match text {
                "Stream Wait Event" => Some(HtaWait::StreamForEvent),
                "Event Sync" => Some(HtaWait::Event),
                "Stream Sync" => Some(HtaWait::Stream),
                "Context Sync" => Some(HtaWait::Context),
                _ => None,
            },
        }
    }

    /// Whether it is of the device, although newer files name no stream.
    pub(super) fn is_device_wait(self) -> bool {
        matches!(self.wait, Some(HtaWait::Event | HtaWait::Context))
    }
}

/// Facts that the category of an event states.
#[derive(Debug, Clone, Copy)]
pub(super) struct CategoryFacts {
    /// It is an event to that program.
    pub(super) is_row: bool,
    /// Host events of it are nodes.
    pub(super) has_nodes: bool,
    /// Names of it tell the pass that a thread does.
    pub(super) tells_pass: bool,
}

impl CategoryFacts {
    pub(super) fn of(text: &str) -> Self {
        Self {
            is_row: !matches!(text, "" | "Trace"),
            has_nodes: matches!(text, "cpu_op" | "cuda_runtime" | "cuda_driver"),
            tells_pass: matches!(text, "cpu_op" | "user_annotation"),
        }
    }
}
