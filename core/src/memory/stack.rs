//! Call stacks, stored once each.

use std::hash::Hasher as _;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use crate::id::{FrameId, StackId, StrId};

/// A place in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Frame {
    /// The function (`name`).
    pub function: StrId,
    /// The source file (`filename`).
    pub file: StrId,
    /// The line in it (`line`).
    pub line: Option<i64>,
    /// The other keys as a JSON object; empty where there are none.
    pub extra: StrId,
}

/// Distinct call stacks in the order of first sight, innermost frame first.
#[derive(Debug, Clone, Default)]
pub struct Stacks {
    frames: Vec<Frame>,
    frame_ids: FxHashMap<Frame, FrameId>,
    /// Frames of all stacks, one stack after another.
    members: Vec<FrameId>,
    ends: Vec<usize>,
    stack_ids: HashTable<u32>,
}

impl Stacks {
    /// The id of a frame, which is added when it is new.
    pub fn intern_frame(&mut self, frame: Frame) -> FrameId {
        *self.frame_ids.entry(frame).or_insert_with(|| {
            self.frames.push(frame);
            FrameId::from(self.frames.len() - 1)
        })
    }

    /// The id of a stack, which is added when it is new; `None` when it has no frames.
    pub fn intern(&mut self, stack: &[FrameId]) -> Option<StackId> {
        if stack.is_empty() {
            return None;
        }
        let (members, ends) = (&self.members, &self.ends);
        if let Some(id) = self.stack_ids.find(hash(stack), |id| slice(members, ends, *id) == stack) {
            return Some(StackId(*id));
        }
        self.members.extend(stack);
        self.ends.push(self.members.len());
        let (members, ends) = (&self.members, &self.ends);
        let id = ends.len() as u32 - 1;
        self.stack_ids.insert_unique(hash(stack), id, |id| hash(slice(members, ends, *id)));
        Some(StackId(id))
    }

    /// How many stacks there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many frames all stacks have together.
    pub fn num_members(&self) -> usize {
        self.members.len()
    }

    /// All distinct frames, by id.
    pub fn all_frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The ids of the frames of a stack, innermost first; none of one that there is not.
    pub fn frame_ids(&self, stack: StackId) -> &[FrameId] {
        if stack.index() < self.ends.len() { slice(&self.members, &self.ends, stack.0) } else { &[] }
    }

    /// The frames of a stack, innermost first; none of one that there is not.
    pub fn frames(&self, stack: StackId) -> impl Iterator<Item = Frame> {
        self.frame_ids(stack).iter().map(|frame| self.frames[frame.index()])
    }

    /// A frame among those of all stacks: the stack, how far it is from the innermost frame, and
    /// the frame.
    pub fn member(&self, row: usize) -> (StackId, usize, Frame) {
        let stack = self.ends.partition_point(|end| *end <= row);
        let start = if stack == 0 { 0 } else { self.ends[stack - 1] };
        (StackId::from(stack), row - start, self.frames[self.members[row].index()])
    }
}

fn slice<'a>(members: &'a [FrameId], ends: &[usize], id: u32) -> &'a [FrameId] {
    let start = if id == 0 { 0 } else { ends[id as usize - 1] };
    &members[start..ends[id as usize]]
}

fn hash(stack: &[FrameId]) -> u64 {
    let mut hasher = FxHasher::default();
    stack.iter().for_each(|frame| hasher.write_u32(frame.0));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_share_an_id_and_know_their_members() {
        let mut stacks = Stacks::default();
        let [outer, inner] = [1, 2].map(|line| stacks.intern_frame(Frame { line: Some(line), ..Frame::default() }));
        assert_eq!(stacks.intern_frame(Frame { line: Some(1), ..Frame::default() }), outer);
        let long = stacks.intern(&[inner, outer]);
        let short = stacks.intern(&[outer]);
        assert_eq!(stacks.intern(&[inner, outer]), long);
        assert_eq!((long, short, stacks.intern(&[])), (Some(StackId(0)), Some(StackId(1)), None));
        let members: Vec<_> = (0..stacks.num_members()).map(|row| stacks.member(row)).collect();
        let seen: Vec<_> = members.iter().map(|(stack, depth, frame)| (stack.0, *depth, frame.line)).collect();
        assert_eq!(seen, [(0, 0, Some(2)), (0, 1, Some(1)), (1, 0, Some(1))]);
    }
}
