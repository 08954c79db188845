//! Converts pickled values to the types of columns.

use std::sync::Arc;

use super::json::{JsonBudget, PickleJson};
use crate::error::Position;
use crate::id::{FrameId, OptionalColumn, StackId, StrId};
use crate::memory::stack::{Frame, Stacks};
use crate::read::pickle::{PickleValue, PickleValues, ValueId};
use crate::strings::Strings;
use crate::time::Ts;
use crate::warning::{WarningKind, Warnings};

/// Stands for the stack of a list without frames, so that one search is enough.
const NO_STACK: u32 = u32::MAX - 1;

/// Keys and values of a dict.
pub(super) type DictEntries<'v> = &'v [(ValueId, ValueId)];

/// Converts values to the types of columns; counts misfits.
pub(super) struct SnapshotFields<'v> {
    pub(super) values: &'v PickleValues<'v>,
    pub(super) strings: Strings,
    pub(super) stacks: Stacks,
    pub(super) warnings: Warnings,
    file: Option<Arc<str>>,
    /// The place of the row now read, in its list.
    pub(super) row: Option<u64>,
    /// The text of a str, the stack of a list, the frame of a dict: each is made once, however
    /// often it is referred to.
    made: OptionalColumn,
    /// Rows and lists of rows that were read: each is read once, so there are no more rows than
    /// values.
    taken: Vec<bool>,
    budget: JsonBudget,
}

impl<'v> SnapshotFields<'v> {
    /// Over the values of a file of so many bytes.
    pub(super) fn new(values: &'v PickleValues<'v>, file: Option<Arc<str>>, num_bytes: usize) -> Self {
        Self {
            values,
            strings: Strings::default(),
            stacks: Stacks::default(),
            warnings: Warnings::default(),
            file,
            row: None,
            made: OptionalColumn::empty(values.len()),
            taken: vec![false; values.len()],
            budget: JsonBudget::of(num_bytes),
        }
    }

    pub(super) fn warn(&mut self, kind: WarningKind) {
        let (file, event) = (&self.file, self.row);
        self.warnings.push(kind, || Position { file: file.clone(), event, ..Position::default() });
    }

    /// Whether a value was not taken before, as it is now.
    pub(super) fn take(&mut self, id: ValueId) -> bool {
        !std::mem::replace(&mut self.taken[id.index()], true)
    }

    pub(super) fn number<T: TryFrom<i128>>(&mut self, id: ValueId) -> Option<T> {
        match self.values.get(id) {
            PickleValue::None => None,
            PickleValue::Int(number) => {
                let fitting = T::try_from(*number).ok();
                if fitting.is_none() {
                    self.warn(WarningKind::InvalidNumber);
                }
                fitting
            }
            _ => self.unexpected(),
        }
    }

    pub(super) fn flag(&mut self, id: ValueId) -> Option<bool> {
        match self.values.get(id) {
            PickleValue::None => None,
            PickleValue::Bool(flag) => Some(*flag),
            _ => self.unexpected(),
        }
    }

    /// A time in whole microseconds.
    pub(super) fn time(&mut self, id: ValueId) -> Option<Ts> {
        let micros: i64 = self.number(id)?;
        let ns = micros.checked_mul(1000);
        if ns.is_none() {
            self.warn(WarningKind::InvalidNumber);
        }
        ns.map(Ts)
    }

    /// A text, or the JSON of another value.
    pub(super) fn text(&mut self, id: ValueId) -> StrId {
        let Some(text) = self.values.text(id) else { return self.json(id) };
        if let Some(made) = self.made.get(id.index()) {
            return StrId(made);
        }
        let made = self.strings.intern(text);
        self.made.set(id.index(), made.0);
        made
    }

    /// The JSON of a value; empty for None.
    pub(super) fn json(&mut self, id: ValueId) -> StrId {
        let mut out = String::new();
        if *self.values.get(id) != PickleValue::None
            && !PickleJson::new(self.values, &mut self.budget).write(id, &mut out)
        {
            self.warn(WarningKind::OversizedValue);
        }
        self.strings.intern(&out)
    }

    /// Adds an entry to a JSON object in the making, which [`close`](Self::close) ends.
    pub(super) fn keep(&mut self, key: ValueId, value: ValueId, object: &mut String) {
        let length = object.len();
        object.push(if object.is_empty() { '{' } else { ',' });
        if !PickleJson::new(self.values, &mut self.budget).write_entry(key, value, object) {
            object.truncate(length);
            self.warn(WarningKind::OversizedValue);
        }
    }

    /// The JSON object of collected fields; empty without any.
    pub(super) fn close(&mut self, mut object: String) -> StrId {
        if !object.is_empty() {
            object.push('}');
        }
        self.strings.intern(&object)
    }

    /// A list of frames, innermost first.
    pub(super) fn stack(&mut self, id: ValueId) -> Option<StackId> {
        if *self.values.get(id) == PickleValue::None {
            return None;
        }
        let Some(items) = self.values.items(id) else { return self.unexpected() };
        if let Some(made) = self.made.get(id.index()) {
            return Some(StackId(made)).filter(|stack| stack.0 != NO_STACK);
        }
        let frames: Vec<_> = items.iter().filter_map(|frame| self.frame(*frame)).collect();
        let made = self.stacks.intern(&frames);
        self.made.set(id.index(), made.map_or(NO_STACK, |stack| stack.0));
        made
    }

    fn frame(&mut self, id: ValueId) -> Option<FrameId> {
        let Some(entries) = self.values.entries(id) else {
            self.warn(WarningKind::NotAnEntry);
            return None;
        };
        if let Some(made) = self.made.get(id.index()) {
            return Some(FrameId(made));
        }
        let mut frame = Frame::default();
        let mut rest = String::new();
        for (key, value) in entries {
            match self.values.text(*key) {
                Some("name") => frame.function = self.text(*value),
                Some("filename") => frame.file = self.text(*value),
                Some("line") => frame.line = self.number(*value),
                _ => self.keep(*key, *value, &mut rest),
            }
        }
        frame.extra = self.close(rest);
        let made = self.stacks.intern_frame(frame);
        self.made.set(id.index(), made.0);
        Some(made)
    }

    fn unexpected<T>(&mut self) -> Option<T> {
        self.warn(WarningKind::UnexpectedType);
        None
    }
}
