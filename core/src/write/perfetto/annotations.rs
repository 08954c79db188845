//! Writes arguments as annotations of track events, and as texts of stages.

use super::message::WireMessage;
use super::packets::PacketWriter;
use crate::perfetto::{annotation, interned, track_event};

/// Writes an argument, whose value is JSON.
pub(super) fn write_annotation<'t>(
    packets: &mut PacketWriter<'t, '_>,
    event: &mut WireMessage,
    key: &'t str,
    json: &str,
) {
    let id = packets.id(interned::ANNOTATION, key);
    event.message(track_event::ANNOTATION, |entry| {
        entry.number(annotation::NAME_IID, id);
        write_value(entry, json);
    });
}

fn write_value(entry: &mut WireMessage, json: &str) {
    match json.as_bytes().first() {
        Some(b'"') => match serde_json::from_str::<String>(json) {
            Ok(text) => entry.text(annotation::TEXT, text.as_bytes()),
            Err(_) => entry.text(annotation::JSON, json.as_bytes()),
        },
        Some(b'0'..=b'9' | b'-') => write_number(entry, json),
        _ if json == "true" || json == "false" => entry.number(annotation::BOOL, u64::from(json == "true")),
        // Lists keep the digits of their numbers.
        _ => entry.text(annotation::JSON, json.as_bytes()),
    }
}

/// Writes a number so that the same digits are read again.
fn write_number(entry: &mut WireMessage, json: &str) {
    if let Some(number) = json.parse::<i64>().ok().filter(|number| number.to_string() == json) {
        entry.signed(annotation::INT, number);
    } else if let Some(number) = json.parse::<u64>().ok().filter(|number| number.to_string() == json) {
        entry.number(annotation::UINT, number);
    } else if let Some(number) = json.parse::<f64>().ok().filter(|number| format!("{number:?}") == json) {
        entry.fixed(annotation::DOUBLE, number.to_bits());
    } else {
        entry.text(annotation::JSON, json.as_bytes());
    }
}

/// An argument's value as a stage has it: the text of a string, or the JSON of any other value. A
/// string that would be read as another value stays JSON.
pub(super) fn stage_text(json: &str) -> String {
    let Ok(text) = serde_json::from_str::<String>(json) else { return json.to_owned() };
    let is_ambiguous = text.starts_with(|letter: char| letter.is_ascii_digit() || "-[{\"".contains(letter))
        || ["true", "false", "null"].contains(&text.as_str());
    if is_ambiguous { json.to_owned() } else { text }
}
