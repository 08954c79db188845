//! Splits the raw arguments of an element into a shared template and numbers.

use rustc_hash::FxHashSet;

use super::builder::TraceBuilder;
use super::element::{RawArgs, RawValue};
use super::repair::repair;
use crate::id::StrId;
use crate::json::{self, CanonicalJson};
use crate::trace::args::{ArgsRef, ArgsTemplate, FieldValue, TemplateField};
use crate::warning::WarningKind;

impl TraceBuilder {
    /// Keeps the arguments: their template once, their numbers in the pool.
    #[inline]
    pub(super) fn keep_args(&mut self, raw: &RawArgs<'_>) -> ArgsRef {
        let template = match self.trace.args.find(&raw.text) {
            Some(template) => template,
            None => {
                self.irregular = 0;
                let template = self.new_template(raw);
                let id = self.trace.args.add(&raw.text, template);
                if std::mem::take(&mut self.irregular) > 0 {
                    self.irregular_templates.insert(id);
                }
                id
            }
        };
        if self.irregular_templates.contains(&template) {
            self.warn(WarningKind::IrregularJson);
        }
        ArgsRef { template, start: self.trace.args.push_values(&raw.values) }
    }

    fn new_template(&mut self, raw: &RawArgs<'_>) -> ArgsTemplate {
        let mut fields = Vec::with_capacity(raw.fields.len());
        let mut keys = FxHashSet::default();
        for (key, value) in &raw.fields {
            let key = self.intern(*key);
            let (value, is_outer) = match *value {
                RawValue::Slot(scale) => (FieldValue::Slot(scale), false),
                RawValue::Json(text) => (FieldValue::Json(self.intern_json(text)), false),
                RawValue::Outer(text) => (FieldValue::Json(self.intern_json(text)), true),
            };
            self.irregular += u32::from(!keys.insert((key, is_outer)));
            fields.push(TemplateField { key, value, is_outer });
        }
        ArgsTemplate::new(fields, &self.trace.strings)
    }

    /// Counts the element now read when a value in it was not strict JSON.
    pub(super) fn settle_irregular(&mut self) {
        if std::mem::take(&mut self.irregular) > 0 {
            self.warn(WarningKind::IrregularJson);
        }
    }

    /// The id of a value's canonical text.
    pub(super) fn intern_json(&mut self, raw: &[u8]) -> StrId {
        self.intern_canonical(raw, &json::canonical(raw))
    }

    /// The id of the canonical text of a list, in which strings may not be escaped.
    pub(super) fn intern_list(&mut self, raw: &[u8]) -> StrId {
        let canonical = json::canonical(raw);
        let is_lost = raw.starts_with(b"[") && !canonical.text.starts_with('[');
        match is_lost.then(|| meant(raw)).flatten() {
            Some(meant) => {
                self.warn(WarningKind::RepairedElement);
                self.intern_canonical(raw, &meant)
            }
            None => self.intern_canonical(raw, &canonical),
        }
    }

    fn intern_canonical(&mut self, raw: &[u8], canonical: &CanonicalJson) -> StrId {
        if std::str::from_utf8(raw).is_err() {
            self.warn(WarningKind::InvalidUtf8);
        }
        self.irregular += u32::from(!canonical.is_strict);
        self.trace.strings.intern(&canonical.text)
    }
}

/// A list with unescaped strings, repaired.
fn meant(raw: &[u8]) -> Option<CanonicalJson> {
    let (json, size) = repair(raw)?;
    let canonical = json::canonical(&json);
    (size == raw.len() && canonical.text.starts_with('[')).then_some(canonical)
}
