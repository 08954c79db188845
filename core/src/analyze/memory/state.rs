//! The allocator's memory at a moment: by pool, by address, and by call stack.

use super::allocation_life::{SnapshotAllocation, lives};
use super::allocator_state::AllocatorState;
use super::holder::{self, holders};
use super::snapshot::{SnapshotDevices, measured};
use super::{layout, pool};
use crate::analyze::result::AnalysisResult;
use crate::error::{Error, ErrorKind};
use crate::memory::MemorySnapshot;

/// A moment of a snapshot's recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SnapshotMoment {
    /// When the snapshot was taken.
    End,
    /// When the device had the most in use.
    Peak,
    /// After so many actions of the file.
    After(usize),
}

impl SnapshotMoment {
    /// `end`, `peak`, `oom` (the last allocation that failed), or the row of an action, after which
    /// it is.
    fn parse(text: &str, snapshot: &MemorySnapshot) -> Result<Self, Error> {
        let num_actions = snapshot.actions.len();
        let refused = |expected: String| Err(ErrorKind::Request { expected, found: text.to_owned() }.into());
        match text {
            "end" => Ok(Self::End),
            "peak" => Ok(Self::Peak),
            "oom" => {
                let is_failure = |row: &usize| snapshot.strings.text(snapshot.actions[*row].action) == "oom";
                match (0..num_actions).rev().find(is_failure) {
                    Some(row) => Ok(Self::After(row + 1)),
                    None => refused(String::from("an allocation that failed, for the moment `oom`")),
                }
            }
            row => match row.parse::<usize>() {
                Ok(row) if row < num_actions => Ok(Self::After(row + 1)),
                _ => refused(format!("end, peak, oom or the row of one of {num_actions} actions")),
            },
        }
    }

    /// The number of actions before it, by device.
    fn num_actions(self, snapshot: &MemorySnapshot, devices: &SnapshotDevices, device: Option<i64>) -> usize {
        match self {
            Self::End => snapshot.actions.len(),
            Self::Peak => devices.get(&device).map_or(0, |row| row.num_actions_at_peak),
            Self::After(num_actions) => num_actions,
        }
    }
}

/// The memory of the allocator at a moment: `end`, `peak` (of each device), `oom` (the last
/// allocation that failed), or the row of an action, which then has happened.
///
/// Counts back from the segments at the end. A block that is freed later has the requested size,
/// rounded up to 512 bytes, and a rest that the allocator did not cut off as it was made.
///
/// ```
/// use kinetoscope::{Input, Limits, Recording, analyze::memory_state, read_file};
/// let json = br#"{"segments": [{"device": 0, "address": 512, "total_size": 2048, "blocks": []}], "device_traces": []}"#;
/// let Recording::MemorySnapshot(snapshot) = read_file(Input::new(json), Limits::default())? else { panic!() };
/// assert_eq!(memory_state(&snapshot, "peak")?.tables[0].num_rows(), 1);
/// assert!(memory_state(&snapshot, "oom").is_err());
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn memory_state(snapshot: &MemorySnapshot, moment: &str) -> Result<AnalysisResult, Error> {
    memory_state_of(snapshot, &lives(snapshot), moment)
}

/// The row of the action after which a moment is: the last of the peaks, where devices have their
/// own. `None` is before the first action.
pub(crate) fn action_of_moment(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    moment: &str,
) -> Result<Option<usize>, Error> {
    let moment = SnapshotMoment::parse(moment, snapshot)?;
    let (devices, _) = measured(snapshot, lives);
    let before = devices.iter().map(|(device, _)| moment.num_actions(snapshot, &devices, *device)).max();
    Ok(before.and_then(|num_actions| num_actions.checked_sub(1)))
}

/// The same with the allocations, for a page that asks often.
pub(crate) fn memory_state_of(
    snapshot: &MemorySnapshot,
    lives: &[SnapshotAllocation],
    moment: &str,
) -> Result<AnalysisResult, Error> {
    let moment = SnapshotMoment::parse(moment, snapshot)?;
    let (devices, _) = measured(snapshot, lives);
    let (mut pools, mut layout, mut held) = (Vec::new(), Vec::new(), Vec::new());
    for (device, _) in devices.iter() {
        let num_actions = moment.num_actions(snapshot, &devices, *device);
        let state = AllocatorState::of(snapshot, lives, *device, num_actions);
        pools.extend(pool::pools(snapshot, lives, &state));
        layout.extend(layout::layout(snapshot, lives, &state));
        held.extend(lives.iter().filter(|life| life.device == *device && life.is_after(num_actions)));
    }
    let none = "the allocator had taken no memory";
    Ok(AnalysisResult::of(&pool::TABLE, pools, none)
        .and(&layout::TABLE, layout)
        .and(&holder::TABLE, holders(snapshot, &held))
        .drawn_from(layout::TABLE.name, layout::PLOT))
}
