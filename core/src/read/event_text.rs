//! Writes events as Kineto writes them.

use super::json_object::{JsonObject, object};
use crate::time::Ts;

/// Elements of `traceEvents`, as text.
#[derive(Debug, Default)]
pub(super) struct EventText {
    pub(super) out: Vec<u8>,
    /// Number of elements so far, also of those whose text was given away.
    pub(super) num_elements: u64,
}

impl EventText {
    /// Adds an element.
    pub(super) fn element(&mut self, fill: impl FnOnce(&mut JsonObject<'_>)) {
        if self.num_elements > 0 {
            self.out.extend_from_slice(b",\n");
        }
        self.num_elements += 1;
        object(&mut self.out, fill);
    }

    /// Adds a metadata element: the name of a process or a thread.
    pub(super) fn metadata(&mut self, what: &str, place: (i64, i64), name: &[u8]) {
        self.about(what, place, |args| args.text("name", name));
    }

    /// Adds what a process is called besides its name.
    pub(super) fn labels(&mut self, place: (i64, i64), labels: &[u8]) {
        self.about("process_labels", place, |args| args.text("labels", labels));
    }

    /// Adds the place of a process or a thread among the others.
    pub(super) fn sort_index(&mut self, what: &str, place: (i64, i64), index: i64) {
        self.about(what, place, |args| args.integer("sort_index", index));
    }

    fn about(&mut self, what: &str, (process, thread): (i64, i64), fill: impl FnOnce(&mut JsonObject<'_>)) {
        self.element(|event| {
            event.text("ph", b"M");
            event.text("name", what.as_bytes());
            event.integer("pid", process);
            event.integer("tid", thread);
            event.object("args", fill);
        });
    }
}

/// The end, unless it stands for none: some versions of some profilers write 0 or -1.
pub(super) fn known_end(start: Option<i64>, end: Option<i64>) -> Option<i64> {
    end.filter(|end| *end > 0 || start.is_none_or(|start| start <= *end))
}

/// Writes when something began and how long it took; without an end, it never ended. Where an end
/// is only missing, `TableRow::write_span` is right.
pub(super) fn write_span(event: &mut JsonObject<'_>, start: Option<i64>, end: Option<i64>) {
    let end = known_end(start, end);
    event.text("ph", if end.is_some() { b"X" } else { b"B" });
    if let Some(start) = start {
        event.micros("ts", Ts(start));
        if let Some(end) = end {
            event.micros("dur", Ts(end.saturating_sub(start)));
        }
    }
}

/// Writes the three sides of a grid or a block.
pub(super) fn write_shape(args: &mut JsonObject<'_>, key: &str, sides: [Option<i64>; 3]) {
    if let [Some(x), Some(y), Some(z)] = sides {
        args.field(key).extend_from_slice(format!("[{x},{y},{z}]").as_bytes());
    }
}

/// Writes the size of a copy or a fill and, if its times are known, its bandwidth.
pub(super) fn write_bytes(args: &mut JsonObject<'_>, [start, end, bytes]: [Option<i64>; 3]) {
    let Some(bytes) = bytes else { return };
    args.integer("bytes", bytes);
    let ns = start.zip(end).map_or(0, |(start, end)| end.saturating_sub(start));
    if ns > 0 {
        // Always as many digits: another number of them would be another template.
        let bandwidth = format!("{:.6}", bytes as f64 / ns as f64);
        args.field("memory bandwidth (GB/s)").extend_from_slice(bandwidth.as_bytes());
    }
}
