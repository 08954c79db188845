//! From an element's raw arguments to a shared template and its numbers.

use super::builder::Builder;
use super::element::{RawArgs, RawValue};
use crate::json;
use crate::trace::args::{ArgsRef, Field, FieldValue, Template};
use crate::warning::WarningKind;

impl Builder {
    /// Keeps the arguments: their template once, their numbers in the pool.
    #[inline]
    pub(super) fn keep_args(&mut self, raw: &RawArgs<'_>) -> ArgsRef {
        let template = match self.trace.args.find(&raw.text) {
            Some(template) => template,
            None => {
                let template = self.new_template(raw);
                self.trace.args.add(&raw.text, template)
            }
        };
        ArgsRef { template, start: self.trace.args.push_values(&raw.values) }
    }

    fn new_template(&mut self, raw: &RawArgs<'_>) -> Template {
        let mut fields = Vec::with_capacity(raw.fields.len());
        for (key, value) in &raw.fields {
            let key = self.intern(*key);
            let (value, is_outer) = match *value {
                RawValue::Slot(scale) => (FieldValue::Slot(scale), false),
                RawValue::Json(text) => (FieldValue::Json(self.intern_json(text)), false),
                RawValue::Outer(text) => (FieldValue::Json(self.intern_json(text)), true),
            };
            fields.push(Field { key, value, is_outer });
        }
        Template::new(fields, &self.trace.strings)
    }

    /// The id of a value's canonical text.
    pub(super) fn intern_json(&mut self, raw: &[u8]) -> crate::id::StrId {
        if std::str::from_utf8(raw).is_err() {
            self.warn(WarningKind::InvalidUtf8);
        }
        self.trace.strings.intern(&json::canonical(raw))
    }
}
