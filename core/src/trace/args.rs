//! Arguments of events: shared templates and separate numbers.
//!
//! Without their top-level integers and decimals, the arguments of 100,000 events have only a few
//! hundred distinct forms. Each form is stored once, as an [`ArgsTemplate`]; the numbers go to one
//! pool.

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

use crate::id::{StrId, TemplateId};
use crate::json;
use crate::sort;
use crate::strings::{Strings, hash};
use crate::trace::arg_key::{ArgKey, ColumnKind, KNOWN};
use crate::trace::decimal::Decimal;
use crate::trace::number_pool::NumberPool;

/// One key of a template with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateField {
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

/// The place of a known key in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyLocation {
    Absent,
    Slot { index: u16, scale: u8 },
    Json(StrId),
}

/// The value of an event for a known key.
enum ArgValue {
    Absent,
    Number(Decimal),
    Json(StrId),
}

/// The part of an `args` object that many events share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgsTemplate {
    fields: Box<[TemplateField]>,
    /// For each field, the known key that it is.
    known_keys: Box<[Option<ArgKey>]>,
    num_slots: u16,
    places: Box<[KeyLocation; KNOWN.len()]>,
}

impl ArgsTemplate {
    /// The keys: those beside `args`, then those in it, both in the order of the file.
    pub fn fields(&self) -> &[TemplateField] {
        &self.fields
    }

    /// Whether the core itself reads the key at a place.
    pub(crate) fn is_known(&self, at: usize) -> bool {
        self.known_keys.get(at).is_some_and(Option::is_some)
    }

    /// Whether it has a known key.
    pub(crate) fn has(&self, key: ArgKey) -> bool {
        self.places[key as usize] != KeyLocation::Absent
    }

    /// How many numbers each event of this template has.
    pub fn num_slots(&self) -> usize {
        usize::from(self.num_slots)
    }

    /// A template of `fields`, whose known keys are found by their text in `strings`.
    ///
    /// Keys that stand beside `args` come first, wherever the file has them, so that a trace that
    /// is written and read has the same template. They take no slots, so the numbers keep their
    /// order.
    pub fn new(mut fields: Vec<TemplateField>, strings: &Strings) -> Self {
        sort::by_key(&mut fields, |field| !field.is_outer);
        let mut places = Box::new([KeyLocation::Absent; KNOWN.len()]);
        let mut known_keys = Vec::with_capacity(fields.len());
        let mut num_slots = 0;
        for field in &fields {
            let place = match field.value {
                FieldValue::Slot(scale) => {
                    num_slots += 1;
                    KeyLocation::Slot { index: num_slots - 1, scale }
                }
                FieldValue::Json(text) => KeyLocation::Json(text),
            };
            let known = ArgKey::of(strings.text(field.key)).filter(|_| !field.is_outer);
            // A second spelling of the same key stays among the others.
            let known = known.filter(|key| places[*key as usize] == KeyLocation::Absent);
            if let Some(key) = known {
                places[key as usize] = place;
            }
            known_keys.push(known);
        }
        Self { fields: fields.into_boxed_slice(), known_keys: known_keys.into_boxed_slice(), num_slots, places }
    }
}

/// The template of an event, and the place of its first number in the pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ArgsRef {
    /// The template.
    pub template: TemplateId,
    /// Where its numbers start in the pool.
    pub start: u32,
}

/// The arguments of all events of a trace.
#[derive(Debug, Clone, Default)]
pub struct Args {
    templates: Vec<ArgsTemplate>,
    values: NumberPool,
    by_text: HashTable<(u64, TemplateId)>,
    texts: Vec<Box<[u8]>>,
}

impl Args {
    /// Templates with the numbers of all rows.
    pub(crate) fn new(templates: Vec<ArgsTemplate>, values: NumberPool) -> Self {
        Self { templates, values, ..Self::default() }
    }

    /// The template with the text `text`, when one was added.
    pub fn find(&self, text: &[u8]) -> Option<TemplateId> {
        let hash = hash(text);
        let entry = self.by_text.find(hash, |(other, id)| *other == hash && *self.texts[id.index()] == *text);
        entry.map(|(_, id)| *id)
    }

    /// Adds a template that [`find`](Self::find) will give for `text`.
    pub fn add(&mut self, text: &[u8], template: ArgsTemplate) -> TemplateId {
        let id = self.push(template);
        let hash = hash(text);
        self.texts.resize(id.index(), Box::default());
        self.texts.push(text.into());
        self.by_text.insert_unique(hash, (hash, id), |(hash, _)| *hash);
        id
    }

    /// The arguments of an event with further ones, each a key and a JSON text. They take no
    /// numbers, so those of the event stay in place.
    pub(crate) fn extended(&mut self, strings: &Strings, args: ArgsRef, more: &[(StrId, StrId)]) -> ArgsRef {
        let mut fields = self.template(args).fields.to_vec();
        let field =
            |(key, json): &(StrId, StrId)| TemplateField { key: *key, value: FieldValue::Json(*json), is_outer: false };
        fields.extend(more.iter().map(field));
        ArgsRef { template: self.push(ArgsTemplate::new(fields, strings)), ..args }
    }

    /// Adds a template that will not be searched.
    pub fn push(&mut self, template: ArgsTemplate) -> TemplateId {
        self.templates.push(template);
        TemplateId::from(self.templates.len() - 1)
    }

    /// Adds numbers to the pool and gives the place of the first.
    #[inline]
    pub fn push_values(&mut self, values: &[i64]) -> u32 {
        self.values.add(values.iter().copied())
    }

    /// Drops the state for adding templates.
    pub fn seal(&mut self) {
        self.by_text = HashTable::new();
        self.texts = Vec::new();
    }

    /// All templates.
    pub fn templates(&self) -> &[ArgsTemplate] {
        &self.templates
    }

    /// The template of an event.
    pub fn template(&self, args: ArgsRef) -> &ArgsTemplate {
        &self.templates[args.template.index()]
    }

    /// The numbers of an event, in the order of its template's slots.
    pub fn values(&self, args: ArgsRef) -> impl Iterator<Item = i64> + '_ {
        self.values.from(args.start).take(self.template(args).num_slots())
    }

    /// A known key's number in any notation, for display.
    pub fn float(&self, strings: &Strings, args: ArgsRef, key: ArgKey) -> Option<f64> {
        match self.place(args, key) {
            ArgValue::Absent => None,
            ArgValue::Number(number) => Some(number.to_f64()),
            ArgValue::Json(text) => {
                strings.text(text).trim_matches('"').parse().ok().filter(|value: &f64| value.is_finite())
            }
        }
    }

    /// A known key's integer: written as a number, or as a string that holds one.
    pub fn integer(&self, strings: &Strings, args: ArgsRef, key: ArgKey) -> Option<i64> {
        match self.place(args, key) {
            ArgValue::Absent => None,
            ArgValue::Number(number) => number.integer(),
            ArgValue::Json(text) => strings.text(text).trim_matches('"').parse().ok(),
        }
    }

    /// A known key's identifier: an integer that is not negative and may be larger than `i64::MAX`.
    pub fn identifier(&self, strings: &Strings, args: ArgsRef, key: ArgKey) -> Option<u64> {
        match self.place(args, key) {
            ArgValue::Absent => None,
            ArgValue::Number(number) => number.integer().and_then(|number| u64::try_from(number).ok()),
            ArgValue::Json(text) => strings.text(text).trim_matches('"').parse().ok(),
        }
    }

    fn place(&self, args: ArgsRef, key: ArgKey) -> ArgValue {
        match self.template(args).places[key as usize] {
            KeyLocation::Absent => ArgValue::Absent,
            KeyLocation::Json(text) => ArgValue::Json(text),
            KeyLocation::Slot { index, scale } => {
                let mantissa = self.values.get(args.start, usize::from(index)).unwrap_or_default();
                ArgValue::Number(Decimal { mantissa, scale })
            }
        }
    }

    /// The id of a known key's JSON text, if its value is one.
    pub(crate) fn json_id(&self, args: ArgsRef, key: ArgKey) -> Option<StrId> {
        match self.place(args, key) {
            ArgValue::Json(text) => Some(text),
            ArgValue::Absent | ArgValue::Number(_) => None,
        }
    }

    /// Appends a known key's text: JSON, but for a string, which comes without its quotes. False
    /// when it is absent.
    pub fn write_text(&self, strings: &Strings, args: ArgsRef, key: ArgKey, out: &mut String) -> bool {
        match self.place(args, key) {
            ArgValue::Absent => return false,
            ArgValue::Number(number) => number.write(out),
            ArgValue::Json(text) if strings.text(text).starts_with('"') => {
                out.push_str(&plain_text(strings.text(text)));
            }
            ArgValue::Json(text) => out.push_str(strings.text(text)),
        }
        true
    }

    /// All keys and values of an event as JSON texts, in the order of the file.
    pub fn pairs<'a>(&'a self, strings: &'a Strings, args: ArgsRef) -> impl Iterator<Item = (&'a str, String)> {
        self.pairs_of(strings, args, |_| true)
    }

    /// The same of some keys.
    pub(crate) fn pairs_of<'a>(
        &'a self,
        strings: &'a Strings,
        args: ArgsRef,
        is_wanted: impl Fn(StrId) -> bool + 'a,
    ) -> impl Iterator<Item = (&'a str, String)> {
        let mut values = self.values(args);
        self.template(args).fields.iter().filter_map(move |field| {
            let number = match field.value {
                FieldValue::Json(_) => None,
                FieldValue::Slot(_) => values.next(),
            };
            is_wanted(field.key).then(|| {
                let text = match field.value {
                    FieldValue::Json(text) => strings.text(text).to_owned(),
                    FieldValue::Slot(scale) => {
                        let mut out = String::new();
                        Decimal { mantissa: number.unwrap_or(0), scale }.write(&mut out);
                        out
                    }
                };
                (strings.text(field.key), text)
            })
        })
    }

    /// Appends the arguments without a column of the event table, as one JSON object; nothing
    /// without any.
    pub fn rest_json(&self, strings: &Strings, args: ArgsRef, out: &mut String) {
        let is_held = |key: &Option<ArgKey>| {
            key.is_some_and(|key| match key.column() {
                ColumnKind::Identifier => self.identifier(strings, args, key).is_some(),
                ColumnKind::Integer => self.integer(strings, args, key).is_some(),
                ColumnKind::Float => self.float(strings, args, key).is_some(),
                ColumnKind::Text => true,
                ColumnKind::None => false,
            })
        };
        let known = self.template(args).known_keys.iter();
        let rest = self.pairs(strings, args).zip(known).filter(|(_, known)| !is_held(known));
        write_object(rest.map(|(pair, _)| pair), out);
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
