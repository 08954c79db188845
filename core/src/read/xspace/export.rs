//! Streams a profile as the text of a Kineto trace, plane by plane.

use std::io;
use std::sync::Arc;

use super::about::{SpaceFacts, keep};
use super::field::space;
use super::line::{EventTally, LineHead, write_events};
use super::messages::SpaceMessages;
use super::plane::PlaneIndex;
use crate::error::Position;
use crate::read::event_text::EventText;
use crate::read::exported::{CHUNK_BYTES, ExportSource};
use crate::read::json_object::JsonObject;
use crate::read::text_window::TextWindow;
use crate::warning::{WarningKind, Warnings};

/// A profile that is being read.
pub(super) struct SpaceExport<'a> {
    messages: SpaceMessages<'a>,
    /// The plane at hand, and the line and the byte in it to go on with.
    plane: Option<PlaneIndex>,
    line: usize,
    byte: usize,
    head: LineHead,
    num_planes: i64,
    events: EventText,
    facts: SpaceFacts,
    keeps_environment: bool,
    file: Option<Arc<str>>,
    warnings: Warnings,
}

impl<'a> SpaceExport<'a> {
    pub(super) fn new(window: TextWindow<'a>, name: Option<&str>, keeps_environment: bool) -> Self {
        Self {
            messages: SpaceMessages::new(window),
            plane: None,
            line: 0,
            byte: 0,
            head: LineHead::default(),
            num_planes: 0,
            events: EventText::default(),
            facts: SpaceFacts::default(),
            keeps_environment,
            file: name.map(Arc::from),
            warnings: Warnings::default(),
        }
    }

    fn warn(&mut self, kind: WarningKind, count: u64) {
        let (file, byte) = (self.file.clone(), Some(self.messages.window.offset()));
        self.warnings.push_many(kind, count, || Position { file, byte, ..Position::default() });
    }

    /// Goes on to the next plane; false at the end of the file.
    fn next_plane(&mut self) -> io::Result<bool> {
        while let Some(field) = self.messages.advance().map_err(io::Error::other)? {
            let bytes = self.messages.message();
            match field {
                space::PLANE => {
                    let plane = PlaneIndex::new(bytes);
                    self.facts.take_plane(&plane, bytes);
                    self.num_planes += 1;
                    if !plane.lines.is_empty() {
                        let place = (self.num_planes, 0);
                        self.events.metadata("process_name", place, plane.name(bytes));
                        self.events.sort_index("process_sort_index", place, self.num_planes);
                    }
                    (self.line, self.byte) = (0, 0);
                    // A file that ends here is counted as that.
                    let is_faulty = plane.is_damaged && !self.messages.is_cut;
                    self.plane = Some(plane);
                    self.warn(WarningKind::DamagedMessage, u64::from(is_faulty));
                    return Ok(true);
                }
                space::ERROR => keep(&mut self.facts.errors, bytes),
                space::WARNING => keep(&mut self.facts.warnings, bytes),
                space::HOST_NAME => keep(&mut self.facts.hosts, bytes),
                _ => {}
            }
        }
        let ends = [
            (self.messages.is_cut, WarningKind::Truncated),
            (self.messages.window.is_damaged, WarningKind::DamagedCompression),
        ];
        ends.into_iter().for_each(|(is_so, kind)| self.warn(kind, u64::from(is_so)));
        Ok(false)
    }

    /// Writes some events of a plane; false at its end.
    fn write_plane(&mut self, plane: &PlaneIndex) -> bool {
        let Self { messages, events, line, byte, head, num_planes, .. } = self;
        let (bytes, process) = (messages.message(), *num_planes);
        let (mut tally, mut num_damaged) = (EventTally::default(), 0);
        while let Some(span) = plane.lines.get(*line)
            && events.out.len() <= CHUNK_BYTES
        {
            let message = span.of(bytes);
            if *byte == 0 {
                let name;
                (*head, name) = LineHead::of(message);
                events.metadata("thread_name", (process, head.thread), name);
                events.sort_index("thread_sort_index", (process, head.thread), *line as i64);
                num_damaged += u64::from(head.is_damaged && !messages.is_cut);
            }
            let to = (&mut *events, &mut tally);
            match write_events((plane, bytes), (message, *head, process), *byte, to, CHUNK_BYTES) {
                Some(next) => *byte = next,
                None => (*line, *byte) = (*line + 1, 0),
            }
        }
        let is_open = *line < plane.lines.len();
        self.facts.num_sums = self.facts.num_sums.saturating_add(tally.num_sums);
        self.warn(WarningKind::DamagedMessage, num_damaged + tally.num_faulty);
        is_open
    }
}

impl ExportSource for SpaceExport<'_> {
    const START: &'static [u8] = b"{\"traceEvents\":[\n";

    fn events(&self) -> &EventText {
        &self.events
    }

    fn events_mut(&mut self) -> &mut EventText {
        &mut self.events
    }

    fn write_piece(&mut self) -> io::Result<bool> {
        match self.plane.take() {
            Some(plane) => {
                if self.write_plane(&plane) {
                    self.plane = Some(plane);
                }
                Ok(true)
            }
            None => self.next_plane(),
        }
    }

    fn write_header(&mut self, header: &mut JsonObject<'_>) {
        self.facts.write(header, self.keeps_environment);
    }

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}
