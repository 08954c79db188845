//! The method that found a link, with its confidence.

use serde::Serialize;

/// The key that matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkMethod {
    /// Equal record ids: `Record function id` and `rf_id`, or those of an operator and of a device
    /// event.
    RecordId,
    /// Equal external ids: `External id` and `rf_id`, which old `PyTorch` counted as one, or those
    /// of an operator and of the device event that it caused.
    ExternalId,
    /// The same place in the sequences of names of a thread.
    Sequence,
    /// The same place in the iteration that fits best; half as sure where others fit as well.
    Window,
    /// The same place in the iteration in which the observer of the Execution Trace ran.
    ObservedIteration,
    /// The same, though an input has another value, or the trace tells nothing of inputs.
    ObservedPlace,
    /// Equal `correlation`.
    Correlation,
    /// The same place among launches and kernels in order of time, where `correlation` repeats.
    LaunchOrder,
    /// A flow of the file.
    Flow,
    /// A kernel of a graph that states its module or annotation itself.
    GraphLabel,
    /// A kernel of a graph: the call that captured it names it.
    KernelName,
    /// The same place in the capture, by `graph node id`.
    GraphNode,
    /// The same place in the capture, in the order of time.
    CaptureOrder,
    /// Equal `Sequence number` on the forward thread.
    SequenceNumber,
    /// Inside of it in time.
    Enclosure,
    /// The same event of the device was recorded and waited for.
    SyncEvent,
    /// The last on its stream before.
    StreamOrder,
    /// The last that ended while a call that waits lasted.
    EndedInside,
    /// The last that ended on another stream before work began that had been made to wait.
    EndedBefore,
}

impl LinkMethod {
    /// The name used in tables and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::RecordId => "record_id",
            Self::ExternalId => "external_id",
            Self::Sequence => "sequence",
            Self::Window => "window",
            Self::ObservedIteration => "observed_iteration",
            Self::ObservedPlace => "observed_place",
            Self::Correlation => "correlation",
            Self::LaunchOrder => "launch_order",
            Self::Flow => "flow",
            Self::GraphLabel => "graph_label",
            Self::KernelName => "kernel_name",
            Self::GraphNode => "graph_node",
            Self::CaptureOrder => "capture_order",
            Self::SequenceNumber => "sequence_number",
            Self::Enclosure => "enclosure",
            Self::SyncEvent => "sync_event",
            Self::StreamOrder => "stream_order",
            Self::EndedInside => "ended_inside",
            Self::EndedBefore => "ended_before",
        }
    }

    /// Whether it finds the call that captured the work of a graph.
    pub(crate) fn is_of_capture(self) -> bool {
        matches!(self, Self::KernelName | Self::GraphNode | Self::CaptureOrder)
    }

    /// The method of a capture by its name; of an unknown one, the least sure.
    pub(crate) fn of_capture(name: &str) -> Self {
        let known = [Self::KernelName, Self::GraphNode, Self::CaptureOrder];
        known.into_iter().find(|method| method.name() == name).unwrap_or(Self::CaptureOrder)
    }

    /// How sure such a link is where nothing else tells, from 0 to 1.
    ///
    /// Ids that the profiler assigns to both ends are certain. `External id` agrees with the
    /// operator around the launch in 99 of 100 cases. A sequence number is matched on a thread that
    /// is itself inferred. Work that ended inside a wait matches the reports in 18 of 18 cases, but
    /// with few streams. Work that ended before delayed work matches the last record in 4 of 4
    /// cases. Names alone do not tell one
    /// `aten::linear` from the next.
    pub fn confidence(self) -> f32 {
        match self {
            Self::ExternalId | Self::SequenceNumber | Self::GraphNode | Self::KernelName => 0.99,
            Self::Sequence
            | Self::Window
            | Self::ObservedIteration
            | Self::Enclosure
            | Self::LaunchOrder
            | Self::CaptureOrder => 0.9,
            Self::EndedInside | Self::EndedBefore => 0.8,
            Self::ObservedPlace => 0.5,
            Self::RecordId
            | Self::GraphLabel
            | Self::Correlation
            | Self::Flow
            | Self::SyncEvent
            | Self::StreamOrder => 1.0,
        }
    }
}
