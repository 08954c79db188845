//! Reads the names that pipeline schedules write around their work: `PP:2F0`, `Forward 3`.

use serde::{Deserialize, Serialize};

/// A pass of a micro-batch through a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PipelinePass {
    /// The forward pass.
    Forward,
    /// The whole backward pass.
    Backward,
    /// The backward pass for the inputs alone.
    InputBackward,
    /// The backward pass for the weights alone.
    WeightBackward,
}

impl PipelinePass {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::InputBackward => "input_backward",
            Self::WeightBackward => "weight_backward",
        }
    }
}

/// An action of a pipeline schedule that computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PipelineAction {
    /// The direction of the computation.
    pub pass: PipelinePass,
    /// The part of the model, counted over all ranks; `None` where the name has none.
    pub stage: Option<i64>,
    /// The number of the micro-batch.
    pub micro_batch: i64,
}

impl PipelineAction {
    /// The actions that a range of this name computes: one, or a forward and a backward pass that
    /// alternate. None for other names, and for actions that send, receive or gather weights.
    ///
    /// ```
    /// use kinetoscope::trace::pipeline_action::{PipelineAction, PipelinePass};
    /// let [action] = PipelineAction::all_of("PP:2F13")[..] else { panic!("one action") };
    /// assert_eq!(action, PipelineAction { pass: PipelinePass::Forward, stage: Some(2), micro_batch: 13 });
    /// assert_eq!(PipelineAction::all_of("PP:(0F1;3B0)OVERLAP_F_B").len(), 2);
    /// assert!(PipelineAction::all_of("PP:2SEND_F13").is_empty());
    /// ```
    pub fn all_of(name: &str) -> Vec<Self> {
        let plain = |pass, number: &str| Self { pass, stage: None, micro_batch: number.parse().unwrap_or(-1) };
        let is_number = |text: &str| (1..18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        for (start, pass) in [("Forward ", PipelinePass::Forward), ("Backward ", PipelinePass::Backward)] {
            if let Some(number) = name.strip_prefix(start).filter(|number| is_number(number)) {
                return vec![plain(pass, number)];
            }
        }
        let Some(action) = name.strip_prefix("PP:") else { return Vec::new() };
        let parts = action.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(action, |(parts, _)| parts);
        let of_stage = |part: &str| {
            let letter = part.find(|c: char| !c.is_ascii_digit())?;
            let (stage, rest) = part.split_at(letter);
            let pass = match rest.as_bytes().first()? {
                b'F' => PipelinePass::Forward,
                b'B' => PipelinePass::Backward,
                b'I' => PipelinePass::InputBackward,
                b'W' => PipelinePass::WeightBackward,
                _ => return None,
            };
            let number = &rest[1..];
            let is_known = is_number(stage) && is_number(number);
            is_known.then(|| Self { stage: stage.parse().ok(), ..plain(pass, number) })
        };
        parts.split(';').filter_map(|part| of_stage(part.trim())).take(2).collect()
    }
}
