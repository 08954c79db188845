//! Reads memory snapshots from pickles.
//!
//! All layouts since `PyTorch` 1.11 are supported: a dict with `segments` and `device_traces`, or
//! only a list of segments; blocks with `frames` or with a `history`; with or without addresses.
//! The same structure may also be JSON.

use std::sync::Arc;

use super::pickle::fields::{DictEntries, PickleFields};
use super::pickle::{Pickle, ValueId};
use crate::error::{Error, ErrorKind, Position};
use crate::json::Scanner;
use crate::memory::MemorySnapshot;
use crate::memory::snapshot::{Action, Block, MemoryAnnotation, PastBlock, Segment};
use crate::warning::WarningKind;

/// Whether a JSON text begins as that of a memory snapshot does.
pub(super) fn is_memory_snapshot(head: &[u8]) -> bool {
    let mut scanner = Scanner::new(head);
    scanner.take(b'{') && scanner.string().is_ok_and(|key| matches!(key.raw, b"segments" | b"device_traces"))
}

/// Reads a memory snapshot from its values, of a file of so many bytes.
pub(super) fn read_memory_snapshot(
    pickle: Pickle<'_>,
    num_bytes: usize,
    file: Option<Arc<str>>,
) -> Result<MemorySnapshot, Error> {
    let Pickle { values, root, warnings } = pickle;
    let mut fields = PickleFields::new(&values, file.clone(), num_bytes);
    fields.warnings = warnings;
    let mut reader = SnapshotReader { fields, snapshot: MemorySnapshot::default() };
    if !reader.read(root) {
        let expected = "a memory snapshot: a dict with `segments` or `device_traces`, or a list of segments";
        let position = Position { file, byte: Some(0), ..Position::default() };
        return Err(ErrorKind::Malformed { expected, found: reader.words(root), position }.into());
    }
    Ok(reader.finish())
}

struct SnapshotReader<'v> {
    fields: PickleFields<'v>,
    snapshot: MemorySnapshot,
}

impl<'v> SnapshotReader<'v> {
    /// Reads the outermost value; false when it is no snapshot.
    fn read(&mut self, root: ValueId) -> bool {
        let values = self.fields.values;
        if let Some(entries) = values.entries(root) {
            let is_known = |(key, _): &(ValueId, _)| matches!(values.text(*key), Some("segments" | "device_traces"));
            entries.iter().for_each(|(key, value)| self.read_key(*key, *value));
            return entries.iter().any(is_known);
        }
        let Some(items) = values.items(root) else { return false };
        let has_blocks = |entries: DictEntries<'_>| entries.iter().any(|(key, _)| values.text(*key) == Some("blocks"));
        let is_segments = items.iter().all(|item| values.entries(*item).is_some_and(has_blocks));
        if is_segments {
            self.rows(root, Self::read_segment);
        }
        is_segments
    }

    fn read_key(&mut self, key: ValueId, value: ValueId) {
        let values = self.fields.values;
        match (values.text(key), values.items(value)) {
            (Some("segments" | "host_segments"), Some(_)) => {
                self.rows(value, Self::read_segment);
            }
            (Some("device_traces"), Some(lists)) => {
                for (device, list) in lists.iter().enumerate() {
                    let device = Some(device as i64);
                    self.rows(*list, |reader, entries| reader.read_action(device, entries));
                }
            }
            (Some("host_traces"), Some(_)) => self.rows(value, |reader, entries| reader.read_action(None, entries)),
            (Some("external_annotations"), Some(_)) => {
                self.rows(value, Self::read_annotation);
            }
            _ => self.fields.keep(key, value, &mut self.snapshot.metadata),
        }
    }

    /// Reads each dict of a list.
    fn rows(&mut self, list: ValueId, mut read: impl FnMut(&mut Self, DictEntries<'v>)) {
        let values = self.fields.values;
        let Some(items) = values.items(list) else { return self.fields.warn(WarningKind::NotAnEntry) };
        if !items.is_empty() && !self.fields.take(list) {
            return self.fields.warn(WarningKind::SharedRow);
        }
        let outer = self.fields.row;
        for (row, item) in items.iter().enumerate() {
            self.fields.row = Some(row as u64);
            match values.entries(*item) {
                None => self.fields.warn(WarningKind::NotAnEntry),
                Some(_) if !self.fields.take(*item) => self.fields.warn(WarningKind::SharedRow),
                Some(entries) => read(self, entries),
            }
        }
        self.fields.row = outer;
    }

    fn read_segment(&mut self, entries: DictEntries<'v>) {
        let (mut segment, mut blocks, mut rest) = (Segment::default(), None, String::new());
        let fields = &mut self.fields;
        for (key, value) in entries {
            match fields.values.text(*key) {
                Some("device") => segment.device = fields.number(*value),
                Some("address") => segment.address = fields.number(*value),
                Some("total_size" | "size") => segment.size = fields.number(*value),
                Some("allocated_size") => segment.allocated = fields.number(*value),
                Some("active_size") => segment.active = fields.number(*value),
                Some("requested_size") => segment.requested = fields.number(*value),
                Some("stream") => segment.stream = fields.number(*value),
                Some("segment_type") => segment.segment_type = fields.text(*value),
                Some("segment_pool_id") => segment.pool = fields.json(*value),
                Some("is_expandable") => segment.is_expandable = fields.flag(*value),
                Some("frames") => segment.stack = fields.stack(*value),
                Some("blocks") => blocks = Some(*value),
                _ => fields.keep(*key, *value, &mut rest),
            }
        }
        segment.extra = fields.close(rest);
        let row = self.snapshot.segments.len() as u32;
        self.snapshot.segments.push(segment);
        let mut next = segment.address;
        if let Some(blocks) = blocks {
            self.rows(blocks, |reader, entries| next = reader.read_block(row, next, entries));
        }
    }

    /// Reads a block that follows at `next`; gives where the one after it follows.
    fn read_block(&mut self, segment: u32, next: Option<u64>, entries: DictEntries<'v>) -> Option<u64> {
        let (mut block, mut past, mut rest) = (Block { segment, ..Block::default() }, None, String::new());
        let fields = &mut self.fields;
        for (key, value) in entries {
            match fields.values.text(*key) {
                Some("address") => block.address = fields.number(*value),
                Some("size") => block.size = fields.number(*value),
                Some("requested_size") => block.requested = fields.number(*value),
                Some("state") => block.state = fields.text(*value),
                Some("frames") => block.stack = fields.stack(*value),
                Some("history") => past = Some(*value),
                _ => fields.keep(*key, *value, &mut rest),
            }
        }
        block.extra = fields.close(rest);
        block.address = block.address.or(next);
        let row = self.snapshot.blocks.len() as u32;
        let newest = self.snapshot.past_blocks.len();
        if let Some(past) = past {
            self.rows(past, |reader, entries| reader.read_past_block(row, entries));
        }
        if let Some(newest) = self.snapshot.past_blocks.get(newest) {
            block.requested = block.requested.or(newest.requested);
            block.stack = block.stack.or(newest.stack);
        }
        self.snapshot.blocks.push(block);
        block.address?.checked_add(u64::try_from(block.size?).ok()?)
    }

    fn read_past_block(&mut self, block: u32, entries: DictEntries<'v>) {
        let (mut past, mut rest) = (PastBlock { block, ..PastBlock::default() }, String::new());
        let fields = &mut self.fields;
        for (key, value) in entries {
            match fields.values.text(*key) {
                Some("addr") => past.address = fields.number(*value),
                Some("real_size") => past.requested = fields.number(*value),
                Some("frames") => past.stack = fields.stack(*value),
                _ => fields.keep(*key, *value, &mut rest),
            }
        }
        past.extra = fields.close(rest);
        self.snapshot.past_blocks.push(past);
    }

    fn read_action(&mut self, device: Option<i64>, entries: DictEntries<'v>) {
        let (mut action, mut rest) = (Action { device, ..Action::default() }, String::new());
        let fields = &mut self.fields;
        for (key, value) in entries {
            match fields.values.text(*key) {
                Some("action") => action.action = fields.text(*value),
                Some("addr") => action.address = fields.number(*value),
                Some("size") => action.size = fields.number(*value),
                Some("stream") => action.stream = fields.number(*value),
                Some("time_us") => action.time = fields.time(*value),
                Some("device_free") => action.device_free = fields.number(*value),
                Some("pool_id") => action.pool = fields.json(*value),
                Some("compile_context") => action.compile_context = fields.text(*value),
                Some("user_metadata") => action.user_metadata = fields.text(*value),
                Some("frames") => action.stack = fields.stack(*value),
                _ => fields.keep(*key, *value, &mut rest),
            }
        }
        action.extra = fields.close(rest);
        self.snapshot.actions.push(action);
    }

    fn read_annotation(&mut self, entries: DictEntries<'v>) {
        let (mut annotation, mut rest) = (MemoryAnnotation::default(), String::new());
        let fields = &mut self.fields;
        for (key, value) in entries {
            match fields.values.text(*key) {
                Some("time_us") => annotation.time = fields.time(*value),
                Some("device") => annotation.device = fields.number(*value),
                Some("name") => annotation.name = fields.text(*value),
                Some("stage") => annotation.stage = fields.text(*value),
                _ => fields.keep(*key, *value, &mut rest),
            }
        }
        annotation.extra = fields.close(rest);
        self.snapshot.annotations.push(annotation);
    }

    fn finish(mut self) -> MemorySnapshot {
        let metadata = &mut self.snapshot.metadata;
        metadata.push_str(if metadata.is_empty() { "{}" } else { "}" });
        let PickleFields { strings, stacks, warnings, .. } = self.fields;
        MemorySnapshot { strings, stacks, warnings, ..self.snapshot }
    }

    /// Describes a value that is no snapshot.
    fn words(&self, root: ValueId) -> String {
        let values = self.fields.values;
        match values.entries(root) {
            Some(entries) => {
                let keys: Vec<_> = entries.iter().filter_map(|(key, _)| values.text(*key)).take(5).collect();
                format!("a dict with {keys:?}")
            }
            None => String::from(values.get(root).words()),
        }
    }
}

#[cfg(test)]
mod tests;
