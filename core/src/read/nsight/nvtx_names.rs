//! Names of NVTX domains and categories.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::device_streams::process;
use super::row::SqlValue;
use crate::read::json_object::JsonObject;

/// Names of domains and categories, by process and number.
#[derive(Debug, Default)]
pub(super) struct NvtxNames {
    pub(super) domains: FxHashMap<(i64, i64), Arc<[u8]>>,
    pub(super) categories: FxHashMap<(i64, i64, i64), Arc<[u8]>>,
    pub(super) num_bytes: usize,
}

/// The limit for bytes of names; further ones stay numbers.
pub(super) const MAX_BYTES: usize = 1 << 26;

impl NvtxNames {
    /// Writes the attributes of a range or mark.
    pub(super) fn write_marks(&self, args: &mut JsonObject<'_>, thread: Option<i64>, marks: &[SqlValue<'_>]) {
        let [category, color, domain, payloads @ ..] = marks else { return };
        let process = thread.map_or(0, process);
        let [category, color, domain] = [category, color, domain].map(|mark| mark.integer().unwrap_or(0));
        if domain != 0 {
            write_name(args, "domain", domain, self.domains.get(&(process, domain)));
        }
        if category != 0 {
            write_name(args, "category", category, self.categories.get(&(process, domain, category)));
        }
        if color != 0 {
            args.text("color", format!("#{:08X}", color as u32).as_bytes());
        }
        write_payload(args, payloads);
    }
}

pub(super) fn write_name(args: &mut JsonObject<'_>, key: &str, number: i64, name: Option<&Arc<[u8]>>) {
    match name {
        Some(name) => args.text(key, name),
        None => args.integer(key, number),
    }
}

/// The payload is of one of several types; where versions before 2021 had no value of a type they
/// wrote 0.
pub(super) fn write_payload(args: &mut JsonObject<'_>, payloads: &[SqlValue<'_>]) {
    let payload =
        payloads.iter().find(|payload| payload.is_set()).or(payloads.iter().find(|payload| payload.is_some()));
    if let Some(payload) = payload {
        payload.write_plain("payload", args);
    }
}
