//! Tells the phases of training in the actions of a snapshot, by their stacks.

use super::allocation_life::{SnapshotAllocation, SnapshotDevice};
use crate::id::StackId;
use crate::memory::MemorySnapshot;
use crate::memory::stack::Frame;
use crate::memory::timeline::MemoryCategory;
use crate::sorted_map::SortedMap;

/// The phase of training in which a stack runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StackPhase {
    /// Makes or moves a module.
    Setup,
    /// Any other program, as the forward pass.
    Forward,
    Backward,
    Optimizer,
}

/// Functions of `torch/nn/modules` that make parameters, or move them to a device.
const SETUP: [&str; 4] = ["__init__", "_apply", "reset_parameters", "to"];

impl StackPhase {
    /// The phase that a frame means: of the engine of autograd, of `torch/optim`, of the making of
    /// a module, or of a program.
    fn of(snapshot: &MemorySnapshot, frame: &Frame) -> Option<Self> {
        let text = |id| snapshot.strings.text(id);
        let (function, file) = (text(frame.function), text(frame.file));
        if function.starts_with("torch::autograd::Engine::") {
            return Some(Self::Backward);
        }
        let mut folders = file.split(['/', '\\']);
        if !folders.any(|folder| folder == "torch") {
            let is_python = file.rsplit_once('.').is_some_and(|(_, ending)| ending == "py");
            return is_python.then_some(Self::Forward);
        }
        match folders.next() {
            Some("optim") => Some(Self::Optimizer),
            Some("nn") if folders.next() == Some("modules") && SETUP.contains(&function) => Some(Self::Setup),
            _ => None,
        }
    }
}

/// Actions of a device in one phase. Between this run and the next lie actions of no known phase.
#[derive(Debug, Clone, Copy)]
struct PhaseRun {
    phase: StackPhase,
    /// The first and the last action.
    start: usize,
    end: usize,
}

/// The phases of each device, in the order of actions.
pub(super) struct TrainingRuns {
    /// By stack: that of its innermost frame that has one.
    phases: Vec<Option<StackPhase>>,
    devices: SortedMap<SnapshotDevice, Vec<PhaseRun>>,
}

impl TrainingRuns {
    pub(super) fn of(snapshot: &MemorySnapshot, lives: &[SnapshotAllocation]) -> Self {
        let stacks = &snapshot.stacks;
        let by_frame: Vec<_> = stacks.all_frames().iter().map(|frame| StackPhase::of(snapshot, frame)).collect();
        let of_stack = |stack| stacks.frame_ids(stack).iter().find_map(|frame| by_frame[frame.index()]);
        let phases = (0..stacks.len()).map(|stack| of_stack(StackId::from(stack))).collect();
        let devices = SortedMap::of(snapshot.actions.iter().map(|action| action.device));
        let mut runs = Self { phases, devices };
        // A recording without stacks of releases gives them those of their allocations.
        let has_own_stack = |life: &SnapshotAllocation| {
            // Of memory from before the recording, only the release has a stack.
            life.first.and(life.released).is_some_and(|released| snapshot.actions[released].stack != life.stack)
        };
        let has_own_stacks = lives.iter().any(has_own_stack);
        let mut by_action = vec![None; snapshot.actions.len()];
        for life in lives {
            if let Some(first) = life.first {
                by_action[first] = runs.phase(life.stack);
            }
            if let Some(released) = life.released.filter(|_| has_own_stacks) {
                by_action[released] = runs.phase(snapshot.actions[released].stack);
            }
        }
        for (at, action) in snapshot.actions.iter().enumerate() {
            let (Some(phase), Some(runs)) = (by_action[at], runs.devices.get_mut(&action.device)) else { continue };
            match runs.last_mut() {
                Some(last) if last.phase == phase => last.end = at,
                _ => runs.push(PhaseRun { phase, start: at, end: at }),
            }
        }
        runs
    }

    fn phase(&self, stack: Option<StackId>) -> Option<StackPhase> {
        self.phases.get(stack?.index()).copied().flatten()
    }

    /// Where the backward passes of a device begin.
    pub(super) fn backward_starts(&self, device: SnapshotDevice) -> Vec<usize> {
        let runs = self.devices.get(&device).into_iter().flatten();
        runs.filter(|run| run.phase == StackPhase::Backward).map(|run| run.start).collect()
    }

    /// Sets the categories of allocations.
    pub(super) fn categorize(&self, lives: &mut [SnapshotAllocation]) {
        lives.iter_mut().for_each(|life| life.category = self.category(life));
    }

    /// The purpose of an allocation, as far as its stack and its lifetime tell.
    fn category(&self, life: &SnapshotAllocation) -> MemoryCategory {
        let Some(phase) = self.phase(life.stack) else { return MemoryCategory::Unknown };
        let freed = life.released.or(life.last);
        match (phase, freed) {
            (StackPhase::Setup, None) => return MemoryCategory::Parameter,
            (StackPhase::Optimizer, None) => return MemoryCategory::OptimizerState,
            _ => {}
        }
        let runs = self.devices.get(&life.device).map(Vec::as_slice).unwrap_or_default();
        let known = life.first.and_then(|first| runs.partition_point(|run| run.start <= first).checked_sub(1));
        let Some((own, later)) = known.and_then(|at| runs[at..].split_first()) else { return MemoryCategory::Unknown };
        let is_freed_before =
            |next: Option<&PhaseRun>| freed.is_some_and(|freed| next.is_none_or(|run| freed < run.start));
        let is_freed_inside = freed.is_some_and(|freed| freed <= own.end);
        match phase {
            StackPhase::Backward if is_freed_inside => MemoryCategory::AutogradDetail,
            // Freed after the last action that is known to be of the pass: maybe after its end.
            StackPhase::Backward if later.is_empty() || is_freed_before(later.first()) => MemoryCategory::Unknown,
            StackPhase::Backward => MemoryCategory::Gradient,
            StackPhase::Optimizer if !later.is_empty() && is_freed_before(later.first()) => MemoryCategory::Temporary,
            // Without stacks of the pass, activations look like temporary memory.
            StackPhase::Forward => match later {
                [pass, ..] if pass.phase != StackPhase::Backward => MemoryCategory::Unknown,
                [pass, ..] if is_freed_before(Some(pass)) => MemoryCategory::Temporary,
                [_, after @ ..] if is_freed_before(after.first()) => MemoryCategory::Activation,
                _ => MemoryCategory::Unknown,
            },
            _ => MemoryCategory::Unknown,
        }
    }
}
