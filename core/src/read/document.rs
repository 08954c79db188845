//! A whole JSON document: which key holds events, which holds nodes, and what else the header says.

use std::sync::Arc;

use super::builder::Builder;
use super::element::Element;
use crate::error::{Error, ErrorKind, Position};
use crate::id::StrId;
use crate::json::{Fault, Scanner};
use crate::warning::WarningKind;

/// Reads one document into the builder.
pub(super) fn read_document(text: &[u8], file: Option<Arc<str>>, builder: &mut Builder) -> Result<(), Error> {
    builder.file = file;
    let mut document = Document { scanner: Scanner::new(text), builder, header: Vec::new(), found: Found::default() };
    let outcome = match document.scanner.peek() {
        Some(b'[') => document.read_events(),
        _ => document.read_object(),
    };
    document.conclude(outcome)
}

/// What has been found in the document so far.
#[derive(Debug, Default)]
struct Found {
    events: Option<u64>,
    nodes: Option<u64>,
    skipped: u64,
}

struct Document<'a, 'b> {
    scanner: Scanner<'a>,
    builder: &'b mut Builder,
    header: Vec<(StrId, StrId)>,
    found: Found,
}

impl Document<'_, '_> {
    fn read_object(&mut self) -> Result<(), Fault> {
        self.scanner.enter_object()?;
        while let Some(key) = self.scanner.next_key()? {
            let is_array = self.scanner.peek() == Some(b'[');
            match key.raw {
                b"traceEvents" if is_array => self.read_events()?,
                b"nodes" if is_array => self.read_nodes()?,
                _ => {
                    let value = self.scanner.skip_value()?;
                    let (key, value) = (self.builder.intern(key), self.builder.intern_json(value));
                    if let Some(entry) = self.header.iter_mut().find(|(other, _)| *other == key) {
                        entry.1 = value;
                        self.warn(WarningKind::DuplicateKey);
                    } else {
                        self.header.push((key, value));
                    }
                }
            }
        }
        Ok(())
    }

    fn read_events(&mut self) -> Result<(), Fault> {
        let mut element = Element::default();
        let mut position = self.found.events.unwrap_or(0);
        self.found.events = Some(position);
        self.scanner.enter_array()?;
        while self.scanner.next_element()? {
            let start = self.scanner.at();
            self.builder.position = position as u32;
            self.builder.byte = start as u64;
            if self.scanner.peek() == Some(b'{') {
                match element.scan(&mut self.scanner) {
                    Ok(()) => self.builder.push(&element),
                    Err(Fault::End) => return Err(Fault::End),
                    Err(Fault::Unexpected) => self.recover(start)?,
                }
            } else if self.scanner.skip_value().is_ok() {
                self.builder.warn(WarningKind::NotAnEvent);
                self.found.skipped += 1;
            } else {
                self.recover(start)?;
            }
            position += 1;
            self.found.events = Some(position);
        }
        Ok(())
    }

    /// After a malformed element, continues at the next one that opens with a phase, as `PyTorch` writes them.
    fn recover(&mut self, start: usize) -> Result<(), Fault> {
        self.builder.warn(WarningKind::MalformedElement);
        self.found.skipped += 1;
        let from = self.scanner.at().max(start + 1);
        let rest = self.scanner.rest(from);
        let mut at = 0;
        while let Some(offset) = memchr::memmem::find(&rest[at..], b"\"ph\"") {
            at += offset;
            let before = rest[..at].trim_ascii_end();
            if before.ends_with(b"{") {
                self.scanner.seek(from + before.len() - 1);
                return Ok(());
            }
            at += 1;
        }
        self.scanner.seek(from + rest.len());
        Err(Fault::End)
    }

    fn read_nodes(&mut self) -> Result<(), Fault> {
        let mut count = self.found.nodes.unwrap_or(0);
        self.found.nodes = Some(count);
        self.scanner.enter_array()?;
        while self.scanner.next_element()? {
            self.builder.position = count as u32;
            self.builder.byte = self.scanner.at() as u64;
            self.builder.read_node(&mut self.scanner)?;
            count += 1;
            self.found.nodes = Some(count);
        }
        Ok(())
    }

    fn warn(&mut self, kind: WarningKind) {
        let (file, byte) = (&self.builder.file, self.scanner.at() as u64);
        let event = self.found.events;
        self.builder.trace.warnings.push(kind, || Position { file: file.clone(), byte: Some(byte), event });
    }

    /// Decides whether what was found is a trace, and counts how it ended.
    fn conclude(mut self, outcome: Result<(), Fault>) -> Result<(), Error> {
        let is_trace = match self.found.events {
            Some(num_events) => num_events == 0 || self.found.skipped < num_events,
            None => self.found.nodes.is_some(),
        };
        if !is_trace {
            return Err(self.not_a_trace(outcome));
        }
        match outcome {
            Err(Fault::End) if self.found.events.is_none() => self.warn(WarningKind::UnfinishedExecutionTrace),
            Err(Fault::End) => self.warn(WarningKind::Truncated),
            Err(Fault::Unexpected) => self.warn(WarningKind::MalformedElement),
            Ok(()) if self.scanner.peek().is_some() => self.warn(WarningKind::TrailingText),
            Ok(()) => {}
        }
        self.keep_header()
    }

    fn keep_header(self) -> Result<(), Error> {
        let (is_kineto, builder) = (self.found.events.is_some(), self.builder);
        let (is_taken, found) = if is_kineto {
            (&mut builder.has_kineto, "a second Kineto trace")
        } else {
            (&mut builder.has_execution, "a second Execution Trace")
        };
        if std::mem::replace(is_taken, true) {
            let position = Position { file: builder.file.clone(), byte: Some(0), event: None };
            let expected = "one Kineto trace and one Execution Trace";
            return Err(ErrorKind::Unsupported { expected, found, position }.into());
        }
        let trace = &mut builder.trace;
        *(if is_kineto { &mut trace.header } else { &mut trace.execution_header }) = self.header;
        Ok(())
    }

    fn not_a_trace(mut self, outcome: Result<(), Fault>) -> Error {
        let found = match (outcome, self.found.events) {
            (_, Some(_)) => String::from("an array of other things"),
            (Err(Fault::End), None) => String::from("the end of the file"),
            (Err(Fault::Unexpected), None) => match self.scanner.peek() {
                Some(byte) => format!("the byte {:?}", char::from(byte)),
                None => String::from("the end of the file"),
            },
            (Ok(()), None) => {
                let strings = &self.builder.trace.strings;
                let keys: Vec<_> = self.header.iter().take(5).map(|(key, _)| strings.text(*key)).collect();
                if keys.is_empty() { String::from("an empty object") } else { format!("an object with {keys:?}") }
            }
        };
        let byte = self.scanner.at() as u64;
        let position = Position { file: self.builder.file.clone(), byte: Some(byte), event: None };
        ErrorKind::Malformed {
            expected: "an object with `traceEvents` or `nodes`, or an array of events",
            found,
            position,
        }
        .into()
    }
}
