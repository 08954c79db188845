//! Converts pickled values to the types of columns.

use std::sync::Arc;

use super::json::{JsonBudget, PickleJson};
use super::value::{PickleValue, PickleValues, ValueId};
use crate::column::OptionalColumn;
use crate::error::Position;
use crate::id::{FrameId, StackId, StrId};
use crate::memory::stack::{Frame, Stacks};
use crate::strings::Strings;
use crate::time::Ts;
use crate::warning::{WarningKind, Warnings};

/// Stands for the stack of a list without frames, so that one search is enough.
const NO_STACK: u32 = u32::MAX - 1;

/// So many milliseconds fit 64 bits of nanoseconds.
const MAX_MILLIS: f64 = 9e12;

/// Keys and values of a dict.
pub(in crate::read) type DictEntries<'v> = &'v [(ValueId, ValueId)];

/// Converts values to the types of columns; counts misfits.
pub(in crate::read) struct PickleFields<'v> {
    pub(in crate::read) values: &'v PickleValues<'v>,
    pub(in crate::read) strings: Strings,
    pub(in crate::read) stacks: Stacks,
    pub(in crate::read) warnings: Warnings,
    file: Option<Arc<str>>,
    /// The place of the row now read, in its list.
    pub(in crate::read) row: Option<u64>,
    /// The text of a str, the stack of a list, the frame of a dict: each is made once, however
    /// often it is referred to.
    made: OptionalColumn,
    /// Rows and lists of rows that were read: each is read once, so there are no more rows than
    /// values.
    taken: Vec<bool>,
    budget: JsonBudget,
}

impl<'v> PickleFields<'v> {
    /// Over the values of a file of so many bytes.
    pub(in crate::read) fn new(values: &'v PickleValues<'v>, file: Option<Arc<str>>, num_bytes: usize) -> Self {
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

    pub(in crate::read) fn warn(&mut self, kind: WarningKind) {
        let (file, event) = (&self.file, self.row);
        self.warnings.push(kind, || Position { file: file.clone(), event, ..Position::default() });
    }

    /// Whether a value was not taken before, as it is now.
    pub(in crate::read) fn take(&mut self, id: ValueId) -> bool {
        !std::mem::replace(&mut self.taken[id.index()], true)
    }

    pub(in crate::read) fn number<T: TryFrom<i128>>(&mut self, id: ValueId) -> Option<T> {
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

    pub(in crate::read) fn flag(&mut self, id: ValueId) -> Option<bool> {
        match self.values.get(id) {
            PickleValue::None => None,
            PickleValue::Bool(flag) => Some(*flag),
            _ => self.unexpected(),
        }
    }

    /// A time in whole microseconds.
    pub(in crate::read) fn time(&mut self, id: ValueId) -> Option<Ts> {
        let micros: i64 = self.number(id)?;
        let ns = micros.checked_mul(1000);
        if ns.is_none() {
            self.warn(WarningKind::InvalidNumber);
        }
        ns.map(Ts)
    }

    /// A text, or the JSON of another value.
    pub(in crate::read) fn text(&mut self, id: ValueId) -> StrId {
        let Some(text) = self.values.text(id) else { return self.json(id) };
        if let Some(made) = self.made.get(id.index()) {
            return StrId(made);
        }
        let made = self.strings.intern(text);
        self.made.set(id.index(), made.0);
        made
    }

    /// The JSON of a value; empty for None.
    pub(in crate::read) fn json(&mut self, id: ValueId) -> StrId {
        let mut out = String::new();
        if *self.values.get(id) != PickleValue::None
            && !PickleJson::new(self.values, &mut self.budget).write(id, &mut out)
        {
            self.warn(WarningKind::OversizedValue);
        }
        self.strings.intern(&out)
    }

    /// Adds an entry to a JSON object in the making, which [`close`](Self::close) ends.
    pub(in crate::read) fn keep(&mut self, key: ValueId, value: ValueId, object: &mut String) {
        let length = object.len();
        object.push(if object.is_empty() { '{' } else { ',' });
        if !PickleJson::new(self.values, &mut self.budget).write_entry(key, value, object) {
            object.truncate(length);
            self.warn(WarningKind::OversizedValue);
        }
    }

    /// The JSON object of collected fields; empty without any.
    pub(in crate::read) fn close(&mut self, mut object: String) -> StrId {
        if !object.is_empty() {
            object.push('}');
        }
        self.strings.intern(&object)
    }

    /// A list of frames, innermost first.
    pub(in crate::read) fn stack(&mut self, id: ValueId) -> Option<StackId> {
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

    /// A whole number, or one in a text.
    pub(in crate::read) fn number_or_text<T: TryFrom<i128>>(&mut self, id: ValueId) -> Option<T> {
        match self.values.text(id).map(str::parse::<i128>) {
            Some(Ok(number)) => T::try_from(number).ok(),
            _ => self.number(id),
        }
    }

    /// A time or a duration in whole nanoseconds.
    pub(in crate::read) fn nanoseconds(&mut self, id: ValueId) -> Option<i64> {
        self.number(id)
    }

    /// A duration in milliseconds, in nanoseconds.
    pub(in crate::read) fn milliseconds(&mut self, id: ValueId) -> Option<i64> {
        let millis = match self.values.get(id) {
            PickleValue::None => return None,
            PickleValue::Float(millis) if millis.is_finite() && millis.abs() < MAX_MILLIS => *millis,
            PickleValue::Int(millis) if (*millis as f64).abs() < MAX_MILLIS => *millis as f64,
            PickleValue::Int(_) | PickleValue::Float(_) => {
                self.warn(WarningKind::InvalidNumber);
                return None;
            }
            _ => return self.unexpected(),
        };
        Some((millis * 1e6).round() as i64)
    }

    fn unexpected<T>(&mut self) -> Option<T> {
        self.warn(WarningKind::UnexpectedType);
        None
    }
}
