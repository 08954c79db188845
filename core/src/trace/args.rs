//! Arguments: an event's `args` object as a shared template and the numbers that are its own.
//!
//! Of the arguments of a hundred thousand events a few hundred differ once the integers and decimals of the top level
//! are taken out. So the rest is kept once, as a [`Template`], and the numbers go to one pool.

use std::hash::Hasher as _;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

use crate::id::{StrId, TemplateId};
use crate::json;
use crate::strings::Strings;

/// One key of a template with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The key.
    pub key: StrId,
    /// The value, or where it is.
    pub value: FieldValue,
    /// Whether the key stands beside `args`, in the event itself.
    pub is_outer: bool,
}

/// A template's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FieldValue {
    /// The event's next number, a decimal of so many digits after the point.
    Slot(u8),
    /// JSON text that all events of the template share.
    Json(StrId),
}

/// Keys that are read without a lookup by string, with the spellings that files use.
const KNOWN: [(ArgKey, &[&str]); 27] = [
    (ArgKey::Correlation, &["correlation"]),
    (ArgKey::ExternalId, &["External id", "external id"]),
    (ArgKey::RecordId, &["Record function id"]),
    (ArgKey::SeqNum, &["Sequence number"]),
    (ArgKey::InputShapes, &["Input Dims", "Input dims"]),
    (ArgKey::InputTypes, &["Input type"]),
    (ArgKey::InputStrides, &["Input Strides"]),
    (ArgKey::ConcreteInputs, &["Concrete Inputs"]),
    (ArgKey::Bytes, &["bytes", "Bytes"]),
    (ArgKey::Bandwidth, &["memory bandwidth (GB/s)"]),
    (ArgKey::Grid, &["grid"]),
    (ArgKey::Block, &["block"]),
    (ArgKey::Registers, &["registers per thread"]),
    (ArgKey::SharedMemory, &["shared memory"]),
    (ArgKey::Occupancy, &["est. achieved occupancy %"]),
    (ArgKey::Collective, &["Collective name"]),
    (ArgKey::Dtype, &["dtype"]),
    (ArgKey::InElems, &["In msg nelems"]),
    (ArgKey::OutElems, &["Out msg nelems"]),
    (ArgKey::GroupSize, &["Group size"]),
    (ArgKey::GroupName, &["Process Group Name"]),
    (ArgKey::ForwardThread, &["Fwd thread id"]),
    (ArgKey::Device, &["device"]),
    (ArgKey::Stream, &["stream"]),
    (ArgKey::PythonId, &["Python id"]),
    (ArgKey::PythonParentId, &["Python parent id"]),
    (ArgKey::CallStack, &["Call stack"]),
];

/// The first of the known keys that have a column of their own in the table of events.
const NUM_COLUMNS: usize = KNOWN.len() - 6;

/// A key that the core itself reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the spellings in KNOWN say what each is")]
pub enum ArgKey {
    Correlation,
    ExternalId,
    RecordId,
    SeqNum,
    InputShapes,
    InputTypes,
    InputStrides,
    ConcreteInputs,
    Bytes,
    Bandwidth,
    Grid,
    Block,
    Registers,
    SharedMemory,
    Occupancy,
    Collective,
    Dtype,
    InElems,
    OutElems,
    GroupSize,
    GroupName,
    ForwardThread,
    Device,
    Stream,
    PythonId,
    PythonParentId,
    CallStack,
}

/// The place of a known key in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Absent,
    Slot { index: u16, scale: u8 },
    Json(StrId),
}

/// The part of an `args` object that many events share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    fields: Box<[Field]>,
    num_slots: u16,
    places: Box<[Place; KNOWN.len()]>,
}

impl Template {
    /// The keys: those beside `args`, then those in it, both in the order of the file.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// How many numbers each event of this template has.
    pub fn num_slots(&self) -> usize {
        usize::from(self.num_slots)
    }

    /// A template of `fields`, whose known keys are found by their text in `strings`.
    ///
    /// Keys that stand beside `args` come first, wherever the file has them, so that a trace that is written and read
    /// has the same template. They take no slots, so the numbers keep their order.
    pub fn new(mut fields: Vec<Field>, strings: &Strings) -> Self {
        fields.sort_by_key(|field| !field.is_outer);
        let mut places = Box::new([Place::Absent; KNOWN.len()]);
        let mut num_slots = 0;
        for field in &fields {
            let place = match field.value {
                FieldValue::Slot(scale) => {
                    num_slots += 1;
                    Place::Slot { index: num_slots - 1, scale }
                }
                FieldValue::Json(text) => Place::Json(text),
            };
            let key = strings.text(field.key);
            if let Some((known, _)) = KNOWN.iter().find(|(_, spellings)| spellings.contains(&key))
                && places[*known as usize] == Place::Absent
                && !field.is_outer
            {
                places[*known as usize] = place;
            }
        }
        Self { fields: fields.into_boxed_slice(), num_slots, places }
    }
}

/// Which template an event has, and where its numbers start in the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgsRef {
    /// The template.
    pub template: TemplateId,
    /// First number in the pool.
    pub start: u32,
}

/// A number as the file wrote it: `mantissa` with `scale` digits after the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// All digits.
    pub mantissa: i64,
    /// How many of them stand after the point.
    pub scale: u8,
}

impl Number {
    /// The number of a plain decimal text of at most 18 digits: what a slot can hold and give back unchanged.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (negative, digits) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        // Eighteen digits and a point; a longer text is turned down before its digits could overflow unseen.
        if digits.len() > 19 {
            return None;
        }
        let mut mantissa = 0_i64;
        let mut point = None;
        for (at, byte) in digits.iter().enumerate() {
            match byte {
                b'0'..=b'9' => mantissa = mantissa.wrapping_mul(10).wrapping_add(i64::from(byte - b'0')),
                b'.' if point.is_none() && at > 0 => point = Some(at),
                _ => return None,
            }
        }
        let num_digits = digits.len() - usize::from(point.is_some());
        let scale = point.map_or(0, |point| digits.len() - point - 1);
        let has_leading_zero = digits.len() > 1 && digits[0] == b'0' && digits[1] != b'.';
        let is_negative_zero = negative && mantissa == 0;
        if num_digits == 0 || num_digits > 18 || has_leading_zero || is_negative_zero || (scale == 0 && point.is_some())
        {
            return None;
        }
        Some(Self { mantissa: if negative { -mantissa } else { mantissa }, scale: scale as u8 })
    }

    /// The number as a float, for what a screen shows.
    pub fn to_f64(self) -> f64 {
        self.mantissa as f64 / 10_f64.powi(i32::from(self.scale))
    }

    /// Writes the text that was parsed.
    pub fn write(self, out: &mut String) {
        let digits = self.mantissa.unsigned_abs().to_string();
        let scale = usize::from(self.scale);
        if self.mantissa < 0 {
            out.push('-');
        }
        if scale == 0 {
            out.push_str(&digits);
            return;
        }
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        out.push_str(whole);
        out.push('.');
        out.push_str(fraction);
    }
}

/// The arguments of all events of a trace.
#[derive(Debug, Clone, Default)]
pub struct Args {
    templates: Vec<Template>,
    values: Vec<i64>,
    by_text: HashTable<(u64, TemplateId)>,
    texts: Vec<Box<[u8]>>,
}

impl Args {
    /// The template with the text `text`, when one was added.
    pub fn find(&self, text: &[u8]) -> Option<TemplateId> {
        let hash = hash(text);
        let entry = self.by_text.find(hash, |(other, id)| *other == hash && *self.texts[id.index()] == *text);
        entry.map(|(_, id)| *id)
    }

    /// Adds a template that [`find`](Self::find) will give for `text`.
    pub fn add(&mut self, text: &[u8], template: Template) -> TemplateId {
        let id = self.push(template);
        let hash = hash(text);
        self.texts.resize(id.index(), Box::default());
        self.texts.push(text.into());
        self.by_text.insert_unique(hash, (hash, id), |(hash, _)| *hash);
        id
    }

    /// Adds a template that will not be searched.
    pub fn push(&mut self, template: Template) -> TemplateId {
        self.templates.push(template);
        TemplateId::from(self.templates.len() - 1)
    }

    /// Adds numbers to the pool and gives the place of the first.
    pub fn push_values(&mut self, values: &[i64]) -> u32 {
        let start = self.values.len() as u32;
        self.values.extend_from_slice(values);
        start
    }

    /// Forgets what is needed only while templates are added.
    pub fn seal(&mut self) {
        self.by_text = HashTable::new();
        self.texts = Vec::new();
    }

    /// All templates.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// The template of an event.
    pub fn template(&self, args: ArgsRef) -> &Template {
        &self.templates[args.template.index()]
    }

    /// The numbers of an event, in the order of its template's slots.
    pub fn values(&self, args: ArgsRef) -> &[i64] {
        let start = args.start as usize;
        &self.values[start..start + self.template(args).num_slots()]
    }

    /// A known key's number: written as a number, or as a string that holds an integer.
    pub fn number(&self, strings: &Strings, args: ArgsRef, key: ArgKey) -> Option<Number> {
        match self.template(args).places[key as usize] {
            Place::Absent => None,
            Place::Slot { index, scale } => {
                Some(Number { mantissa: self.values[args.start as usize + usize::from(index)], scale })
            }
            Place::Json(text) => Number::parse(strings.text(text).trim_matches('"').as_bytes()),
        }
    }

    /// A known key's integer.
    pub fn integer(&self, strings: &Strings, args: ArgsRef, key: ArgKey) -> Option<i64> {
        self.number(strings, args, key).filter(|number| number.scale == 0).map(|number| number.mantissa)
    }

    /// A known key's identifier: an integer that is not negative and may be larger than `i64::MAX`.
    pub fn identifier(&self, strings: &Strings, args: ArgsRef, key: ArgKey) -> Option<u64> {
        match self.template(args).places[key as usize] {
            Place::Json(text) => strings.text(text).trim_matches('"').parse().ok(),
            _ => self.integer(strings, args, key).and_then(|id| u64::try_from(id).ok()),
        }
    }

    /// Appends a known key's text: JSON, but for a string, which comes without its quotes. False when it is absent.
    pub fn write_text(&self, strings: &Strings, args: ArgsRef, key: ArgKey, out: &mut String) -> bool {
        match self.template(args).places[key as usize] {
            Place::Absent => return false,
            Place::Slot { index, scale } => {
                Number { mantissa: self.values[args.start as usize + usize::from(index)], scale }.write(out);
            }
            Place::Json(text) if strings.text(text).starts_with('"') => out.push_str(&plain_text(strings.text(text))),
            Place::Json(text) => out.push_str(strings.text(text)),
        }
        true
    }

    /// All keys and values of an event as JSON texts, in the order of the file.
    pub fn pairs<'a>(&'a self, strings: &'a Strings, args: ArgsRef) -> impl Iterator<Item = (&'a str, String)> {
        let mut values = self.values(args).iter();
        self.template(args).fields.iter().map(move |field| {
            let text = match field.value {
                FieldValue::Json(text) => strings.text(text).to_owned(),
                FieldValue::Slot(scale) => {
                    let mut out = String::new();
                    Number { mantissa: values.next().copied().unwrap_or(0), scale }.write(&mut out);
                    out
                }
            };
            (strings.text(field.key), text)
        })
    }

    /// Appends the keys that no known column holds, as one JSON object; nothing when there are none.
    pub fn rest_json(&self, strings: &Strings, args: ArgsRef, out: &mut String) {
        let is_rest = |key: &str| !KNOWN[..NUM_COLUMNS].iter().any(|(_, spellings)| spellings.contains(&key));
        write_object(self.pairs(strings, args).filter(|(key, _)| is_rest(key)), out);
    }

    /// Appends all keys as one JSON object; false when there are none.
    pub fn write_json(&self, strings: &Strings, args: ArgsRef, out: &mut String) -> bool {
        write_object(self.pairs(strings, args), out)
    }
}

fn write_object<'a>(pairs: impl Iterator<Item = (&'a str, String)>, out: &mut String) -> bool {
    let start = out.len();
    for (key, value) in pairs {
        out.push(if out.len() == start { '{' } else { ',' });
        json::write_string(out, key);
        out.push(':');
        out.push_str(&value);
    }
    let has_any = out.len() > start;
    if has_any {
        out.push('}');
    }
    has_any
}

/// A JSON string's text, or the JSON itself when it is no string.
pub fn plain_text(json: &str) -> String {
    serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned())
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_gives_back_the_text_it_took() {
        for text in ["0", "-1", "12.50", "0.001", "-0.5", "123456789012345678"] {
            let mut out = String::new();
            Number::parse(text.as_bytes()).unwrap().write(&mut out);
            assert_eq!(out, text);
        }
        for text in ["", "-", "01", "-0", "1.", ".5", "1e3", "1234567890123456789", "NaN"] {
            assert_eq!(Number::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn every_known_key_stands_at_its_own_place() {
        for (place, (key, _)) in KNOWN.iter().enumerate() {
            assert_eq!(*key as usize, place);
        }
    }
}
