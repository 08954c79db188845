//! Tells pipeline schedules apart by the order of passes.

use crate::trace::pipeline_action::PipelinePass;

/// The order in which a stage computes the passes of micro-batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PipelineSchedule {
    /// All forward passes, then all backward passes.
    GPipe,
    /// One forward pass and one backward pass in turn.
    OneForwardOneBackward,
    /// Several parts of the model on each rank.
    Interleaved,
    /// The backward pass in two parts, for inputs and for weights.
    ZeroBubble,
    /// No backward pass.
    ForwardOnly,
}

impl PipelineSchedule {
    /// The schedule of a pipeline by the passes of its last stage in one iteration.
    pub(super) fn of(passes: &[PipelinePass], num_chunks: Option<i64>) -> Option<Self> {
        let is_split = |pass: &PipelinePass| matches!(pass, PipelinePass::InputBackward | PipelinePass::WeightBackward);
        if passes.is_empty() {
            return None;
        }
        if passes.iter().any(is_split) {
            return Some(Self::ZeroBubble);
        }
        if num_chunks? > 1 {
            return Some(Self::Interleaved);
        }
        let Some(backward) = passes.iter().position(|pass| *pass != PipelinePass::Forward) else {
            return Some(Self::ForwardOnly);
        };
        let returns = passes[backward..].contains(&PipelinePass::Forward);
        Some(if returns { Self::OneForwardOneBackward } else { Self::GPipe })
    }

    /// Its name in tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::GPipe => "gpipe",
            Self::OneForwardOneBackward => "1f1b",
            Self::Interleaved => "interleaved",
            Self::ZeroBubble => "zero_bubble",
            Self::ForwardOnly => "forward_only",
        }
    }

    /// Whether stages of equal length wait only while the pipeline fills and drains.
    pub(super) fn fills_evenly(self) -> bool {
        self != Self::ZeroBubble
    }
}
