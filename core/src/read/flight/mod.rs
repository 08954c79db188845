//! Reads dumps of the flight recorder of `torch.distributed`: pickles, or JSON.
//!
//! All versions since 1.1 are supported: `pg_config` by number or by name, with ranks as a list or
//! as a text; `process_group` or `pg_id` alone; `seq_id` or `collective_seq_id`.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::de::DeserializeOwned;

use super::pickle::fields::{DictEntries, PickleFields};
use super::pickle::{Pickle, PickleValue, PickleValues, ValueId};
use crate::flight::{FlightEntry, FlightGroup, FlightRecorder};
use crate::id::StrId;
use crate::warning::WarningKind;

/// Keys of the outermost dict, of which no other format has two.
const KEYS: [&str; 7] =
    ["entries", "version", "pg_config", "pg_status", "nccl_comm_state", "nccl_version", "comm_lib_version"];

/// Keys that only a flight recorder has near the start of its file, in quotes.
pub(super) const MARKS: [&[u8]; 6] = [
    b"\"pg_config\"",
    b"\"pg_status\"",
    b"\"collective_seq_id\"",
    b"\"p2p_seq_id\"",
    b"\"profiling_name\"",
    b"\"time_created_ns\"",
];

/// Whether a JSON text begins as a dump of the flight recorder does.
pub(super) fn is_flight_recorder(head: &[u8]) -> bool {
    let mut scanner = crate::json::Scanner::new(head);
    let is_first = |key: &[u8]| KEYS.iter().any(|known| known.as_bytes() == key);
    if !(scanner.take(b'{') && scanner.string().is_ok_and(|key| is_first(key.raw))) {
        return false;
    }
    let has = |mark: &[u8]| head.windows(mark.len()).any(|window| window == mark);
    let has_entries = has(b"\"entries\"") && has(b"\"version\"");
    !has(b"\"traceEvents\"") && (has_entries || MARKS.iter().any(|mark| has(mark)))
}

/// Whether a value has the keys of a dump.
pub(super) fn is_dump(values: &PickleValues<'_>, root: ValueId) -> bool {
    let Some(entries) = values.entries(root) else { return false };
    let has = |key: &str| entries.iter().any(|(other, _)| values.text(*other) == Some(key));
    has("entries") && KEYS[1..].iter().any(|key| has(key)) || has("pg_config") && has("pg_status")
}

/// Reads a dump from its values.
pub(super) fn read_flight_recorder(pickle: Pickle<'_>, num_bytes: usize, file: Option<Arc<str>>) -> FlightRecorder {
    let Pickle { values, root, warnings } = pickle;
    let mut fields = PickleFields::new(&values, file, num_bytes);
    fields.warnings = warnings;
    let mut reader = FlightReader { fields, recorder: FlightRecorder::default(), groups: FxHashMap::default() };
    reader.read(root);
    reader.finish()
}

struct FlightReader<'v> {
    fields: PickleFields<'v>,
    recorder: FlightRecorder,
    /// Where each group stands, by its key.
    groups: FxHashMap<StrId, usize>,
}

impl<'v> FlightReader<'v> {
    fn read(&mut self, root: ValueId) {
        let values = self.fields.values;
        let mut status = None;
        for (key, value) in values.entries(root).unwrap_or_default() {
            match values.text(*key) {
                Some("entries") => self.entries(*value),
                Some("pg_config") if values.entries(*value).is_some() => self.groups(*value),
                Some("pg_status") if values.entries(*value).is_some() => status = Some(*value),
                _ => self.fields.keep(*key, *value, &mut self.recorder.metadata),
            }
        }
        status.into_iter().for_each(|status| self.status(status));
    }

    fn entries(&mut self, list: ValueId) {
        let values = self.fields.values;
        let items: Vec<ValueId> = match (values.items(list), values.entries(list)) {
            (Some(items), _) => items.to_vec(),
            // Some writers number them.
            (None, Some(entries)) => entries.iter().map(|(_, value)| *value).collect(),
            (None, None) if *values.get(list) == PickleValue::None => Vec::new(),
            (None, None) => return self.fields.warn(WarningKind::NotAnEntry),
        };
        for (row, item) in items.into_iter().enumerate() {
            self.fields.row = Some(row as u64);
            match values.entries(item) {
                None => self.unreadable(WarningKind::NotAnEntry),
                Some(_) if !self.fields.take(item) => self.unreadable(WarningKind::SharedRow),
                Some(entries) => self.entry(entries),
            }
        }
        self.fields.row = None;
    }

    /// Notes an entry that may have been any call.
    fn unreadable(&mut self, kind: WarningKind) {
        self.fields.warn(kind);
        self.recorder.unreadable.push(self.recorder.entries.len() as u32);
    }

    fn entry(&mut self, entries: DictEntries<'v>) {
        let (mut entry, mut rest) = (FlightEntry::default(), String::new());
        let fields = &mut self.fields;
        for (key, value) in entries {
            let value = *value;
            match fields.values.text(*key) {
                Some("record_id") => entry.record_id = fields.number(value),
                Some("pg_id") => {
                    entry.group_id = fields.number_or_text(value);
                    let is_lost = entry.group_id.is_none() && *fields.values.get(value) != PickleValue::None;
                    entry.has_unknown_group |= is_lost;
                }
                Some("pg_name") if entry.group_name == StrId::EMPTY => {
                    let name = label(fields, value);
                    entry.has_unknown_group |= name.is_none();
                    entry.group_name = name.unwrap_or_default();
                }
                Some("process_group") => {
                    let (name, desc) = group_names(fields, value);
                    entry.has_unknown_group |= name.is_none();
                    (entry.group_name, entry.group_desc) = (name.unwrap_or(entry.group_name), desc);
                }
                Some("collective_seq_id" | "seq_id") => entry.collective_seq = fields.number(value),
                Some("p2p_seq_id") => entry.p2p_seq = fields.number(value),
                Some("op_id") => entry.op_id = fields.number(value),
                Some("is_p2p") => entry.is_p2p = fields.flag(value),
                Some("profiling_name") => entry.name = label(fields, value).unwrap_or_default(),
                Some("state") => entry.state = label(fields, value).unwrap_or_default(),
                Some("time_created_ns") => entry.created_ns = fields.nanoseconds(value),
                Some("time_discovered_started_ns") => entry.started_ns = discovered(fields, value),
                Some("time_discovered_completed_ns") => entry.completed_ns = discovered(fields, value),
                Some("duration_ms") => entry.duration_ns = fields.milliseconds(value),
                Some("timeout_ms") => entry.timeout_ns = fields.milliseconds(value),
                Some("retired") => entry.is_retired = fields.flag(value),
                Some("input_sizes") => entry.input_shapes = list_of::<Vec<i64>>(fields, value),
                Some("input_dtypes") => entry.input_types = list_of::<String>(fields, value),
                Some("output_sizes") => entry.output_shapes = list_of::<Vec<i64>>(fields, value),
                Some("output_dtypes") => entry.output_types = list_of::<String>(fields, value),
                Some("frames") => entry.stack = fields.stack(value),
                _ => fields.keep(*key, value, &mut rest),
            }
        }
        entry.has_unknown_group &= entry.group_name == StrId::EMPTY;
        entry.extra = fields.close(rest);
        self.recorder.entries.push(entry);
    }

    fn groups(&mut self, groups: ValueId) {
        let values = self.fields.values;
        for (key, value) in values.entries(groups).unwrap_or_default() {
            let key = self.fields.text(*key);
            let mut group = FlightGroup { key, ..FlightGroup::default() };
            match values.entries(*value) {
                Some(_) if !self.fields.take(*value) => self.fields.warn(WarningKind::SharedRow),
                Some(entries) => self.group(&mut group, entries),
                // Version 1.2: the ranks alone.
                None => group.ranks = ranks(&mut self.fields, *value),
            }
            self.groups.entry(key).or_insert(self.recorder.groups.len());
            self.recorder.groups.push(group);
        }
    }

    fn group(&mut self, group: &mut FlightGroup, entries: DictEntries<'v>) {
        let (fields, mut rest) = (&mut self.fields, String::new());
        for (key, value) in entries {
            match fields.values.text(*key) {
                Some("name") => group.name = fields.text(*value),
                Some("desc") => group.desc = fields.text(*value),
                Some("ranks") => group.ranks = ranks(fields, *value),
                _ => fields.keep(*key, *value, &mut rest),
            }
        }
        group.extra = fields.close(rest);
    }

    fn status(&mut self, status: ValueId) {
        let values = self.fields.values;
        for (key, value) in values.entries(status).unwrap_or_default() {
            let key = self.fields.text(*key);
            let groups = &mut self.recorder.groups;
            let at = *self.groups.entry(key).or_insert(groups.len());
            if at == groups.len() {
                groups.push(FlightGroup { key, ..FlightGroup::default() });
            }
            let group = &mut groups[at];
            let Some(entries) = values.entries(*value).filter(|_| self.fields.take(*value)) else {
                self.fields.warn(WarningKind::NotAnEntry);
                continue;
            };
            for (key, value) in entries {
                match values.text(*key) {
                    Some("last_enqueued_collective") => group.last_enqueued = self.fields.number_or_text(*value),
                    Some("last_started_collective") => group.last_started = self.fields.number_or_text(*value),
                    Some("last_completed_collective") => group.last_completed = self.fields.number_or_text(*value),
                    _ => {}
                }
            }
        }
    }

    fn finish(mut self) -> FlightRecorder {
        let metadata = &mut self.recorder.metadata;
        metadata.push_str(if metadata.is_empty() { "{}" } else { "}" });
        let PickleFields { strings, stacks, warnings, .. } = self.fields;
        FlightRecorder { strings, stacks, warnings, ..self.recorder }
    }
}

/// A time at which the watchdog saw a change; dumps in JSON have 0 where there is none.
fn discovered(fields: &mut PickleFields<'_>, value: ValueId) -> Option<i64> {
    fields.nanoseconds(value).filter(|time| *time != 0)
}

/// Name and description of a group: a pair, or the name alone. The name may be a number.
fn group_names(fields: &mut PickleFields<'_>, value: ValueId) -> (Option<StrId>, StrId) {
    let (name, desc) = match fields.values.items(value) {
        Some([name, desc]) => (*name, label(fields, *desc).unwrap_or_default()),
        Some([name]) => (*name, StrId::EMPTY),
        _ => (value, StrId::EMPTY),
    };
    let is_number = matches!(fields.values.get(name), PickleValue::Int(_));
    (if is_number { Some(fields.json(name)) } else { label(fields, name) }, desc)
}

/// A text, empty for None. No other value is one: those are counted.
fn label(fields: &mut PickleFields<'_>, value: ValueId) -> Option<StrId> {
    let is_label = fields.values.text(value).is_some() || *fields.values.get(value) == PickleValue::None;
    if !is_label {
        fields.warn(WarningKind::UnexpectedType);
    }
    is_label.then(|| fields.text(value))
}

/// A list as JSON; empty for other values, which are counted. Comparisons take equal texts for
/// equal lists, so a text must be a list.
fn list_of<T: DeserializeOwned>(fields: &mut PickleFields<'_>, value: ValueId) -> StrId {
    let json = fields.json(value);
    if json == StrId::EMPTY || serde_json::from_str::<Vec<T>>(fields.strings.text(json)).is_ok() {
        return json;
    }
    fields.warn(WarningKind::UnexpectedType);
    StrId::EMPTY
}

/// Ranks as JSON: a list, or a text that holds one.
fn ranks(fields: &mut PickleFields<'_>, value: ValueId) -> StrId {
    let is_list = |text: &str| serde_json::from_str::<Vec<i64>>(text).is_ok();
    if fields.values.text(value).is_some_and(is_list) { fields.text(value) } else { fields.json(value) }
}
