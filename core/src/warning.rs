//! Warnings: counted defects, with the first position and the remedy.

use serde::{Deserialize, Serialize};

use crate::error::Position;

/// The defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum WarningKind {
    /// The file is truncated.
    Truncated,
    /// The compressed stream is cut or damaged.
    DamagedCompression,
    /// Text after the end of the document.
    TrailingText,
    /// Another document after the end of the first one.
    SecondDocument,
    /// A malformed element, which is skipped.
    MalformedElement,
    /// An element with unescaped quotes or backslashes.
    RepairedElement,
    /// A value that is not strict JSON: a bare word such as `NaN`, an extra comma, a bad escape,
    /// a key twice.
    IrregularJson,
    /// An element that is not an object, or has no phase.
    NotAnEvent,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// An invalid or out-of-range number.
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
    /// An end (`E`) with arguments that contradict its begin.
    EndArguments,
    /// An unsupported phase: asynchronous ranges (`b`, `n`, `e`), objects (`N`, `O`, `D`)
    /// and so on. Kineto writes none.
    UnknownPhase,
    /// An unknown key among the values of a node.
    UnknownKey,
    /// A duplicate key in the header.
    DuplicateKey,
    /// A node with the id of an earlier node.
    DuplicateNode,
    /// A node with a parent outside the file.
    MissingParent,
    /// An Execution Trace that has other operators under the same record ids as the Kineto trace.
    ForeignExecutionTrace,
    /// An Execution Trace of another process than the Kineto trace.
    OtherProcess,
    /// An Execution Trace whose operators come in another order than those of the Kineto trace, or
    /// are others.
    UnlikeExecutionTrace,
    /// An operator without a node, although the Execution Trace has the calls around it.
    OperatorWithoutNode,
    /// A node without an event, although the Kineto trace has the calls around it.
    NodeWithoutEvent,
    /// A device event whose launch has to be in the file, and is not.
    MissingLaunch,
    /// A device event that was launched before the recording, or that names no launch.
    UnrecordedLaunch,
    /// A kernel with the `correlation` of another one's launch, which more than one launch could
    /// have enqueued.
    AmbiguousLaunch,
    /// An Execution Trace that was not finished.
    UnfinishedExecutionTrace,
    /// An event of duration 0.
    ZeroDuration,
    /// An event that starts inside another event of its track and ends after it.
    PartialOverlap,
    /// A launch of a kernel, copy, fill or graph without a device event.
    LaunchWithoutDeviceEvent,
    /// A launch of a kernel, a copy or a graph whose device work must have run, and is not in the
    /// file.
    LostDeviceWork,
    /// Device work that ends long after later work of its stream.
    OverlongWork,
    /// A host call that lasts longer than any recording.
    OverlongCall,
    /// Device work that starts before its launch.
    WorkBeforeLaunch,
    /// An entry of a memory snapshot or a memory timeline with an unexpected form.
    NotAnEntry,
    /// A value of an unexpected type.
    UnexpectedType,
    /// A row that occurs in two places of a memory snapshot.
    SharedRow,
    /// A value that is nested too deeply or referenced too often.
    OversizedValue,
    /// A table of a database that cannot be read to its end.
    DamagedTable,
    /// A packet of a Perfetto trace that is damaged, comes after lost packets, or has no known time
    /// or kind.
    LostPacket,
    /// A value in a database that is too long, has a wrong type, or refers to a missing row.
    InvalidValue,
    /// A message of a Chakra trace with fields that the schema does not know, or not laid out as
    /// protobuf lays it out.
    IrregularMessage,
    /// A dependency that leads back in time.
    BackwardDependency,
    /// A device event of an unknown launch, before or after all that the Execution Trace has.
    DeviceEventOutside,
    /// A device event with a launch outside all nodes of the Execution Trace.
    DeviceEventWithoutNode,
    /// A node with times of an iteration in which the observer of the Execution Trace ran.
    ObservedTime,
    /// A collective without a type in the schema of a graph.
    UnknownCollective,
    /// A collective of one rank alone.
    LocalCollective,
    /// A collective with unequal parts, in a format that has equal ones.
    UnevenCollective,
    /// A collective of unrecorded size.
    CollectiveWithoutSize,
    /// A collective of a group that is not named, of several that it may be.
    CollectiveWithoutGroup,
    /// A node without a linked event.
    NodeWithoutTime,
    /// An event with which the sum of times exceeds 64 bits.
    ImmenseTime,
    /// An event outside the requested range.
    Trimmed,
    /// A text that may be private.
    Redacted,
    /// The end of a flow that repeats a `correlation`.
    ShrunkFlow,
    /// A call of Python.
    ShrunkFrame,
    /// Arguments without a table column.
    ShrunkArguments,
    /// A point in time.
    ShrunkInstant,
    /// A node of the Execution Trace.
    ShrunkNode,
    /// A short call on the host.
    ShrunkEvent,
    /// An event at time 0, though all others are of this century, or far from the base of the file.
    ZeroTime,
    /// A time more than a month from all others.
    FarTime,
    /// An iteration with an annotation that begins after its calls.
    LateStep,
    /// A row of a merged file that no rank is known for.
    WithoutRank,
    /// A device whose number other ranks of a merged file give to theirs.
    SharedDeviceNumber,
    /// A message of a profile in protobuf that is cut or damaged, or an event without a name.
    DamagedMessage,
}

/// The importance of a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Data is lost, repaired or guessed.
    Defect,
    /// Information; the file has no fault.
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
            Self::SecondDocument => "second_document",
            Self::MalformedElement => "malformed_element",
            Self::RepairedElement => "repaired_element",
            Self::IrregularJson => "irregular_json",
            Self::NotAnEvent => "not_an_event",
            Self::InvalidUtf8 => "invalid_utf8",
            Self::InvalidNumber => "invalid_number",
            Self::MissingStart => "missing_start",
            Self::MissingTime => "missing_time",
            Self::ZeroTime => "zero_time",
            Self::FarTime => "far_time",
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
            Self::OperatorWithoutNode => "operator_without_node",
            Self::NodeWithoutEvent => "node_without_event",
            Self::MissingLaunch => "missing_launch",
            Self::UnrecordedLaunch => "unrecorded_launch",
            Self::AmbiguousLaunch => "ambiguous_launch",
            Self::UnfinishedExecutionTrace => "unfinished_execution_trace",
            Self::ZeroDuration => "zero_duration",
            Self::PartialOverlap => "partial_overlap",
            Self::LaunchWithoutDeviceEvent => "launch_without_device_event",
            Self::LostDeviceWork => "lost_device_work",
            Self::OverlongWork => "overlong_work",
            Self::OverlongCall => "overlong_call",
            Self::WorkBeforeLaunch => "work_before_launch",
            Self::NotAnEntry => "not_an_entry",
            Self::UnexpectedType => "unexpected_type",
            Self::SharedRow => "shared_row",
            Self::OversizedValue => "oversized_value",
            Self::DamagedTable => "damaged_table",
            Self::LostPacket => "lost_packet",
            Self::InvalidValue => "invalid_value",
            Self::IrregularMessage => "irregular_message",
            Self::BackwardDependency => "backward_dependency",
            Self::DeviceEventOutside => "device_event_outside",
            Self::DeviceEventWithoutNode => "device_event_without_node",
            Self::UnknownCollective => "unknown_collective",
            Self::LocalCollective => "local_collective",
            Self::UnevenCollective => "uneven_collective",
            Self::CollectiveWithoutSize => "collective_without_size",
            Self::CollectiveWithoutGroup => "collective_without_group",
            Self::NodeWithoutTime => "node_without_time",
            Self::ObservedTime => "observed_time",
            Self::ImmenseTime => "immense_time",
            Self::Trimmed => "trimmed",
            Self::Redacted => "redacted",
            Self::ShrunkFlow => "shrunk_flow",
            Self::ShrunkFrame => "shrunk_frame",
            Self::ShrunkArguments => "shrunk_arguments",
            Self::ShrunkInstant => "shrunk_instant",
            Self::ShrunkNode => "shrunk_node",
            Self::ShrunkEvent => "shrunk_event",
            Self::WithoutRank => "without_rank",
            Self::SharedDeviceNumber => "shared_device_number",
            Self::DamagedMessage => "damaged_message",
        }
    }

    /// The importance of a warning.
    pub fn severity(self) -> Severity {
        match self {
            Self::ZeroDuration
            | Self::PartialOverlap
            | Self::LaunchWithoutDeviceEvent
            | Self::UnrecordedLaunch
            | Self::IrregularMessage
            | Self::DeviceEventOutside
            | Self::DeviceEventWithoutNode
            | Self::LocalCollective
            | Self::UnevenCollective
            | Self::NodeWithoutTime
            | Self::Trimmed
            | Self::Redacted
            | Self::ShrunkFlow
            | Self::ShrunkFrame
            | Self::ShrunkArguments
            | Self::ShrunkInstant
            | Self::ShrunkNode
            | Self::ShrunkEvent
            | Self::WithoutRank
            | Self::SharedDeviceNumber => Severity::Note,
            _ => Severity::Defect,
        }
    }

    /// The defect and the remedy.
    #[expect(clippy::too_many_lines, reason = "a text for each kind")]
    pub fn message(self) -> &'static str {
        match self {
            Self::Truncated => "the file is truncated: complete elements were read",
            Self::DamagedCompression => "the compressed stream is truncated or damaged: the readable part was kept",
            Self::TrailingText => "text follows the end of the document: ignored",
            Self::SecondDocument => "a second document follows the end of the first one: it was not read",
            Self::MalformedElement => "an element is malformed: skipped",
            Self::RepairedElement => "an element has unescaped quotes or backslashes: repaired",
            Self::IrregularJson => "an element is not strict JSON (NaN, extra comma, duplicate key): read leniently",
            Self::NotAnEvent => "an element is not an object with a phase (`ph`): skipped",
            Self::InvalidUtf8 => "text is not UTF-8: invalid bytes were replaced",
            Self::InvalidNumber => "invalid or out-of-range number: treated as absent",
            Self::MissingStart => "a complete event has no start: moved to the start of the trace, with duration 0",
            Self::MissingTime => "an instant, a counter or a flow end has no time: skipped",
            Self::ZeroTime => {
                "an event has time 0, far from all others: moved to the trace's start (a plausible end was kept)"
            }
            Self::FarTime => "a time is more than a day from all others: moved to the trace's start, with duration 0",
            Self::LateStep => "an iteration's annotation begins after its calls: its start was moved before them",
            Self::MissingDuration => "a complete event has no duration: set to 0",
            Self::NegativeDuration => "a duration is negative: set to 0",
            Self::UnmatchedEnd => "an end event (E) has no begin event (B): ignored",
            Self::UnfinishedBegin => "a begin event (B) has no end event (E): extended to the end of the trace",
            Self::EndArguments => {
                "the arguments of an end event (E) contradict its begin event (B): the latter were kept"
            }
            Self::UnknownPhase => {
                "an event has an unsupported phase (asynchronous range, object, …): skipped and not written"
            }
            Self::UnknownKey => "a node's values have an unknown key: absent from columns, written back unchanged",
            Self::DuplicateKey => {
                "a header key occurs twice: the last value was kept; event and node arrays were joined"
            }
            Self::DuplicateNode => "a node has the id of an earlier node: both were kept, only the first is linked",
            Self::MissingParent => "a node's parent is not in the file: kept without a parent",
            Self::ForeignExecutionTrace => {
                "the record ids of the two files name different operators, as in different runs: not linked"
            }
            Self::OtherProcess => "the two files come from different processes (pid): not linked",
            Self::UnlikeExecutionTrace => "the operators of the two files do not match: not linked",
            Self::OperatorWithoutNode => {
                "an operator has no node, though the calls around it have: removed, or the operator raised an error"
            }
            Self::NodeWithoutEvent => "a node has no event, though the calls around it have: the Kineto trace lost it",
            Self::MissingLaunch => "a device event's launch is not in the file: kept without a launch",
            Self::UnrecordedLaunch => {
                "device work was launched before the recording, or names no launch: kept without a launch"
            }
            Self::AmbiguousLaunch => {
                "device work shares the id of its launch with other work, and several launches may be its: not linked"
            }
            Self::UnfinishedExecutionTrace => "the Execution Trace is unfinished: complete nodes were read",
            Self::ZeroDuration => "an event has duration 0, perhaps truncated to whole microseconds: kept",
            Self::PartialOverlap => "an event partially overlaps another event of its track: kept in a separate lane",
            Self::LaunchWithoutDeviceEvent => "a launch has no device event, as during graph capture: kept without one",
            Self::LostDeviceWork => "a launch lost its device work: device time beside it is unknown",
            Self::OverlongWork => {
                "a duration passes the next start on an in-order stream, or the end of the recording: shortened"
            }
            Self::OverlongCall => "a duration is longer than the recording: shortened to the next call",
            Self::WorkBeforeLaunch => "device work starts before its launch, so clocks differ: its delay is unknown",
            Self::NotAnEntry => "an entry has an unexpected form: skipped",
            Self::UnexpectedType => "a value has an unexpected type: treated as absent",
            Self::SharedRow => "a row or a list of rows occurs in two places: read at the first one",
            Self::OversizedValue => "a value is nested too deeply or referenced too often: omitted",
            Self::DamagedTable => "a database table is truncated or damaged: rows before the damage were read",
            Self::LostPacket => {
                "a Perfetto packet is damaged, was lost by the recorder, or has no known time or kind: left out if unreadable"
            }
            Self::InvalidValue => {
                "a database value is too long, has a wrong type, or refers to a missing row: treated as absent"
            }
            Self::IrregularMessage => {
                "a message has an unusual layout or unknown fields (in no column): written back unchanged"
            }
            Self::DamagedMessage => {
                "a message of a profile is damaged, or its event has no name: kept as far as readable"
            }
            Self::BackwardDependency
            | Self::DeviceEventOutside
            | Self::DeviceEventWithoutNode
            | Self::UnknownCollective
            | Self::LocalCollective
            | Self::UnevenCollective
            | Self::CollectiveWithoutSize
            | Self::CollectiveWithoutGroup => self.graph_message(),
            Self::NodeWithoutTime => "a node has no event: starts with the previous node, with duration 0",
            Self::ObservedTime => {
                "a node has times of an iteration with the Execution Trace observer, which slows the host"
            }
            Self::ImmenseTime => {
                "times add up to more than 292 years (64-bit limit): sums are capped, and parts may not add up"
            }
            Self::Trimmed => "an event is outside the requested range and not linked to it: omitted",
            Self::Redacted => "a text may be private: replaced by a pseudonym (removed from headers)",
            Self::ShrunkFlow => "a flow arrow that repeats a launch's correlation: removed to reduce the size",
            Self::ShrunkFrame => "a Python frame: removed to reduce the size",
            Self::ShrunkArguments => "arguments without a table column: removed to reduce the size",
            Self::ShrunkInstant => "an instant, such as an allocation: removed to reduce the size",
            Self::ShrunkNode => "a node of the Execution Trace: removed to reduce the size",
            Self::ShrunkEvent => "a short host call without device work: removed to reduce the size",
            Self::WithoutRank => "a row of a merged file names no rank: kept with the first rank",
            Self::SharedDeviceNumber => {
                "a device of one merged rank has the number of another rank's: all devices were numbered anew"
            }
        }
    }

    /// The simplification in a graph for simulators, and the remedy.
    fn graph_message(self) -> &'static str {
        match self {
            Self::BackwardDependency => "a dependency leads back in time: omitted, as it could close a cycle",
            Self::DeviceEventOutside => {
                "a device event belongs to no node and lies outside the time range of all nodes: omitted"
            }
            Self::DeviceEventWithoutNode => {
                "a device event belongs to no node: kept after the previous work of its stream"
            }
            Self::UnknownCollective => "the schema has no type for a collective: kept as a computation",
            Self::LocalCollective => "a collective is of one rank alone, no communication: kept as a computation",
            Self::UnevenCollective => {
                "a collective has unequal parts: simplified to its bytes, with parts as attributes"
            }
            Self::CollectiveWithoutSize => "the size of a collective is not recorded: written as 0 bytes",
            Self::CollectiveWithoutGroup => "a collective does not name its group: simulators take all ranks",
            _ => "",
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
    /// Counts one defect; `position` is called only for the first one.
    pub fn push(&mut self, kind: WarningKind, position: impl FnOnce() -> Position) {
        self.push_many(kind, 1, position);
    }

    /// Counts `count` defects of one kind; does nothing for 0.
    pub fn push_many(&mut self, kind: WarningKind, count: u64, position: impl FnOnce() -> Position) {
        if count == 0 {
            return;
        }
        match self.0.iter_mut().find(|warning| warning.kind == kind) {
            Some(warning) => warning.count = warning.count.saturating_add(count),
            None => self.0.push(Warning { kind, count, first: position() }),
        }
    }

    /// Adds the entries of another list.
    pub fn extend(&mut self, other: &Self) {
        other.iter().for_each(|warning| self.push_many(warning.kind, warning.count, || warning.first.clone()));
    }

    /// Keeps some of the entries.
    pub(crate) fn retain(&mut self, is_kept: impl FnMut(&Warning) -> bool) {
        self.0.retain(is_kept);
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
