//! What names and categories of events mean, told once for each text.

use crate::id::StrId;
use crate::strings::Strings;

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

/// What the name of an event says.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "a name is looked for in several lists, each for itself")]
pub(super) struct Name {
    pub(super) is_locking: bool,
    pub(super) is_blocking: bool,
    /// It puts work into a queue.
    pub(super) is_launch: bool,
    /// It records an event on a stream.
    pub(super) is_record: bool,
    pub(super) is_forward: bool,
    pub(super) is_backward: bool,
    pub(super) wait: Option<Wait>,
}

/// Waits that a file reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    StreamForEvent,
    Event,
    Stream,
    Context,
}

impl Name {
    pub(super) fn of(text: &str) -> Self {
        Self {
            is_locking: LOCKING.contains(&text),
            is_blocking: BLOCKING.contains(&text),
            is_launch: LAUNCHES.contains(&text),
            is_record: text == "cudaEventRecord",
            is_forward: text.contains("forward"),
            is_backward: text.contains("autograd"),
            wait: match text {
                "Stream Wait Event" => Some(Wait::StreamForEvent),
                "Event Sync" => Some(Wait::Event),
                "Stream Sync" => Some(Wait::Stream),
                "Context Sync" => Some(Wait::Context),
                _ => None,
            },
        }
    }

    /// Whether it is of the device, although newer files name no stream.
    pub(super) fn is_device_wait(self) -> bool {
        matches!(self.wait, Some(Wait::Event | Wait::Context))
    }
}

/// What the category of an event says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Category {
    /// It is an event to that program.
    pub(super) is_row: bool,
    /// Host events of it are nodes.
    pub(super) has_nodes: bool,
    /// Names of it tell the pass that a thread does.
    pub(super) tells_pass: bool,
}

impl Category {
    pub(super) fn of(text: &str) -> Self {
        Self {
            is_row: !matches!(text, "" | "Trace"),
            has_nodes: matches!(text, "cpu_op" | "cuda_runtime" | "cuda_driver"),
            tells_pass: matches!(text, "cpu_op" | "user_annotation"),
        }
    }
}

/// What texts mean that were asked for before.
pub(super) struct Words<'a, W> {
    strings: &'a Strings,
    tell: fn(&str) -> W,
    known: Vec<Option<W>>,
}

impl<'a, W: Copy> Words<'a, W> {
    pub(super) fn new(strings: &'a Strings, tell: fn(&str) -> W) -> Self {
        Self { strings, tell, known: vec![None; strings.len()] }
    }

    pub(super) fn of(&mut self, id: StrId) -> W {
        let tell = || (self.tell)(self.strings.text(id));
        self.known.get_mut(id.index()).map_or_else(tell, |known| *known.get_or_insert_with(tell))
    }
}
