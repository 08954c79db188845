//! Links kernels of CUDA and HIP graphs with the calls that captured them.
//!
//! The kernels of a graph share one launch, which has no operator of theirs. The capture has the
//! operators and their launches; these have no device work. A capture is in the same file, or in
//! another one.

mod capture;
mod launch_view;
mod name_search;
mod pairing;
mod replay;

pub(super) use capture::captures;
pub(crate) use launch_view::LaunchView;
pub(super) use pairing::captured;
pub(crate) use replay::ReplayedGraph;
pub(super) use replay::replays;

use super::link_method::LinkMethod;

/// A kernel, copy or fill of a graph with the call that captured it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CapturedKernel {
    /// Its row.
    pub kernel: u32,
    /// Row of the call in the trace of the capture.
    pub launch: u32,
    /// How it was found.
    pub how: LinkMethod,
    /// How sure it is, from 0 to 1: less where several captures fit.
    pub confidence: f32,
}

impl CapturedKernel {
    /// The same where captures of other files fit as well.
    pub(crate) fn one_of_several(self) -> Self {
        Self { confidence: self.confidence * ALIKE, ..self }
    }

    /// Whether it is sure enough that the call had these inputs.
    pub fn has_inputs(&self) -> bool {
        self.confidence >= SURE
    }
}

/// How sure a link is that tells inputs.
const SURE: f32 = 0.85;

/// How sure one of several captures is with the same operators, whose inputs may differ.
const ALIKE: f32 = 0.8;
