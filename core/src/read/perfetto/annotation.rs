//! Writes the annotations of a track event as arguments.

use super::intern::PerfettoTexts;
use crate::json;
use crate::perfetto::annotation;
use crate::read::json_object::{JsonObject, object, push_double, push_integer, push_text, push_unsigned};
use crate::read::wire::{WireFields, WireValue, all_bytes_in};

/// Values nested deeper than this are null.
const MAX_DEPTH: usize = 32;

/// Writes an annotation under its name.
pub(super) fn write_annotation(args: &mut JsonObject<'_>, message: &[u8], texts: &PerfettoTexts) {
    push_value(args.field_of(name_of(message, texts)), message, texts, 0);
}

/// The name of an annotation; empty if it has none.
pub(super) fn name_of<'n>(message: &'n [u8], texts: &'n PerfettoTexts) -> &'n [u8] {
    let found = WireFields::new(message).find_map(|(field, value)| match (field, value) {
        (annotation::NAME, WireValue::Bytes(name)) => Some(name),
        (annotation::NAME_IID, WireValue::Number(iid)) => texts.keys.text(iid),
        _ => None,
    });
    found.unwrap_or_default()
}

fn push_value(out: &mut Vec<u8>, message: &[u8], texts: &PerfettoTexts, depth: usize) {
    let start = out.len();
    let mut close = None;
    for (field, value) in WireFields::new(message) {
        let (open, end) = match field {
            annotation::ENTRY => (b'{', b'}'),
            annotation::ITEM => (b'[', b']'),
            _ => {
                if push_scalar(out, start, (field, value), texts, depth) {
                    close = None;
                }
                continue;
            }
        };
        let Some(inner) = value.bytes().filter(|_| depth < MAX_DEPTH) else { continue };
        match close {
            None if out.len() == start => out.push(open),
            Some(known) if known == end => out.push(b','),
            // Parts beside another value.
            _ => continue,
        }
        close = Some(end);
        if field == annotation::ENTRY {
            push_text(out, name_of(inner, texts));
            out.push(b':');
        }
        push_value(out, inner, texts, depth + 1);
    }
    match close {
        Some(end) => out.push(end),
        // An empty list or dictionary leaves no trace.
        None if out.len() == start => out.extend_from_slice(b"[]"),
        None => {}
    }
}

fn push_list<'m>(
    out: &mut Vec<u8>,
    items: impl Iterator<Item = &'m [u8]>,
    mut push: impl FnMut(&mut Vec<u8>, &'m [u8]),
) {
    out.push(b'[');
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        push(out, item);
    }
    out.push(b']');
}

/// Replaces the value from `start` on by a value without parts; false for any other field.
fn push_scalar(
    out: &mut Vec<u8>,
    start: usize,
    field: (u32, WireValue<'_>),
    texts: &PerfettoTexts,
    depth: usize,
) -> bool {
    out.truncate(match field.0 {
        annotation::BOOL..=annotation::JSON | annotation::TEXT_IID => start,
        _ => return false,
    });
    match field {
        (annotation::BOOL, WireValue::Number(number)) => push_bool(out, number),
        (annotation::UINT, WireValue::Number(number)) => push_unsigned(out, number),
        (annotation::INT, WireValue::Number(number)) => push_integer(out, number as i64),
        (annotation::DOUBLE, WireValue::Number(bits)) => push_double(out, f64::from_bits(bits)),
        (annotation::POINTER, WireValue::Number(number)) => push_text(out, format!("{number:#x}").as_bytes()),
        (annotation::TEXT, WireValue::Bytes(text)) => push_text(out, text),
        (annotation::JSON, WireValue::Bytes(raw)) => out.extend_from_slice(json::canonical(raw).text.as_bytes()),
        (annotation::NESTED, WireValue::Bytes(nested)) => push_nested(out, nested, depth + 1),
        (annotation::TEXT_IID, WireValue::Number(iid)) => match texts.values.text(iid) {
            Some(text) => push_text(out, text),
            None => out.extend_from_slice(b"null"),
        },
        _ => return false,
    }
    true
}

/// Writes a value of the older form, `NestedValue`.
fn push_nested(out: &mut Vec<u8>, message: &[u8], depth: usize) {
    let start = out.len();
    for (field, value) in WireFields::new(message) {
        match (field, value) {
            (5, WireValue::Number(number)) => push_integer(out, number as i64),
            (6, WireValue::Number(bits)) => push_double(out, f64::from_bits(bits)),
            (7, WireValue::Number(number)) => push_bool(out, number),
            (8, WireValue::Bytes(text)) => push_text(out, text),
            _ => continue,
        }
        return;
    }
    match (depth >= MAX_DEPTH, all_bytes_in(message, 3).next().is_some(), all_bytes_in(message, 4).next().is_some()) {
        (false, true, _) => object(out, |dict| {
            for (key, value) in all_bytes_in(message, 2).zip(all_bytes_in(message, 3)) {
                push_nested(dict.field_of(key), value, depth + 1);
            }
        }),
        (false, false, true) => push_list(out, all_bytes_in(message, 4), |out, item| push_nested(out, item, depth + 1)),
        _ => {
            out.truncate(start);
            out.extend_from_slice(b"null");
        }
    }
}

fn push_bool(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(if number == 0 { b"false" } else { b"true" });
}
