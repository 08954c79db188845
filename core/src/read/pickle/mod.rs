//! Reads pickles of plain data, protocols 2 to 5. Nothing in a file is run, imported or looked up.
//!
//! A pickle builds its outermost value last, so a truncated pickle yields only an error.

pub(super) mod fields;
mod json;
mod opcode;
mod shared_frame;
mod text;
mod value;

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Position};
use crate::warning::{WarningKind, Warnings};
use opcode as op;
use shared_frame::SharedFrames;
pub(super) use text::parse;
pub(super) use value::{PickleValue, PickleValues, ValueId};

/// The newest protocol that is read.
pub(super) const NEWEST_PROTOCOL: u8 = 5;

/// The values of a pickle.
#[derive(Debug)]
pub(super) struct Pickle<'a> {
    pub(super) values: PickleValues<'a>,
    /// The value that loading it would give.
    pub(super) root: ValueId,
    pub(super) warnings: Warnings,
}

/// Reads a pickle. Errors say which opcode could not be followed, and where.
pub(super) fn read_pickle<'a>(bytes: &'a [u8], file: Option<&Arc<str>>) -> Result<Pickle<'a>, Error> {
    let mut machine = PickleMachine {
        bytes,
        file,
        at: 0,
        start: 0,
        values: PickleValues::default(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: Vec::new(),
        small: vec![ValueId::NONE; 1 << u16::BITS],
        frames: SharedFrames::default(),
        warnings: Warnings::default(),
    };
    let root = machine.run()?;
    Ok(Pickle { values: machine.values, root, warnings: machine.warnings })
}

struct PickleMachine<'a, 'f> {
    bytes: &'a [u8],
    file: Option<&'f Arc<str>>,
    /// The next byte.
    at: usize,
    /// Where the opcode now followed stands.
    start: usize,
    values: PickleValues<'a>,
    stack: Vec<ValueId>,
    /// Lengths of the stack at the marks that are open.
    marks: Vec<usize>,
    memo: Vec<Option<ValueId>>,
    /// Values of small numbers; none where they were not needed.
    small: Vec<ValueId>,
    frames: SharedFrames,
    warnings: Warnings,
}

impl<'a> PickleMachine<'a, '_> {
    fn run(&mut self) -> Result<ValueId, Error> {
        loop {
            self.start = self.at;
            let [opcode] = self.array()?;
            if opcode != op::STOP {
                self.follow(opcode)?;
                continue;
            }
            let root = self.pop()?;
            if self.at < self.bytes.len() {
                self.warnings.push(WarningKind::TrailingText, || position(self.file, self.at));
            }
            return Ok(root);
        }
    }

    fn follow(&mut self, opcode: u8) -> Result<(), Error> {
        match opcode {
            op::PROTO => self.check_protocol(),
            op::FRAME => self.length::<8>().map(drop),
            op::MARK => {
                self.marks.push(self.stack.len());
                Ok(())
            }
            op::POP if !self.marks.is_empty() && self.stack.len() == self.floor() => self.pop_mark().map(drop),
            op::POP => self.pop().map(drop),
            op::POP_MARK => self.pop_mark().map(drop),
            op::DUP => {
                let top = self.top()?;
                self.frames.refer(top);
                self.stack.push(top);
                Ok(())
            }
            op::PUT..=op::LONG_BINPUT | op::MEMOIZE => self.put(opcode),
            op::GET | op::BINGET | op::LONG_BINGET => self.get(opcode),
            op::APPEND | op::APPENDS | op::ADDITEMS => self.append(opcode),
            op::SETITEM | op::SETITEMS => self.assign(opcode),
            _ => {
                let id = self.build(opcode)?;
                self.stack.push(id);
                Ok(())
            }
        }
    }

    /// The value that an opcode makes.
    fn build(&mut self, opcode: u8) -> Result<ValueId, Error> {
        let value = match opcode {
            op::NONE => return Ok(ValueId::NONE),
            op::NEWFALSE => return Ok(ValueId::FALSE),
            op::NEWTRUE => return Ok(ValueId::TRUE),
            op::BININT => PickleValue::Int(i32::from_le_bytes(self.array()?).into()),
            op::BININT1 => {
                let number = u8::from_le_bytes(self.array()?);
                return self.small_number(number.into());
            }
            op::BININT2 => {
                let number = u16::from_le_bytes(self.array()?);
                return self.small_number(number);
            }
            op::LONG1 => self.integer::<1>()?,
            op::LONG4 => self.integer::<4>()?,
            op::BINFLOAT => PickleValue::Float(f64::from_be_bytes(self.array()?)),
            op::SHORT_BINUNICODE => self.text::<1>()?,
            op::BINUNICODE => self.text::<4>()?,
            op::BINUNICODE8 => self.text::<8>()?,
            op::SHORT_BINBYTES => PickleValue::Bytes(self.run_of_bytes::<1>()?),
            op::BINBYTES => PickleValue::Bytes(self.run_of_bytes::<4>()?),
            op::BINBYTES8 | op::BYTEARRAY8 => PickleValue::Bytes(self.run_of_bytes::<8>()?),
            op::EMPTY_TUPLE => PickleValue::Tuple(Vec::new()),
            op::TUPLE1 => PickleValue::Tuple(self.last(1)?),
            op::TUPLE2 => PickleValue::Tuple(self.last(2)?),
            op::TUPLE3 => PickleValue::Tuple(self.last(3)?),
            op::TUPLE => PickleValue::Tuple(self.pop_mark()?),
            op::EMPTY_LIST => PickleValue::List(Vec::new()),
            op::LIST => PickleValue::List(self.pop_mark()?),
            op::EMPTY_SET => PickleValue::Set(Vec::new()),
            op::FROZENSET => PickleValue::Set(self.pop_mark()?),
            op::EMPTY_DICT => {
                let id = self.values.push(PickleValue::Dict(Vec::new()))?;
                self.frames.begin(id);
                return Ok(id);
            }
            op::DICT => {
                let items = self.pop_mark()?;
                PickleValue::Dict(self.pairs(&items)?)
            }
            _ => return Err(self.refused(opcode)),
        };
        self.values.push(value)
    }

    /// A number, which is stored once.
    fn small_number(&mut self, number: u16) -> Result<ValueId, Error> {
        let place = usize::from(number);
        if self.small[place] == ValueId::NONE {
            self.small[place] = self.values.push(PickleValue::Int(number.into()))?;
        }
        Ok(self.small[place])
    }

    fn check_protocol(&mut self) -> Result<(), Error> {
        match self.array()? {
            [0..=NEWEST_PROTOCOL] => Ok(()),
            [protocol] => Err(self.malformed("a pickle of protocol 2 to 5", format!("protocol {protocol}"))),
        }
    }

    // --- the stack -------------------------------------------------------------------------------

    /// How far down the stack may be taken.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<ValueId, Error> {
        self.last(1).map(|last| last[0])
    }

    fn top(&self) -> Result<ValueId, Error> {
        let top = self.stack.get(self.floor()..).and_then(<[_]>::last);
        top.copied().ok_or_else(|| self.malformed("a value on the stack", "none"))
    }

    /// Takes the last `count` values.
    fn last(&mut self, count: usize) -> Result<Vec<ValueId>, Error> {
        match self.stack.len().checked_sub(count).filter(|start| *start >= self.floor()) {
            Some(start) => Ok(self.stack.split_off(start)),
            None => Err(self.malformed("a value on the stack", "none")),
        }
    }

    /// Pops the last mark and everything above it.
    fn pop_mark(&mut self) -> Result<Vec<ValueId>, Error> {
        match self.marks.pop() {
            Some(mark) => Ok(self.stack.split_off(mark)),
            None => Err(self.malformed("a mark on the stack", "none")),
        }
    }

    // --- the memo --------------------------------------------------------------------------------

    fn put(&mut self, opcode: u8) -> Result<(), Error> {
        let place = if opcode == op::MEMOIZE { self.memo.len() } else { self.place(opcode)? };
        // Places are counted up from 0, and each takes an opcode.
        if place > self.start {
            return Err(self.malformed("the next index of the memo", place.to_string()));
        }
        let top = self.top()?;
        if place >= self.memo.len() {
            self.memo.resize(place + 1, None);
        }
        self.memo[place] = Some(top);
        self.frames.put(top, place);
        Ok(())
    }

    fn get(&mut self, opcode: u8) -> Result<(), Error> {
        let place = self.place(opcode)?;
        let found = self.memo.get(place).copied().flatten();
        let id = found.ok_or_else(|| self.malformed("a used index of the memo", place.to_string()))?;
        self.frames.refer(id);
        self.stack.push(id);
        Ok(())
    }

    /// The number that follows an opcode of the memo.
    fn place(&mut self, opcode: u8) -> Result<usize, Error> {
        match opcode {
            op::BINPUT | op::BINGET => Ok(u8::from_le_bytes(self.array()?).into()),
            op::LONG_BINPUT | op::LONG_BINGET => Ok(u32::from_le_bytes(self.array()?) as usize),
            _ => {
                let rest = &self.bytes[self.at..];
                let length = memchr::memchr(b'\n', rest).ok_or_else(|| self.cut())?;
                let line = &rest[..length];
                self.at += length + 1;
                let place = std::str::from_utf8(line).ok().and_then(|line| line.parse().ok());
                place.ok_or_else(|| self.malformed("an index of the memo", "a line that is not a number"))
            }
        }
    }

    // --- containers ------------------------------------------------------------------------------

    fn append(&mut self, opcode: u8) -> Result<(), Error> {
        let mut new = if opcode == op::APPEND { self.last(1)? } else { self.pop_mark()? };
        let top = self.top()?;
        match (self.values.get_mut(top), opcode) {
            (PickleValue::List(items), op::APPEND | op::APPENDS) | (PickleValue::Set(items), op::ADDITEMS) => {
                items.append(&mut new);
                Ok(())
            }
            (other, _) => {
                let found = other.words();
                Err(self.malformed("a list or a set to extend", found))
            }
        }
    }

    fn assign(&mut self, opcode: u8) -> Result<(), Error> {
        let items = if opcode == op::SETITEM { self.last(2)? } else { self.pop_mark()? };
        let mut pairs = self.pairs(&items)?;
        let mut top = self.top()?;
        if self.frames.is_shared(top) {
            top = self.values.push(self.values.get(top).clone())?;
            let place = self.frames.unshare(top);
            self.replace_top(top, place);
        }
        match self.values.get_mut(top) {
            PickleValue::Dict(entries) => {
                entries.append(&mut pairs);
                if let Some((known, place)) = self.frames.known(&self.values, top) {
                    self.values.pop();
                    self.replace_top(known, place);
                }
                Ok(())
            }
            other => {
                let found = other.words();
                Err(self.malformed("a dict to extend", found))
            }
        }
    }

    /// Puts another value in the place of the top of the stack, and of the memo.
    fn replace_top(&mut self, id: ValueId, place: Option<usize>) {
        self.stack.last_mut().into_iter().for_each(|top| *top = id);
        place.and_then(|place| self.memo.get_mut(place)).into_iter().for_each(|known| *known = Some(id));
    }

    fn pairs(&self, items: &[ValueId]) -> Result<Vec<(ValueId, ValueId)>, Error> {
        if items.len() % 2 == 1 {
            return Err(self.malformed("a value for each key", "a key without a value"));
        }
        Ok(items.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    }

    // --- bytes -----------------------------------------------------------------------------------

    fn integer<const WIDTH: usize>(&mut self) -> Result<PickleValue<'a>, Error> {
        let bytes = self.run_of_bytes::<WIDTH>()?;
        let is_negative = bytes.last().is_some_and(|last| *last >= 0x80);
        let mut wide = [if is_negative { 0xff } else { 0 }; 16];
        match wide.get_mut(..bytes.len()) {
            Some(low) => low.copy_from_slice(bytes),
            None => {
                return Err(self.malformed("an int of at most 128 bits", format!("an int of {} bytes", bytes.len())));
            }
        }
        Ok(PickleValue::Int(i128::from_le_bytes(wide)))
    }

    /// A str. Python allows file names without valid UTF-8; these are replaced and counted.
    fn text<const WIDTH: usize>(&mut self) -> Result<PickleValue<'a>, Error> {
        let text = String::from_utf8_lossy(self.run_of_bytes::<WIDTH>()?);
        if matches!(text, Cow::Owned(_)) {
            self.warnings.push(WarningKind::InvalidUtf8, || position(self.file, self.start));
        }
        Ok(PickleValue::Text(text))
    }

    /// The bytes after their length prefix.
    fn run_of_bytes<const WIDTH: usize>(&mut self) -> Result<&'a [u8], Error> {
        let length = self.length::<WIDTH>()?;
        let bytes = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(bytes)
    }

    /// A number of bytes, all of which are there.
    fn length<const WIDTH: usize>(&mut self) -> Result<usize, Error> {
        let digits: [u8; WIDTH] = self.array()?;
        let length = digits.iter().rev().fold(0_u64, |sum, digit| sum << 8 | u64::from(*digit));
        let rest = self.bytes.len() - self.at;
        usize::try_from(length).ok().filter(|length| *length <= rest).ok_or_else(|| self.cut())
    }

    fn array<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], Error> {
        let (first, _) = self.bytes[self.at..].split_first_chunk().ok_or_else(|| self.cut())?;
        self.at += COUNT;
        Ok(*first)
    }

    // --- errors ----------------------------------------------------------------------------------

    fn cut(&self) -> Error {
        self.malformed("a complete pickle", "the end of the file")
    }

    fn malformed(&self, expected: &'static str, found: impl Into<String>) -> Error {
        let position = position(self.file, self.start);
        ErrorKind::Malformed { expected, found: found.into(), position }.into()
    }

    fn refused(&self, opcode: u8) -> Error {
        match op::refused(opcode) {
            Some(found) => {
                let position = position(self.file, self.start);
                ErrorKind::Unsupported { expected: "a pickle of plain data", found: found.into(), position }.into()
            }
            None => self.malformed("an opcode", format!("the byte {opcode:#04x}")),
        }
    }
}

fn position(file: Option<&Arc<str>>, at: usize) -> Position {
    Position { file: file.cloned(), byte: Some(at as u64), ..Position::default() }
}

#[cfg(test)]
mod tests;
