//! Defects that were survived: counted, with the first place and what was done.

use serde::{Deserialize, Serialize};

use crate::error::Position;

/// What was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum WarningKind {
    /// The file ends before what is in it does.
    Truncated,
    /// The compressed stream is cut or damaged.
    DamagedCompression,
    /// Text after the end of the document.
    TrailingText,
    /// An element that is malformed and is lost.
    MalformedElement,
    /// An element whose quotes or backslashes were not escaped.
    RepairedElement,
    /// A value that is not strict JSON: a bare word such as `NaN`, a comma too many, a bad escape, a key twice.
    IrregularJson,
    /// An element that is not an object, or has no phase.
    NotAnEvent,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// A number that is none, or does not fit.
    InvalidNumber,
    /// A complete event without a start.
    MissingStart,
    /// An instant, a counter or the end of a flow without a time.
    MissingTime,
    /// A complete event without a duration.
    MissingDuration,
    /// A duration below zero.
    NegativeDuration,
    /// An end (`E`) without a begin (`B`).
    UnmatchedEnd,
    /// A begin (`B`) without an end (`E`).
    UnfinishedBegin,
    /// An end (`E`) whose arguments contradict those of its begin.
    EndArguments,
    /// A phase that is not read.
    UnknownPhase,
    /// A key among the values of a node that is not read.
    UnknownKey,
    /// A key that stands twice in the header.
    DuplicateKey,
    /// A node with the same id as one before.
    DuplicateNode,
    /// A node whose parent is not in the file.
    MissingParent,
    /// An Execution Trace whose record ids name other operators than those of the Kineto trace.
    ForeignExecutionTrace,
    /// An Execution Trace of another process than the Kineto trace.
    OtherProcess,
    /// An Execution Trace whose operators come in another order than those of the Kineto trace, or are others.
    UnlikeExecutionTrace,
    /// A device event whose launch is not in the file.
    MissingLaunch,
    /// An Execution Trace that was not finished.
    UnfinishedExecutionTrace,
    /// An event whose duration is 0.
    ZeroDuration,
    /// An event that starts inside another one of its track and ends after it.
    PartialOverlap,
    /// A launch that no device event belongs to.
    LaunchWithoutDeviceEvent,
    /// An entry of a memory snapshot or a memory timeline that has another form than it must have.
    NotAnEntry,
    /// A value of another type than its key has.
    UnexpectedType,
    /// A row that stands at two places of a memory snapshot.
    SharedRow,
    /// A value that is nested too deeply, or referred to too often, to be written out.
    OversizedValue,
    /// A table of a database that cannot be read to its end.
    DamagedTable,
    /// A value in a database that is not of its column's type, or too long, or a reference to what is not there.
    InvalidValue,
    /// A message of a Chakra trace with fields that the schema does not know, or not laid out as protobuf lays it out.
    IrregularMessage,
}

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Something is lost, repaired or guessed.
    Defect,
    /// Something to know; nothing is wrong with the file.
    Note,
}

impl Severity {
    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Defect => "defect",
            Self::Note => "note",
        }
    }
}

impl WarningKind {
    /// A short name, `snake_case`, that stays the same between versions.
    pub fn name(self) -> &'static str {
        self.text().0
    }

    /// What was found and what was done about it.
    pub fn message(self) -> &'static str {
        self.text().1
    }

    /// How much it matters.
    pub fn severity(self) -> Severity {
        match self {
            Self::ZeroDuration | Self::PartialOverlap | Self::LaunchWithoutDeviceEvent | Self::IrregularMessage => {
                Severity::Note
            }
            _ => Severity::Defect,
        }
    }

    fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::Truncated => ("truncated", "the file ends before what is in it does: what is whole was read"),
            Self::DamagedCompression => {
                ("damaged_compression", "the compressed stream is cut or damaged: what could be inflated was read")
            }
            Self::TrailingText => ("trailing_text", "text after the end of the document: ignored"),
            Self::MalformedElement => ("malformed_element", "an element is malformed: skipped up to the next one"),
            Self::RepairedElement => (
                "repaired_element",
                "an element has quotes or backslashes that are not escaped: read as they were meant",
            ),
            Self::IrregularJson => (
                "irregular_json",
                "an element is not strict JSON (NaN, a comma too many, a key twice): read as it was meant",
            ),
            Self::NotAnEvent => ("not_an_event", "an element is no object with a phase: skipped"),
            Self::InvalidUtf8 => ("invalid_utf8", "text is not UTF-8: the bad bytes were replaced"),
            Self::InvalidNumber => ("invalid_number", "a number is none or does not fit: treated as absent"),
            Self::MissingStart => ("missing_start", "a complete event has no start: placed at the trace's start"),
            Self::MissingTime => ("missing_time", "an instant, a counter or an end of a flow has no time: skipped"),
            Self::MissingDuration => ("missing_duration", "a complete event has no duration: taken as 0"),
            Self::NegativeDuration => ("negative_duration", "a duration is below zero: taken as 0"),
            Self::UnmatchedEnd => ("unmatched_end", "an end (E) has no begin (B): ignored"),
            Self::UnfinishedBegin => ("unfinished_begin", "a begin (B) has no end (E): lasts to the trace's end"),
            Self::EndArguments => {
                ("end_arguments", "an end (E) and its begin (B) contradict each other's arguments: the begin's kept")
            }
            Self::UnknownPhase => ("unknown_phase", "an event's phase is not read: skipped"),
            Self::UnknownKey => {
                ("unknown_key", "a key among the values of a node is not known: in no column, written as it was read")
            }
            Self::DuplicateKey => {
                ("duplicate_key", "a key stands twice in the header: the last value was kept, or both arrays of events")
            }
            Self::DuplicateNode => {
                ("duplicate_node", "a node has the id of an earlier one: both kept, the first is linked")
            }
            Self::MissingParent => ("missing_parent", "a node's parent is not in the file: kept without one"),
            Self::ForeignExecutionTrace => (
                "foreign_execution_trace",
                "the record ids of the two files name different operators, so they are of different runs: not linked",
            ),
            Self::OtherProcess => {
                ("other_process", "the Execution Trace is of another process (pid) than the Kineto trace: not linked")
            }
            Self::UnlikeExecutionTrace => (
                "unlike_execution_trace",
                "the operators of the Execution Trace fit no part of the Kineto trace: not linked",
            ),
            Self::MissingLaunch => ("missing_launch", "a device event's launch is not in the file: kept without one"),
            Self::UnfinishedExecutionTrace => {
                ("unfinished_execution_trace", "the Execution Trace was not finished: complete nodes were read")
            }
            Self::ZeroDuration => {
                ("zero_duration", "an event's duration is 0, perhaps cut to whole microseconds: kept")
            }
            Self::PartialOverlap => (
                "partial_overlap",
                "an event starts inside another of its track and outlasts it: kept, in a lane of its own",
            ),
            Self::LaunchWithoutDeviceEvent => (
                "launch_without_device_event",
                "a launch has no device event, having enqueued none, or none in this file: kept without one",
            ),
            Self::NotAnEntry => ("not_an_entry", "an entry has another form than it must have: skipped"),
            Self::UnexpectedType => {
                ("unexpected_type", "a value is of another type than its key has: treated as absent")
            }
            Self::SharedRow => ("shared_row", "a row or a list of rows stands at two places: read at the first"),
            Self::OversizedValue => (
                "oversized_value",
                "a value is nested too deeply, or referred to too often, to be written out: left out",
            ),
            Self::DamagedTable => {
                ("damaged_table", "a table of the database is cut or damaged: its rows up to there were read")
            }
            Self::InvalidValue => (
                "invalid_value",
                "a value in the database is not of its column's type, is too long, or refers to nothing: treated as absent",
            ),
            Self::IrregularMessage => (
                "irregular_message",
                "a message has fields that the schema does not know, or is laid out in another way than protobuf's: kept beside the columns, and written as it was",
            ),
        }
    }
}

/// One kind of defect, how often, and where first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What was wrong.
    pub kind: WarningKind,
    /// How often.
    pub count: u64,
    /// The first place.
    pub first: Position,
}

/// All defects of a trace, one entry a kind, in the order of first sight.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Warnings(Vec<Warning>);

impl Warnings {
    /// Counts one defect; `position` is asked for only the first time.
    pub fn push(&mut self, kind: WarningKind, position: impl FnOnce() -> Position) {
        self.push_many(kind, 1, position);
    }

    /// Counts `count` defects of one kind; does nothing for 0.
    pub fn push_many(&mut self, kind: WarningKind, count: u64, position: impl FnOnce() -> Position) {
        if count == 0 {
            return;
        }
        match self.0.iter_mut().find(|warning| warning.kind == kind) {
            Some(warning) => warning.count += count,
            None => self.0.push(Warning { kind, count, first: position() }),
        }
    }

    /// Adds the entries of another list.
    pub fn extend(&mut self, other: &Self) {
        other.iter().for_each(|warning| self.push_many(warning.kind, warning.count, || warning.first.clone()));
    }

    /// Forgets the offsets of the first places, where the text that they count in is not the file's.
    pub fn forget_bytes(&mut self) {
        self.0.iter_mut().for_each(|warning| warning.first.byte = None);
    }

    /// The entries.
    pub fn iter(&self) -> std::slice::Iter<'_, Warning> {
        self.0.iter()
    }

    /// How often a kind was seen.
    pub fn count(&self, kind: WarningKind) -> u64 {
        self.iter().find(|warning| warning.kind == kind).map_or(0, |warning| warning.count)
    }
}

impl<'a> IntoIterator for &'a Warnings {
    type Item = &'a Warning;
    type IntoIter = std::slice::Iter<'a, Warning>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
