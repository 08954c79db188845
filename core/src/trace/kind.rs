//! Derives the kind of an event from its category.

use serde::{Deserialize, Serialize};

use crate::id::StrId;
use crate::strings::Strings;

/// Whether an event is an operator of `torch.autograd.profiler_legacy`, which puts all of them in
/// one process and gives them no category.
pub(crate) fn is_legacy_operator(strings: &Strings, category: StrId, process: StrId) -> bool {
    category == StrId::EMPTY && strings.text(process) == "CPU functions"
}

/// The kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum EventKind {
    /// A `PyTorch` operator on the host (`cpu_op`).
    Operator,
    /// A host call of the device's runtime or driver (`cuda_runtime`, `cuda_driver`).
    Launch,
    /// One execution of device code (`kernel`).
    Kernel,
    /// A copy on a device (`gpu_memcpy`).
    Copy,
    /// A fill on a device (`gpu_memset`).
    Fill,
    /// A wait that the device reports (`cuda_sync`).
    Sync,
    /// A range that the user named (`user_annotation`, `gpu_user_annotation`).
    Annotation,
    /// A Python frame (`python_function`).
    Python,
    /// Time that the profiler itself took (`overhead`).
    Overhead,
    /// Anything else.
    Other,
}

impl EventKind {
    /// All kinds, in the order of their codes.
    pub const ALL: [EventKind; 10] = [
        Self::Operator,
        Self::Launch,
        Self::Kernel,
        Self::Copy,
        Self::Fill,
        Self::Sync,
        Self::Annotation,
        Self::Python,
        Self::Overhead,
        Self::Other,
    ];

    /// The name used in tables and requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Launch => "launch",
            Self::Kernel => "kernel",
            Self::Copy => "copy",
            Self::Fill => "fill",
            Self::Sync => "sync",
            Self::Annotation => "annotation",
            Self::Python => "python",
            Self::Overhead => "overhead",
            Self::Other => "other",
        }
    }

    /// Whether the device does work for it: a kernel, copy or fill.
    pub fn is_device_work(self) -> bool {
        matches!(self, Self::Kernel | Self::Copy | Self::Fill)
    }
}

/// The kind and the side of a category, in any of the spellings since 2020 (`Operator`, `cpu_op`,
/// …).
///
/// ```
/// use kinetoscope::{EventKind, category_kind};
/// assert_eq!(category_kind("cpu_op"), (EventKind::Operator, false));
/// assert_eq!(category_kind("Memcpy"), (EventKind::Copy, true));
/// ```
pub fn category_kind(category: &str) -> (EventKind, bool) {
    let lower = category.to_ascii_lowercase();
    match lower.as_str() {
        "cpu_op" | "operator" | "cpu_instant_event" => (EventKind::Operator, false),
        // A graph that was traced as a whole is one execution of device code.
        "kernel" | "mtia_ccp_events" | "concurrent_kernel" | "cuda_graph" => (EventKind::Kernel, true),
        "gpu_memcpy" | "memcpy" => (EventKind::Copy, true),
        "gpu_memset" | "memset" => (EventKind::Fill, true),
        "cuda_sync" | "gpu_sync" | "xpu_sync" => (EventKind::Sync, true),
        "gpu_user_annotation" => (EventKind::Annotation, true),
        "cuda_profiler_range" => (EventKind::Other, true),
        "user_annotation" => (EventKind::Annotation, false),
        "python_function" => (EventKind::Python, false),
        "overhead" => (EventKind::Overhead, false),
        "runtime" => (EventKind::Launch, false),
        other if other.ends_with("_runtime") || other.ends_with("_driver") => (EventKind::Launch, false),
        _ => (EventKind::Other, false),
    }
}
