//! Numbers distinct stacks of Python frames.

use rustc_hash::FxHashMap;

use crate::id::StrId;
use crate::label::without_addresses;
use crate::link::LinkedTrace;
use crate::trace::kind::EventKind;

/// The number of the stack without frames.
const EMPTY: u32 = 0;

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
    depth: usize,
    /// The innermost frame of each stack; of the empty one, any.
    frames: Vec<StackFrame>,
    numbers: FxHashMap<StackFrame, u32>,
    /// The number of the whole stack that the Python frame of a row is the innermost of.
    whole: FxHashMap<u32, u32>,
    /// The number of the distinguished part of a stack.
    told: FxHashMap<u32, u32>,
    names: FrameNames,
}

impl<'a> FrameStacks<'a> {
    /// Tells apart that many frames, the innermost first.
    pub(super) fn new(linked: &'a LinkedTrace, depth: usize) -> Self {
        let frames = vec![StackFrame { outer: EMPTY, name: 0 }];
        let (numbers, whole, told) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        Self { linked, depth, frames, numbers, whole, told, names: FrameNames::default() }
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
        if let Some(told) = self.told.get(&whole) {
            return *told;
        }
        let mut inwards: Vec<u32> = self.outwards(whole).take(self.depth).map(|frame| frame.name).collect();
        inwards.reverse();
        let told = inwards.into_iter().fold(EMPTY, |outer, name| self.number(StackFrame { outer, name }));
        self.told.insert(whole, told);
        told
    }

    /// The frames of a stack from the outermost inwards, one after another.
    pub(super) fn text(&self, number: u32, between: &str) -> String {
        let mut names: Vec<_> = self.outwards(number).map(|frame| self.names.text(frame.name)).collect();
        names.reverse();
        names.join(between)
    }

    /// The name of the innermost frame.
    pub(super) fn innermost(&self, number: u32) -> &str {
        self.outwards(number).next().map_or("", |frame| self.names.text(frame.name))
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
            let name = self.names.of(&self.linked.trace.strings, self.linked.trace.events.name[row as usize]);
            outer = self.number(StackFrame { outer, name });
            self.whole.insert(row, outer);
        }
        outer
    }

    /// The frames of a stack from the innermost outwards.
    fn outwards(&self, number: u32) -> impl Iterator<Item = StackFrame> + '_ {
        let inside = |number: u32| (number != EMPTY).then_some(number);
        let numbers = std::iter::successors(inside(number), move |number| inside(self.frames[*number as usize].outer));
        numbers.map(|number| self.frames[number as usize])
    }

    fn number(&mut self, frame: StackFrame) -> u32 {
        let next = self.frames.len() as u32;
        let number = *self.numbers.entry(frame).or_insert(next);
        if number == next {
            self.frames.push(frame);
        }
        number
    }
}

/// Names of frames. Where an object lives changes from call to call, so names that differ in that
/// alone are one.
#[derive(Debug, Default)]
struct FrameNames {
    known: FxHashMap<StrId, u32>,
    numbers: FxHashMap<String, u32>,
    texts: Vec<String>,
}

impl FrameNames {
    fn of(&mut self, strings: &crate::strings::Strings, name: StrId) -> u32 {
        if let Some(number) = self.known.get(&name) {
            return *number;
        }
        let text = without_addresses(strings.text(name)).into_owned();
        let next = self.texts.len() as u32;
        let number = *self.numbers.entry(text.clone()).or_insert(next);
        if number == next {
            self.texts.push(text);
        }
        self.known.insert(name, number);
        number
    }

    fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }
}
