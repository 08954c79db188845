//! Bytes in use over time, by category.

use crate::time::Ts;
use crate::warning::Warnings;

/// The content of `export_memory_timeline` of `torch.profiler`: the bytes in use on one device, by
/// category.
#[derive(Debug, Clone, Default)]
pub struct MemoryTimeline {
    /// Actions on tensors in file order; empty where the file has only sizes.
    pub actions: Vec<TensorAction>,
    /// The bytes in use whenever they changed, in the order of the file.
    pub sizes: Vec<CategorySizes>,
    /// Defects survived.
    pub warnings: Warnings,
}

/// Something that happened to a tensor's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorAction {
    /// Time; `None` before the recording.
    pub time: Option<Ts>,
    /// Its type.
    pub kind: TensorActionKind,
    /// The tensor's category.
    pub category: MemoryCategory,
    /// Bytes that its category grew by.
    pub size: i64,
}

/// The bytes in use at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CategorySizes {
    /// When; `None` where the file has no time.
    pub time: Option<Ts>,
    /// Bytes of each category, in the order of [`MemoryCategory::ALL`].
    pub bytes: [i64; MemoryCategory::ALL.len()],
}

impl CategorySizes {
    /// The bytes of all categories; saturates.
    pub fn total(&self) -> i64 {
        self.bytes.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }
}

/// An action on a tensor's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorActionKind {
    /// It was there before the recording.
    Preexisting,
    /// It was allocated.
    Create,
    /// It was written to: one such action for the category before, of negative size, and one for
    /// the category after.
    IncrementVersion,
    /// It was freed.
    Destroy,
}

impl TensorActionKind {
    /// All, in the order of the file's numbers, which count from 1.
    pub const ALL: [Self; 4] = [Self::Preexisting, Self::Create, Self::IncrementVersion, Self::Destroy];

    /// A short name, `snake_case`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Preexisting => "preexisting",
            Self::Create => "create",
            Self::IncrementVersion => "increment_version",
            Self::Destroy => "destroy",
        }
    }
}

/// The category of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryCategory {
    /// A parameter of the model.
    Parameter,
    /// State of the optimizer.
    OptimizerState,
    /// An input of the model.
    Input,
    /// Scratch space of an operator.
    Temporary,
    /// Results of the forward pass kept for the backward pass.
    Activation,
    /// A gradient.
    Gradient,
    /// Other results of the backward pass.
    AutogradDetail,
    /// None of these.
    Unknown,
}

impl MemoryCategory {
    /// All, in the order of the file's numbers, which count from 0.
    pub const ALL: [Self; 8] = [
        Self::Parameter,
        Self::OptimizerState,
        Self::Input,
        Self::Temporary,
        Self::Activation,
        Self::Gradient,
        Self::AutogradDetail,
        Self::Unknown,
    ];

    /// A short name, `snake_case`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::OptimizerState => "optimizer_state",
            Self::Input => "input",
            Self::Temporary => "temporary",
            Self::Activation => "activation",
            Self::Gradient => "gradient",
            Self::AutogradDetail => "autograd_detail",
            Self::Unknown => "unknown",
        }
    }
}
