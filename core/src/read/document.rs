//! Reads a JSON document: the arrays of events and nodes, and the header.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::builder::TraceBuilder;
use super::environment::{is_private_key, without_private};
use super::foreign;
use super::input::Limits;
use super::section::{ArrayTally, read_section};
use super::text_window::TextWindow;
use super::trace_array::TraceArray;
use crate::error::{Error, ErrorKind, Position};
use crate::id::StrId;
use crate::json::{JsonText, MAX_DEPTH, ScanFault, Scanner, nests_too_deep};
use crate::warning::WarningKind;

/// Reads one document into the builder.
pub(super) fn read_document(
    window: TextWindow<'_>,
    file: Option<Arc<str>>,
    limits: Limits,
    builder: &mut TraceBuilder,
) -> Result<(), Error> {
    builder.file = file;
    let mut document = Document {
        window,
        builder,
        header: Vec::new(),
        places: FxHashMap::default(),
        left_out: Vec::new(),
        events: None,
        nodes: None,
        keeps_environment: limits.include_environment,
    };
    let outcome = document.read();
    document.conclude(outcome)
}

/// Key of the header with the paths of values that were left out.
const LEFT_OUT: &str = "environment_left_out";

/// The most paths that are listed.
const MAX_LEFT_OUT: usize = 1000;

struct Document<'a, 'b> {
    window: TextWindow<'a>,
    builder: &'b mut TraceBuilder,
    header: Vec<(StrId, StrId)>,
    /// Where each key stands in `header`.
    places: FxHashMap<StrId, usize>,
    /// Paths of values of the environment that were left out.
    left_out: Vec<String>,
    events: Option<ArrayTally>,
    nodes: Option<ArrayTally>,
    /// See [`Limits::include_environment`].
    keeps_environment: bool,
}

/// Why a document could not be read to its end.
enum DocumentEnd {
    /// Its text.
    Fault(ScanFault),
    /// Its file, or a limit.
    Error(Error),
}

impl From<Error> for DocumentEnd {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// A key of the header, and the first byte of its value.
struct HeaderKey {
    raw: Vec<u8>,
    escaped: bool,
    opens: u8,
}

#[expect(clippy::redundant_closure_for_method_calls, reason = "the method fits one lifetime, the closure fits all")]
impl Document<'_, '_> {
    fn read(&mut self) -> Result<(), DocumentEnd> {
        let first = self.unit(|scanner| scanner.peek().ok_or(ScanFault::End))?;
        if first == b'[' {
            return self.read_section(TraceArray::Events);
        }
        self.unit(|scanner| scanner.enter_object())?;
        while let Some(key) = self.unit(read_key)? {
            match key.raw.as_slice() {
                b"traceEvents" if key.opens == b'[' => self.read_section(TraceArray::Events)?,
                b"nodes" if key.opens == b'[' => self.read_section(TraceArray::Nodes)?,
                _ => self.read_header(&key)?,
            }
        }
        Ok(())
    }

    /// Reads one piece of the text, with as much of it in the window as it takes.
    fn unit<T>(&mut self, read: impl Fn(&mut Scanner<'_>) -> Result<T, ScanFault>) -> Result<T, DocumentEnd> {
        loop {
            let mut scanner = Scanner::new(self.window.text());
            let outcome = read(&mut scanner);
            // A number or a word that ends with the window may go on behind it.
            let may_go_on = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+');
            let is_open = scanner.peek().is_none() && self.window.text().last().is_some_and(may_go_on);
            let is_certain = !is_open || self.window.is_last();
            match outcome {
                Ok(value) if is_certain => {
                    let done = scanner.at();
                    self.window.consume(done);
                    return Ok(value);
                }
                Err(ScanFault::Unexpected) => return Err(DocumentEnd::Fault(ScanFault::Unexpected)),
                Ok(_) | Err(ScanFault::End) => {
                    if !self.window.fill_past_blanks()? && outcome.is_err() {
                        return Err(DocumentEnd::Fault(ScanFault::End));
                    }
                }
            }
        }
    }

    fn read_section(&mut self, section: TraceArray) -> Result<(), DocumentEnd> {
        self.unit(|scanner| scanner.enter_array())?;
        let slot = if section == TraceArray::Events { &mut self.events } else { &mut self.nodes };
        let is_second = slot.is_some();
        let tally = read_section(section, slot.take().unwrap_or_default(), &mut self.window, self.builder)?;
        let is_cut = tally.is_cut;
        *slot = Some(tally);
        if is_second {
            self.warn(WarningKind::DuplicateKey);
        }
        if is_cut { Err(DocumentEnd::Fault(ScanFault::End)) } else { Ok(()) }
    }

    fn read_header(&mut self, key: &HeaderKey) -> Result<(), DocumentEnd> {
        let mut value = self.unit(|scanner| scanner.skip_value().map(<[u8]>::to_vec))?;
        if !self.keeps_environment {
            let name = String::from_utf8_lossy(&key.raw);
            if is_private_key(&name) {
                self.left_out.push(name.into_owned());
                return Ok(());
            }
            if let Some(rest) = without_private(&name, &value, &mut self.left_out) {
                value = rest.into_bytes();
            }
        }
        let key = self.builder.intern(JsonText { raw: &key.raw, escaped: key.escaped });
        let value = self.builder.intern_json(&value);
        self.builder.settle_irregular();
        match self.places.entry(key) {
            Entry::Occupied(place) => {
                self.header[*place.get()].1 = value;
                self.warn(WarningKind::DuplicateKey);
            }
            Entry::Vacant(place) => {
                place.insert(self.header.len());
                self.header.push((key, value));
            }
        }
        Ok(())
    }

    /// Whether the header is that of an Execution Trace, though it may have no nodes.
    fn has_schema(&self) -> bool {
        self.header.iter().any(|(key, _)| self.builder.trace.strings.text(*key) == "schema")
    }

    fn position(&self) -> Position {
        let event = self.events.as_ref().map(|tally| tally.num_elements);
        Position { file: self.builder.file.clone(), byte: Some(self.window.offset()), event, node: None }
    }

    fn warn(&mut self, kind: WarningKind) {
        let position = self.position();
        self.builder.trace.warnings.push(kind, || position);
    }

    /// Decides whether the content is a trace, and counts how it ended.
    fn conclude(mut self, outcome: Result<(), DocumentEnd>) -> Result<(), Error> {
        let fault = match outcome {
            Ok(()) => None,
            Err(DocumentEnd::Fault(fault)) => Some(fault),
            Err(DocumentEnd::Error(error)) => return Err(error),
        };
        if self.window.is_damaged {
            self.warn(WarningKind::DamagedCompression);
        }
        let is_trace = match &self.events {
            Some(tally) => tally.num_elements == 0 || tally.num_kept > 0,
            None => self.nodes.as_ref().is_some_and(|tally| tally.num_kept > 0 || self.has_schema()),
        };
        if !is_trace {
            return Err(self.not_a_trace(fault));
        }
        match fault {
            Some(ScanFault::End) if self.events.is_none() => self.warn(WarningKind::UnfinishedExecutionTrace),
            Some(ScanFault::End) => self.warn(WarningKind::Truncated),
            Some(ScanFault::Unexpected) => self.warn(WarningKind::MalformedElement),
            None => match Scanner::new(self.window.text()).peek() {
                Some(b'{' | b'[') => self.warn(WarningKind::SecondDocument),
                Some(_) => self.warn(WarningKind::TrailingText),
                None => {}
            },
        }
        self.keep_header()
    }

    fn keep_header(mut self) -> Result<(), Error> {
        self.note_left_out();
        let (is_kineto, builder) = (self.events.is_some(), self.builder);
        let (is_taken, found) = if is_kineto {
            (&mut builder.has_kineto, "a second Kineto trace")
        } else {
            (&mut builder.has_execution, "a second Execution Trace")
        };
        if std::mem::replace(is_taken, true) {
            let position = Position { file: builder.file.clone(), byte: Some(0), ..Position::default() };
            let expected = "one Kineto trace and one Execution Trace";
            return Err(ErrorKind::Unsupported { expected, found: found.into(), position }.into());
        }
        let trace = &mut builder.trace;
        *(if is_kineto { &mut trace.header } else { &mut trace.execution_header }) = self.header;
        Ok(())
    }

    /// Says in the header which of its values were left out.
    fn note_left_out(&mut self) {
        if self.left_out.is_empty() {
            return;
        }
        self.left_out.truncate(MAX_LEFT_OUT);
        let key = self.builder.intern(JsonText { raw: LEFT_OUT.as_bytes(), escaped: false });
        let value = self.builder.intern_json(Value::from(std::mem::take(&mut self.left_out)).to_string().as_bytes());
        self.header.push((key, value));
    }

    /// The error of a document without a trace: `Unsupported` for whole JSON of another kind.
    fn not_a_trace(self, fault: Option<ScanFault>) -> Error {
        let is_other_kind = fault.is_none() && !self.window.is_damaged && !self.has_malformed_elements();
        let next = Scanner::new(self.window.text()).peek();
        let found = match (fault, next) {
            _ if self.events.is_some() || self.nodes.is_some() => self.without_elements().to_owned(),
            (Some(ScanFault::Unexpected), _) if nests_too_deep(self.window.text()) => {
                format!("values nested deeper than {MAX_DEPTH}")
            }
            (Some(ScanFault::End), _) if self.window.is_damaged => String::from("a compressed stream with damage"),
            (None, _) if self.header.is_empty() => String::from("an empty object"),
            (None, _) => {
                let strings = &self.builder.trace.strings;
                let keys: Vec<_> = self.header.iter().take(5).map(|(key, _)| strings.text(*key)).collect();
                let all: Vec<_> = self.header.iter().map(|(key, _)| strings.text(*key)).collect();
                foreign::of_object(&all).map_or_else(|| format!("an object with {keys:?}"), str::to_owned)
            }
            (Some(ScanFault::Unexpected), Some(byte)) => format!("the byte {:?}", char::from(byte)),
            (Some(_), _) => String::from("the end of the file"),
        };
        let unread = if fault == Some(ScanFault::End) { self.window.text().len() as u64 } else { 0 };
        let byte = Some(self.window.offset() + unread);
        let position = Position { event: None, byte, ..self.position() };
        let expected = "an object with `traceEvents` or `nodes`, or an array of events";
        if is_other_kind {
            ErrorKind::Unsupported { expected, found: found.into(), position }.into()
        } else {
            ErrorKind::Malformed { expected, found, position }.into()
        }
    }
}

impl Document<'_, '_> {
    fn has_malformed_elements(&self) -> bool {
        self.builder.trace.warnings.count(WarningKind::MalformedElement) > 0
    }

    /// Why an array has nothing to keep.
    fn without_elements(&self) -> &'static str {
        if self.has_malformed_elements() {
            "an array of malformed elements (no JSON, or nested deeper than 512)"
        } else {
            "an array without events"
        }
    }
}

fn read_key(scanner: &mut Scanner<'_>) -> Result<Option<HeaderKey>, ScanFault> {
    let Some(key) = scanner.next_key()? else { return Ok(None) };
    let opens = scanner.peek().ok_or(ScanFault::End)?;
    Ok(Some(HeaderKey { raw: key.raw.to_vec(), escaped: key.escaped, opens }))
}
