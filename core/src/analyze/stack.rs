//! Stacks of Python frames, each distinct one with a number.

use rustc_hash::FxHashMap;

use crate::id::StrId;
use crate::link::LinkedTrace;
use crate::trace::kind::EventKind;

/// The Python frames around events, as far as they are told apart.
pub(super) struct Stacks<'a> {
    linked: &'a LinkedTrace,
    depth: usize,
    /// Frames from the innermost outwards, by the number of the stack.
    frames: Vec<Vec<StrId>>,
    numbers: FxHashMap<Vec<StrId>, u32>,
    /// The number of the stack that a frame is the innermost of.
    known: FxHashMap<u32, u32>,
}

impl<'a> Stacks<'a> {
    /// Tells apart that many frames, the innermost first.
    pub(super) fn new(linked: &'a LinkedTrace, depth: usize) -> Self {
        let mut stacks =
            Self { linked, depth, frames: Vec::new(), numbers: FxHashMap::default(), known: FxHashMap::default() };
        stacks.number(Vec::new());
        stacks
    }

    /// The number of the stack of the frames around an event, or around its launch; 0 where there are none.
    pub(super) fn of(&mut self, row: usize) -> u32 {
        let Some(frame) = self.linked.frames().frame.get(row) else { return 0 };
        self.of_frame(frame)
    }

    /// The number of the stack that a frame is the innermost of.
    pub(super) fn of_frame(&mut self, frame: u32) -> u32 {
        if let Some(number) = self.known.get(&frame) {
            return *number;
        }
        let (events, nesting) = (&self.linked.trace.events, &self.linked.links.nesting);
        let outwards = std::iter::successors(Some(frame), |row| nesting.parent.get(*row as usize));
        let frames = outwards.filter(|row| events.kind[*row as usize] == EventKind::Python);
        let names: Vec<_> = frames.take(self.depth).map(|row| events.name[row as usize]).collect();
        let number = self.number(names);
        self.known.insert(frame, number);
        number
    }

    /// The frames of a stack from the outermost inwards, one after another.
    pub(super) fn text(&self, number: u32, between: &str) -> String {
        let names = self.frames[number as usize].iter().rev().map(|name| self.linked.trace.strings.text(*name));
        names.collect::<Vec<_>>().join(between)
    }

    fn number(&mut self, names: Vec<StrId>) -> u32 {
        if let Some(number) = self.numbers.get(&names) {
            return *number;
        }
        let number = self.frames.len() as u32;
        self.frames.push(names.clone());
        self.numbers.insert(names, number);
        number
    }
}
