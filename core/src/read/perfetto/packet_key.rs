//! Splits packets into the constant part, which many of them share, and numbers.

use crate::perfetto::annotation;
use crate::read::json_object::push_double;
use crate::read::wire::{WireFields, WireValue};
use crate::trace::decimal::Decimal;
use crate::varint;

/// All of a packet but its numbers and times: packets with the same key become the same kind of
/// row. The numbers are in the order in which the row has them.
#[derive(Debug, Default)]
pub(super) struct PacketKey {
    pub(super) bytes: Vec<u8>,
    pub(super) values: Vec<i64>,
    /// The text of a number that is being read.
    scratch: Vec<u8>,
}

/// Marks of the parts of a key.
const CONSTANT: u8 = 0;
const SLOT: u8 = 1;
const NUMBER: u8 = 2;
const NONE: u8 = 3;

/// A number of fewer digits than this has a slot.
const MAX_MANTISSA: u64 = 1_000_000_000_000_000_000;

impl PacketKey {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.values.clear();
    }

    /// Takes these bytes and numbers.
    pub(super) fn set(&mut self, (bytes, values): (&[u8], &[i64])) {
        self.clear();
        self.bytes.extend_from_slice(bytes);
        self.values.extend_from_slice(values);
    }

    /// Adds the kind of the packet, whose numbers stand for texts of this edition of this sequence.
    pub(super) fn kind(&mut self, kind: [u8; 3], sequence: u64, edition: u64) {
        self.bytes.extend_from_slice(&kind);
        varint::push(&mut self.bytes, sequence);
        varint::push(&mut self.bytes, edition);
    }

    pub(super) fn number(&mut self, number: Option<u64>) {
        self.bytes.push(if number.is_some() { NUMBER } else { NONE });
        if let Some(number) = number {
            varint::push(&mut self.bytes, number);
        }
    }

    pub(super) fn text(&mut self, text: &[u8]) {
        self.bytes.push(CONSTANT);
        varint::push(&mut self.bytes, text.len() as u64);
        self.bytes.extend_from_slice(text);
    }

    /// A text, or the number that stands for it.
    pub(super) fn text_or_number(&mut self, text: Option<&[u8]>, iid: Option<u64>) {
        match text {
            Some(text) => self.text(text),
            None => self.number(iid),
        }
    }

    /// A number that the row has, under this name.
    pub(super) fn slot(&mut self, name: &[u8], Decimal { mantissa, scale }: Decimal) {
        self.bytes.extend_from_slice(&[SLOT, scale]);
        self.text(name);
        self.values.push(mantissa);
    }

    /// An annotation of a track event: a name with a number has a slot.
    pub(super) fn annotation(&mut self, message: &[u8]) {
        self.slot_or_text(message, &ANNOTATION);
    }

    /// An argument of a launch.
    pub(super) fn launch_argument(&mut self, message: &[u8]) {
        self.slot_or_text(message, &LAUNCH_ARGUMENT);
    }

    /// A text with a name: one that is a number has a slot.
    pub(super) fn named_text(&mut self, name: &[u8], text: &[u8]) {
        match Decimal::parse(text) {
            Some(number) => self.slot(name, number),
            None => [name, text].into_iter().for_each(|part| self.text(part)),
        }
    }

    /// The only number of a row.
    pub(super) fn integer(&mut self, number: i64) {
        self.slot_or_number(signed(number as u64), number as u64);
    }

    /// The same.
    pub(super) fn double(&mut self, number: f64) {
        let decimal = self.decimal(number);
        self.slot_or_number(decimal, number.to_bits());
    }

    fn slot_or_number(&mut self, decimal: Option<Decimal>, bits: u64) {
        match decimal {
            Some(decimal) => self.slot(b"", decimal),
            None => self.number(Some(bits)),
        }
    }

    fn slot_or_text(&mut self, message: &[u8], fields: &NumberFields) {
        let named = name_and_value(message, fields.names);
        let number = named.and_then(|(_, field, value)| match value {
            WireValue::Number(number) if field == fields.unsigned => unsigned(number),
            WireValue::Number(number) if field == fields.signed => signed(number),
            WireValue::Number(bits) if field == fields.double => self.decimal(f64::from_bits(bits)),
            _ => None,
        });
        match named.zip(number) {
            Some(((name, field, _), number)) => {
                self.bytes.push(field as u8);
                self.slot(name, number);
            }
            None => self.text(message),
        }
    }

    /// The decimal that a double is written as.
    fn decimal(&mut self, number: f64) -> Option<Decimal> {
        Decimal::short(number).or_else(|| {
            self.scratch.clear();
            push_double(&mut self.scratch, number);
            Decimal::parse(&self.scratch)
        })
    }
}

/// The fields of a message that names a number.
struct NumberFields {
    /// The name, or its number.
    names: [u32; 2],
    unsigned: u32,
    signed: u32,
    double: u32,
}

const ANNOTATION: NumberFields = NumberFields {
    names: [annotation::NAME_IID, annotation::NAME],
    unsigned: annotation::UINT,
    signed: annotation::INT,
    double: annotation::DOUBLE,
};

const LAUNCH_ARGUMENT: NumberFields = NumberFields { names: [1, 2], unsigned: 4, signed: 3, double: 5 };

/// The bytes of a name or of its number; the field and the value of what it names.
type NamedValue<'p> = (&'p [u8], u32, WireValue<'p>);

/// A message that is a name and then one value, and nothing else.
fn name_and_value(message: &[u8], names: [u32; 2]) -> Option<NamedValue<'_>> {
    let mut fields = WireFields::new(message);
    let (name, _) = fields.next()?;
    let name_bytes = &message[..message.len() - fields.rest().len()];
    let (field, value) = fields.next()?;
    (names.contains(&name) && !names.contains(&field) && fields.rest().is_empty()).then_some((name_bytes, field, value))
}

fn unsigned(number: u64) -> Option<Decimal> {
    (number < MAX_MANTISSA).then_some(Decimal { mantissa: number as i64, scale: 0 })
}

fn signed(number: u64) -> Option<Decimal> {
    let mantissa = number as i64;
    (mantissa.unsigned_abs() < MAX_MANTISSA).then_some(Decimal { mantissa, scale: 0 })
}
