//! Warnings: counted defects, with the first position and the remedy.

use serde::{Deserialize, Serialize};

use crate::error::Position;

/// The defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum WarningKind {
    /// The file ends inside a value.
    Truncated,
    /// The compressed stream is cut or damaged.
    DamagedCompression,
    /// Text after the end of the document.
    TrailingText,
    /// An element that is malformed and is lost.
    MalformedElement,
    /// An element whose quotes or backslashes were not escaped.
    RepairedElement,
    /// A value that is not strict JSON: a bare word such as `NaN`, a comma too many, a bad escape,
    /// a key twice.
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
    /// A phase that is not read: of asynchronous ranges (`b`, `n`, `e`), of objects (`N`, `O`, `D`)
    /// and so on. Kineto writes none.
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
    /// An Execution Trace whose operators come in another order than those of the Kineto trace, or
    /// are others.
    UnlikeExecutionTrace,
    /// A device event whose launch is not in the file.
    MissingLaunch,
    /// An Execution Trace that was not finished.
    UnfinishedExecutionTrace,
    /// An event whose duration is 0.
    ZeroDuration,
    /// An event that starts inside another one of its track and ends after it.
    PartialOverlap,
    /// A launch of a kernel, copy, fill or graph that no device event belongs to.
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
    /// A value in a database that is too long, has a wrong type, or refers to a missing row.
    InvalidValue,
    /// A message of a Chakra trace with fields that the schema does not know, or not laid out as
    /// protobuf lays it out.
    IrregularMessage,
    /// A dependency of a graph that would lead back in time.
    BackwardDependency,
    /// A device event of an unknown launch, before or after all that the Execution Trace has.
    DeviceEventOutside,
    /// A device event whose launch no node of the Execution Trace is around.
    DeviceEventWithoutNode,
    /// A communication that the schema of a graph has no word for.
    UnknownCollective,
    /// A node that no event was linked to.
    NodeWithoutTime,
    /// An event with which times of a trace, added up, are more than a number of 64 bits holds.
    ImmenseTime,
    /// An event that is not in the range that was asked for.
    Trimmed,
    /// A text that may be private.
    Redacted,
    /// The end of a flow that repeats `correlation`.
    ShrunkFlow,
    /// A call of Python.
    ShrunkFrame,
    /// Arguments that no table has a column for.
    ShrunkArguments,
    /// A point in time.
    ShrunkInstant,
    /// A node of the Execution Trace.
    ShrunkNode,
    /// A short call on the host.
    ShrunkEvent,
    /// An event at time 0, though all others are of this century, or far from the base of the file.
    ZeroTime,
    /// An iteration whose annotation begins after calls that were made in it.
    LateStep,
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
        match self {
            Self::Truncated => "truncated",
            Self::DamagedCompression => "damaged_compression",
            Self::TrailingText => "trailing_text",
            Self::MalformedElement => "malformed_element",
            Self::RepairedElement => "repaired_element",
            Self::IrregularJson => "irregular_json",
            Self::NotAnEvent => "not_an_event",
            Self::InvalidUtf8 => "invalid_utf8",
            Self::InvalidNumber => "invalid_number",
            Self::MissingStart => "missing_start",
            Self::MissingTime => "missing_time",
            Self::ZeroTime => "zero_time",
            Self::LateStep => "late_step",
            Self::MissingDuration => "missing_duration",
            Self::NegativeDuration => "negative_duration",
            Self::UnmatchedEnd => "unmatched_end",
            Self::UnfinishedBegin => "unfinished_begin",
            Self::EndArguments => "end_arguments",
            Self::UnknownPhase => "unknown_phase",
            Self::UnknownKey => "unknown_key",
            Self::DuplicateKey => "duplicate_key",
            Self::DuplicateNode => "duplicate_node",
            Self::MissingParent => "missing_parent",
            Self::ForeignExecutionTrace => "foreign_execution_trace",
            Self::OtherProcess => "other_process",
            Self::UnlikeExecutionTrace => "unlike_execution_trace",
            Self::MissingLaunch => "missing_launch",
            Self::UnfinishedExecutionTrace => "unfinished_execution_trace",
            Self::ZeroDuration => "zero_duration",
            Self::PartialOverlap => "partial_overlap",
            Self::LaunchWithoutDeviceEvent => "launch_without_device_event",
            Self::NotAnEntry => "not_an_entry",
            Self::UnexpectedType => "unexpected_type",
            Self::SharedRow => "shared_row",
            Self::OversizedValue => "oversized_value",
            Self::DamagedTable => "damaged_table",
            Self::InvalidValue => "invalid_value",
            Self::IrregularMessage => "irregular_message",
            Self::BackwardDependency => "backward_dependency",
            Self::DeviceEventOutside => "device_event_outside",
            Self::DeviceEventWithoutNode => "device_event_without_node",
            Self::UnknownCollective => "unknown_collective",
            Self::NodeWithoutTime => "node_without_time",
            Self::ImmenseTime => "immense_time",
            Self::Trimmed => "trimmed",
            Self::Redacted => "redacted",
            Self::ShrunkFlow => "shrunk_flow",
            Self::ShrunkFrame => "shrunk_frame",
            Self::ShrunkArguments => "shrunk_arguments",
            Self::ShrunkInstant => "shrunk_instant",
            Self::ShrunkNode => "shrunk_node",
            Self::ShrunkEvent => "shrunk_event",
        }
    }

    /// How much it matters.
    pub fn severity(self) -> Severity {
        match self {
            Self::ZeroDuration
            | Self::PartialOverlap
            | Self::LaunchWithoutDeviceEvent
            | Self::IrregularMessage
            | Self::DeviceEventWithoutNode
            | Self::NodeWithoutTime
            | Self::Trimmed
            | Self::Redacted
            | Self::ShrunkFlow
            | Self::ShrunkFrame
            | Self::ShrunkArguments
            | Self::ShrunkInstant
            | Self::ShrunkNode
            | Self::ShrunkEvent => Severity::Note,
            _ => Severity::Defect,
        }
    }

    /// The defect and the remedy.
    pub fn message(self) -> &'static str {
        match self {
            Self::Truncated => "the file ends before what is in it does: what is whole was read",
            Self::DamagedCompression => "the compressed stream is cut or damaged: what could be inflated was read",
            Self::TrailingText => "text after the end of the document: ignored",
            Self::MalformedElement => "an element is malformed: skipped up to the next one",
            Self::RepairedElement => {
                "an element has quotes or backslashes that are not escaped: read as they were meant"
            }
            Self::IrregularJson => {
                "an element is not strict JSON (NaN, a comma too many, a key twice): read as it was meant"
            }
            Self::NotAnEvent => "an element is no object with a phase: skipped",
            Self::InvalidUtf8 => "text is not UTF-8: the bad bytes were replaced",
            Self::InvalidNumber => "a number is none or does not fit: treated as absent",
            Self::MissingStart => "a complete event has no start: placed at the trace's start",
            Self::MissingTime => "an instant, a counter or an end of a flow has no time: skipped",
            Self::ZeroTime => {
                "an event is at time 0, and all others are of another time: placed at the trace's start, and, unless it ends with them, without a duration"
            }
            Self::LateStep => "an iteration's annotation begins at its end: taken to begin before the calls in it",
            Self::MissingDuration => "a complete event has no duration: taken as 0",
            Self::NegativeDuration => "a duration is below zero: taken as 0",
            Self::UnmatchedEnd => "an end (E) has no begin (B): ignored",
            Self::UnfinishedBegin => "a begin (B) has no end (E): lasts to the trace's end",
            Self::EndArguments => "an end (E) and its begin (B) contradict each other's arguments: the begin's kept",
            Self::UnknownPhase => {
                "an event's phase (of an asynchronous range, an object or the like) is not read: skipped, and not written again"
            }
            Self::UnknownKey => "a key among the values of a node is not known: in no column, written as it was read",
            Self::DuplicateKey => "a key stands twice in the header: the last value was kept, or both arrays of events",
            Self::DuplicateNode => "a node has the id of an earlier one: both kept, the first is linked",
            Self::MissingParent => "a node's parent is not in the file: kept without one",
            Self::ForeignExecutionTrace => {
                "the record ids of the two files name different operators, as those of different runs do: not linked"
            }
            Self::OtherProcess => "the Execution Trace is of another process (pid) than the Kineto trace: not linked",
            Self::UnlikeExecutionTrace => "the operators of the two files fit nowhere: not linked",
            Self::MissingLaunch => "a device event's launch is not in the file: kept without one",
            Self::UnfinishedExecutionTrace => "the Execution Trace was not finished: complete nodes were read",
            Self::ZeroDuration => "an event's duration is 0, perhaps cut to whole microseconds: kept",
            Self::PartialOverlap => {
                "an event starts inside another of its track and outlasts it: kept, in a lane of its own"
            }
            Self::LaunchWithoutDeviceEvent => {
                "a launch of device work has no device event, as when a graph was captured: kept without one"
            }
            Self::NotAnEntry => "an entry has another form than it must have: skipped",
            Self::UnexpectedType => "a value is of another type than its key has: treated as absent",
            Self::SharedRow => "a row or a list of rows stands at two places: read at the first",
            Self::OversizedValue => {
                "a value is nested too deeply, or referred to too often, to be written out: left out"
            }
            Self::DamagedTable => "a table of the database is cut or damaged: its rows up to there were read",
            Self::InvalidValue => {
                "a value in the database is not of its column's type, is too long, or refers to nothing: treated as absent"
            }
            Self::IrregularMessage => {
                "a message has fields that the schema does not know, or is laid out in another way than protobuf's: kept beside the columns, and written as it was"
            }
            Self::BackwardDependency => "a dependency would lead back in time, and perhaps in a circle: left out",
            Self::DeviceEventOutside => {
                "a device event belongs to no node and ran when none is known to have run: left out"
            }
            Self::DeviceEventWithoutNode => {
                "a device event belongs to no node: kept, behind what its stream did before"
            }
            Self::UnknownCollective => "a communication is none of those that the schema knows: kept as a computation",
            Self::NodeWithoutTime => "a node has no event: it starts where the one before it does, and takes no time",
            Self::ImmenseTime => {
                "with an event, times add up to more than 292 years: sums stop there, and parts may not add up"
            }
            Self::Trimmed => "an event is not in the range that was asked for, nor linked with what is: left out",
            Self::Redacted => "a text is not known to be harmless: a pseudonym stands for it, or, in a header, nothing",
            Self::ShrunkFlow => "to make this smaller, an arrow that a launch's correlation draws, too: left out",
            Self::ShrunkFrame => "to make this smaller, a call of Python: left out",
            Self::ShrunkArguments => "to make this smaller, arguments that no table has a column for: left out",
            Self::ShrunkInstant => "to make this smaller, a point in time, such as an allocation: left out",
            Self::ShrunkNode => "to make this smaller, a node of the Execution Trace: left out",
            Self::ShrunkEvent => "to make this smaller, a short call on the host without device work: left out",
        }
    }
}

/// One kind of defect, how often, and where first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The defect.
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

    /// Forgets the offsets of the first places, where the text that they count in is not the
    /// file's.
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
