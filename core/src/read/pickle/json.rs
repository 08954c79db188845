//! Writes values without a column as JSON.

use super::value::{PickleValue, PickleValues, ValueId};
use crate::json::write_string;

/// Values nested deeper than this are not written out.
const MAX_DEPTH: u32 = 64;

/// The number of JSON bytes that a file may produce. Shared values repeat in JSON, endlessly in a
/// hostile pickle.
#[derive(Debug)]
pub(super) struct JsonBudget(usize);

impl JsonBudget {
    /// A budget by file size: many times that of a plain file.
    pub(super) fn of(num_bytes: usize) -> Self {
        Self(num_bytes.saturating_mul(8).saturating_add(1 << 16))
    }
}

/// Writes values as JSON, as far as the budget goes.
pub(super) struct PickleJson<'j> {
    values: &'j PickleValues<'j>,
    budget: &'j mut JsonBudget,
}

impl<'j> PickleJson<'j> {
    pub(super) fn new(values: &'j PickleValues<'j>, budget: &'j mut JsonBudget) -> Self {
        Self { values, budget }
    }

    /// Appends a value; false when it is too large, and then `out` is as it was.
    pub(super) fn write(mut self, id: ValueId, out: &mut String) -> bool {
        self.whole(out, |json, out| json.value(id, out, 0))
    }

    /// Appends a key and a value, likewise.
    pub(super) fn write_entry(mut self, key: ValueId, value: ValueId, out: &mut String) -> bool {
        self.whole(out, |json, out| json.entry(key, value, out, 0))
    }

    fn whole(&mut self, out: &mut String, write: impl FnOnce(&mut Self, &mut String) -> Option<()>) -> bool {
        let length = out.len();
        let is_whole = write(self, out).is_some();
        if !is_whole {
            out.truncate(length);
        }
        is_whole
    }

    fn value(&mut self, id: ValueId, out: &mut String, depth: u32) -> Option<()> {
        let length = out.len();
        match self.values.get(id) {
            PickleValue::None => out.push_str("null"),
            PickleValue::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            PickleValue::Int(number) => out.push_str(&number.to_string()),
            PickleValue::Float(number) => out.push_str(&float(*number)),
            PickleValue::Text(text) => write_string(out, text),
            PickleValue::Bytes(bytes) => out.push_str(&format!("{bytes:?}").replace(' ', "")),
            PickleValue::List(items) | PickleValue::Tuple(items) | PickleValue::Set(items) => {
                return self
                    .bracketed(['[', ']'], items, out, depth, |json, item, out| json.value(*item, out, depth + 1));
            }
            PickleValue::Dict(entries) => {
                let entry =
                    |json: &mut Self, (key, value): &(_, _), out: &mut String| json.entry(*key, *value, out, depth + 1);
                return self.bracketed(['{', '}'], entries, out, depth, entry);
            }
        }
        self.spend(out.len() - length)
    }

    fn entry(&mut self, key: ValueId, value: ValueId, out: &mut String, depth: u32) -> Option<()> {
        if self.values.text(key).is_some() {
            self.value(key, out, depth)?;
        } else {
            let mut name = String::new();
            self.value(key, &mut name, depth)?;
            write_string(out, &name);
        }
        out.push(':');
        self.value(value, out, depth)
    }

    fn bracketed<T>(
        &mut self,
        [open, close]: [char; 2],
        items: &[T],
        out: &mut String,
        depth: u32,
        mut write: impl FnMut(&mut Self, &T, &mut String) -> Option<()>,
    ) -> Option<()> {
        if depth == MAX_DEPTH {
            return None;
        }
        out.push(open);
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write(self, item, out)?;
        }
        out.push(close);
        self.spend(2)
    }

    /// Takes from the budget, which a value may overdraw but once.
    fn spend(&mut self, num_bytes: usize) -> Option<()> {
        let is_left = self.budget.0 > 0;
        self.budget.0 = self.budget.0.saturating_sub(num_bytes);
        is_left.then_some(())
    }
}

/// JSON has no non-finite numbers, so they become texts.
fn float(number: f64) -> String {
    if number.is_finite() { serde_json::Value::from(number).to_string() } else { format!("\"{number}\"") }
}
