//! Splits an element of `traceEvents` into its keys, as slices of the text.

use crate::json::{JsonText, ScanFault, Scanner};
use crate::trace::decimal::Decimal;

/// An element's keys. Values are as they stand in the file; empty where a key is absent.
#[derive(Debug, Default)]
pub(super) struct TraceElement<'a> {
    pub(super) phase: u8,
    pub(super) name: Option<JsonText<'a>>,
    pub(super) category: Option<JsonText<'a>>,
    pub(super) process: &'a [u8],
    pub(super) thread: &'a [u8],
    pub(super) time: &'a [u8],
    pub(super) dur: &'a [u8],
    pub(super) flow_id: &'a [u8],
    /// `cat` and `dur` as they stand in the file.
    raw_category: &'a [u8],
    raw_dur: &'a [u8],
    pub(super) args: RawArgs<'a>,
}

/// The arguments on their way to a template.
#[derive(Debug, Default)]
pub(super) struct RawArgs<'a> {
    /// Keys with their values, in the order of the file.
    pub(super) fields: Vec<(JsonText<'a>, RawValue<'a>)>,
    /// The numbers of the slots, and their text.
    pub(super) values: Vec<i64>,
    pub(super) slots: Vec<&'a [u8]>,
    /// The key of a template: each key, a quote, then a slot's scale or the value's text.
    pub(super) text: Vec<u8>,
}

/// An argument's value.
#[derive(Debug, Clone, Copy)]
pub(super) enum RawValue<'a> {
    Slot(u8),
    Json(&'a [u8]),
    /// Of a key beside `args`.
    Outer(&'a [u8]),
}

/// More numbers than any event has; a hostile one keeps the others as text.
const MAX_SLOTS: usize = 1000;

/// Starts a slot or an outer value in `RawArgs::text`; no JSON value starts with either byte.
const SLOT: u8 = 1;
const OUTER: u8 = 2;

impl<'a> RawArgs<'a> {
    fn clear(&mut self) {
        self.fields.clear();
        self.values.clear();
        self.slots.clear();
        self.text.clear();
    }

    /// An argument's text, by its key.
    pub(super) fn value(&self, key: &[u8]) -> Option<&'a [u8]> {
        let mut slots = self.slots.iter().copied();
        self.fields.iter().find_map(|(name, value)| {
            let text = match value {
                RawValue::Slot(_) => slots.next()?,
                RawValue::Json(text) => text,
                RawValue::Outer(_) => return None,
            };
            (name.raw == key).then_some(text)
        })
    }

    #[inline]
    fn push(&mut self, key: JsonText<'a>, value: &'a [u8]) {
        self.text.extend_from_slice(key.raw);
        let number = Decimal::parse(value).filter(|_| self.values.len() < MAX_SLOTS);
        if let Some(number) = number {
            self.text.extend_from_slice(&[b'"', SLOT, number.scale]);
            self.values.push(number.mantissa);
            self.slots.push(value);
            self.fields.push((key, RawValue::Slot(number.scale)));
        } else {
            self.text.push(b'"');
            self.text.extend_from_slice(value);
            self.text.push(b',');
            self.fields.push((key, RawValue::Json(value)));
        }
    }

    fn push_outer(&mut self, key: JsonText<'a>, value: &'a [u8]) {
        self.text.extend_from_slice(key.raw);
        self.text.extend_from_slice(&[b'"', OUTER]);
        self.text.extend_from_slice(value);
        self.text.push(b',');
        self.fields.push((key, RawValue::Outer(value)));
    }
}

impl<'a> TraceElement<'a> {
    /// Scans the next element into `self`, which is cleared first. The scanner stands on its
    /// opening bracket.
    pub(super) fn scan(&mut self, scanner: &mut Scanner<'a>) -> Result<(), ScanFault> {
        let mut args = std::mem::take(&mut self.args);
        args.clear();
        *self = Self { args, ..Self::default() };
        scanner.enter_object()?;
        while let Some(key) = scanner.next_key()? {
            match key.raw {
                b"ph" => self.phase = scan_phase(scanner)?,
                b"name" => self.name = scan_text(scanner)?,
                b"cat" => {
                    let start = scanner.at();
                    self.category = scan_text(scanner)?;
                    self.raw_category = scanner.since(start).trim_ascii_start();
                }
                b"pid" => self.process = scanner.skip_value()?,
                b"tid" => self.thread = scanner.skip_value()?,
                b"ts" => self.time = unquoted(scanner.skip_value()?),
                b"dur" => {
                    self.raw_dur = scanner.skip_value()?;
                    self.dur = unquoted(self.raw_dur);
                }
                b"args" => self.scan_args(key, scanner)?,
                b"id" => self.flow_id = scanner.skip_value()?,
                _ => self.args.push_outer(key, scanner.skip_value()?),
            }
        }
        self.keep_strays();
        Ok(())
    }

    /// Keeps keys that mean something, but not in an element of this phase.
    fn keep_strays(&mut self) {
        let phase = self.phase;
        let has_id = matches!(phase, b's' | b't' | b'f');
        let strays: [(bool, &'static [u8], &'a [u8]); 3] = [
            (!has_id, b"id", self.flow_id),
            (matches!(phase, b'M' | b'C'), b"cat", self.raw_category),
            // A begin is written as a complete element, which has a duration of its own.
            (!matches!(phase, b'X' | b'B' | b'E'), b"dur", self.raw_dur),
        ];
        for (is_stray, raw, value) in strays {
            if is_stray && !value.is_empty() {
                self.args.push_outer(JsonText { raw, escaped: false }, value);
            }
        }
    }

    fn scan_args(&mut self, key: JsonText<'a>, scanner: &mut Scanner<'a>) -> Result<(), ScanFault> {
        if scanner.peek() != Some(b'{') {
            self.args.push_outer(key, scanner.skip_value()?);
            return Ok(());
        }
        scanner.enter_object()?;
        while let Some(key) = scanner.next_key()? {
            self.args.push(key, scanner.skip_value()?);
        }
        Ok(())
    }
}

fn scan_phase(scanner: &mut Scanner<'_>) -> Result<u8, ScanFault> {
    Ok(match unquoted(scanner.skip_value()?) {
        [phase] => *phase,
        _ => b'?',
    })
}

fn scan_text<'a>(scanner: &mut Scanner<'a>) -> Result<Option<JsonText<'a>>, ScanFault> {
    if scanner.peek() == Some(b'"') {
        return scanner.string().map(Some);
    }
    let raw = scanner.skip_value()?;
    Ok((raw != b"null").then_some(JsonText { raw, escaped: false }))
}

/// A string's inside; any other value as it is.
pub(super) fn unquoted(value: &[u8]) -> &[u8] {
    match value {
        [b'"', inside @ .., b'"'] => inside,
        _ => value,
    }
}
