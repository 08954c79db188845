//! Kinds of events.

use serde::{Deserialize, Serialize};

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
    #[inline]
    pub fn is_device_work(self) -> bool {
        matches!(self, Self::Kernel | Self::Copy | Self::Fill)
    }
}
