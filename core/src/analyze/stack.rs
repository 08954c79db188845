//! Numbers distinct stacks of Python frames.

use rustc_hash::FxHashMap;

use super::frame_names::FrameNames;
use crate::link::LinkedTrace;
use crate::trace::kind::EventKind;

/// The number of the stack without frames.
const EMPTY: u32 = 0;

/// Longer texts of stacks lack their outermost frames: each row has a text of its own, and a
/// hostile file may nest any number of long names.
const MAX_TEXT_BYTES: usize = 8_192;

/// A frame inside of another stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct StackFrame {
    outer: u32,
    /// The number of its name.
    name: u32,
}

/// The Python frames around events, up to the given depth.
pub(super) struct FrameStacks<'a> {
    linked: &'a LinkedTrace,
    texts: StackTexts,
    numbers: FxHashMap<StackFrame, u32>,
    /// How many frames each stack has.
    depths: Vec<u32>,
    /// The number of the whole stack that the Python frame of a row is the innermost of.
    whole: FxHashMap<u32, u32>,
    /// Of stacks that are deeper than is told apart: one of those that are alike.
    told: FxHashMap<u32, u32>,
    /// The same by the names of the frames that are told apart.
    alike: FxHashMap<Box<[u32]>, u32>,
    names: FrameNames,
}

/// Stacks by number.
#[derive(Debug, Default)]
pub(super) struct StackTexts {
    /// How many innermost frames are told apart.
    depth: usize,
    /// The innermost frame of each stack; of the empty one, any.
    frames: Vec<StackFrame>,
    /// Names of frames by number.
    names: Vec<String>,
}

impl<'a> FrameStacks<'a> {
    /// Tells apart that many frames, the innermost first.
    pub(super) fn new(linked: &'a LinkedTrace, depth: usize) -> Self {
        let frames = vec![StackFrame { outer: EMPTY, name: 0 }];
        Self {
            linked,
            texts: StackTexts { depth, frames, names: Vec::new() },
            numbers: FxHashMap::default(),
            depths: vec![0],
            whole: FxHashMap::default(),
            told: FxHashMap::default(),
            alike: FxHashMap::default(),
            names: FrameNames::default(),
        }
    }

    /// The stacks by number.
    pub(super) fn into_texts(self) -> StackTexts {
        StackTexts { names: self.names.into_texts(), ..self.texts }
    }

    /// The number of the stack of the frames around an event, or around its launch; 0 where there
    /// are none.
    pub(super) fn of(&mut self, row: usize) -> u32 {
        let Some(frame) = self.linked.frames().frame.get(row) else { return EMPTY };
        self.of_frame(frame)
    }

    /// The number of the stack that a frame is the innermost of.
    pub(super) fn of_frame(&mut self, frame: u32) -> u32 {
        let whole = self.whole(frame);
        if self.depths[whole as usize] as usize <= self.texts.depth {
            return whole;
        }
        if let Some(told) = self.told.get(&whole) {
            return *told;
        }
        let names: Box<[u32]> = self.texts.outwards(whole).map(|frame| frame.name).collect();
        let told = *self.alike.entry(names).or_insert(whole);
        self.told.insert(whole, told);
        told
    }

    /// Each frame is numbered once, after those around it.
    fn whole(&mut self, frame: u32) -> u32 {
        let around = &self.linked.frames().frame;
        let is_python = |row: u32| self.linked.trace.events.kind[row as usize] == EventKind::Python;
        let first = Some(frame).filter(|row| is_python(*row)).or_else(|| around.get(frame as usize));
        let mut unknown = Vec::new();
        let mut next = first;
        let mut outer = EMPTY;
        while let Some(row) = next {
            if let Some(number) = self.whole.get(&row) {
                outer = *number;
                break;
            }
            unknown.push(row);
            next = around.get(row as usize);
        }
        for row in unknown.into_iter().rev() {
            let name = self.linked.trace.events.name.at(row as usize);
            let name = self.names.of_event(&self.linked.trace.strings, name);
            outer = self.number(StackFrame { outer, name });
            self.whole.insert(row, outer);
        }
        outer
    }

    fn number(&mut self, frame: StackFrame) -> u32 {
        let next = self.texts.frames.len() as u32;
        let number = *self.numbers.entry(frame).or_insert(next);
        if number == next {
            self.texts.frames.push(frame);
            self.depths.push(self.depths[frame.outer as usize] + 1);
        }
        number
    }
}

impl StackTexts {
    /// The frames of a stack from the outermost inwards, one after another; of a long text the
    /// innermost, after `…`.
    pub(super) fn text(&self, number: u32, between: &str) -> String {
        let (mut names, mut num_bytes) = (Vec::new(), 0);
        for frame in self.outwards(number) {
            let name = self.names[frame.name as usize].as_str();
            num_bytes += name.len() + between.len();
            if num_bytes > MAX_TEXT_BYTES && !names.is_empty() {
                names.push("…");
                break;
            }
            names.push(name);
        }
        names.reverse();
        names.join(between)
    }

    /// The name of the innermost frame.
    pub(super) fn innermost(&self, number: u32) -> &str {
        self.outwards(number).next().map_or("", |frame| &self.names[frame.name as usize])
    }

    /// The frames of a stack that are told apart, from the innermost outwards.
    fn outwards(&self, number: u32) -> impl Iterator<Item = StackFrame> + '_ {
        let inside = |number: u32| (number != EMPTY).then_some(number);
        let numbers = std::iter::successors(inside(number), move |number| inside(self.frames[*number as usize].outer));
        numbers.map(|number| self.frames[number as usize]).take(self.depth)
    }
}
