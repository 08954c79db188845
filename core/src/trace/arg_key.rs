//! Argument keys that the core reads, with their spellings in files.

/// A key that is read without a lookup by string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the spellings in KNOWN say what each is")]
pub enum ArgKey {
    Correlation,
    ExternalId,
    RecordId,
    SeqNum,
    Bytes,
    Registers,
    SharedMemory,
    InElems,
    OutElems,
    GroupSize,
    Bandwidth,
    Occupancy,
    InputShapes,
    InputTypes,
    InputStrides,
    ConcreteInputs,
    Grid,
    Block,
    Collective,
    Dtype,
    GroupName,
    ForwardThread,
    Device,
    Stream,
    PythonId,
    PythonParentId,
    CallStack,
    ProcessId,
    BlocksPerSm,
    RecordedBy,
    TaskType,
    GraphId,
    GraphNodeId,
    ModulePath,
    KernelAnnotation,
    MarkName,
    KernelFile,
    KernelHash,
    OriginalStream,
    AnnotatedStream,
    CapturedOperator,
    CapturedOperatorId,
    CapturedLine,
    CapturedBy,
    CaptureConfidence,
    OccupancyFacts,
    Queue,
    Channel,
    ChannelType,
    Cluster,
}

/// The column of the event table for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    /// A column of identifiers.
    Identifier,
    /// A column of integers.
    Integer,
    /// A column of floats.
    Float,
    /// A column of texts.
    Text,
    /// No column: the key stays in `args`.
    None,
}

/// All known keys, in the order of their codes.
pub(super) const KNOWN: [(ArgKey, ColumnKind, &[&str]); 50] = [
    (ArgKey::Correlation, ColumnKind::Identifier, &["correlation", "correlation_id"]),
    (ArgKey::ExternalId, ColumnKind::Identifier, &["External id", "external id"]),
    (ArgKey::RecordId, ColumnKind::Identifier, &["Record function id"]),
    (ArgKey::SeqNum, ColumnKind::Integer, &["Sequence number"]),
    (ArgKey::Bytes, ColumnKind::Integer, &["bytes", "Bytes"]),
    (ArgKey::Registers, ColumnKind::Integer, &["registers per thread"]),
    (ArgKey::SharedMemory, ColumnKind::Integer, &["shared memory"]),
    (ArgKey::InElems, ColumnKind::Integer, &["In msg nelems"]),
    (ArgKey::OutElems, ColumnKind::Integer, &["Out msg nelems"]),
    (ArgKey::GroupSize, ColumnKind::Integer, &["Group size"]),
    (ArgKey::Bandwidth, ColumnKind::Float, &["memory bandwidth (GB/s)"]),
    (ArgKey::Occupancy, ColumnKind::Float, &["est. achieved occupancy %"]),
    (ArgKey::InputShapes, ColumnKind::Text, &["Input Dims", "Input dims"]),
    (ArgKey::InputTypes, ColumnKind::Text, &["Input type"]),
    (ArgKey::InputStrides, ColumnKind::Text, &["Input Strides"]),
    (ArgKey::ConcreteInputs, ColumnKind::Text, &["Concrete Inputs"]),
    (ArgKey::Grid, ColumnKind::Text, &["grid"]),
    (ArgKey::Block, ColumnKind::Text, &["block"]),
    (ArgKey::Collective, ColumnKind::Text, &["Collective name"]),
    (ArgKey::Dtype, ColumnKind::Text, &["dtype"]),
    (ArgKey::GroupName, ColumnKind::Text, &["Process Group Name"]),
    (ArgKey::ForwardThread, ColumnKind::None, &["Fwd thread id"]),
    (ArgKey::Device, ColumnKind::None, &["device"]),
    (ArgKey::Stream, ColumnKind::None, &["stream"]),
    (ArgKey::PythonId, ColumnKind::None, &["Python id"]),
    (ArgKey::PythonParentId, ColumnKind::None, &["Python parent id"]),
    (ArgKey::CallStack, ColumnKind::None, &["Call stack"]),
    (ArgKey::ProcessId, ColumnKind::None, &["process id"]),
    (ArgKey::BlocksPerSm, ColumnKind::None, &["blocks per SM"]),
    (ArgKey::RecordedBy, ColumnKind::None, &["wait_on_cuda_event_record_corr_id"]),
    (ArgKey::TaskType, ColumnKind::None, &["Task Type", "task type"]),
    (ArgKey::GraphId, ColumnKind::Identifier, &["graph id"]),
    (ArgKey::GraphNodeId, ColumnKind::Identifier, &["graph node id"]),
    (ArgKey::ModulePath, ColumnKind::None, &["fqn", "module_fqn"]),
    (ArgKey::KernelAnnotation, ColumnKind::None, &["annotation"]),
    (ArgKey::MarkName, ColumnKind::None, &["name"]),
    (ArgKey::KernelFile, ColumnKind::None, &["kernel_file"]),
    (ArgKey::KernelHash, ColumnKind::None, &["kernel_hash"]),
    (ArgKey::OriginalStream, ColumnKind::None, &["original_stream"]),
    (ArgKey::AnnotatedStream, ColumnKind::None, &["annotated_stream"]),
    (ArgKey::CapturedOperator, ColumnKind::Text, &["captured operator"]),
    (ArgKey::CapturedOperatorId, ColumnKind::None, &["captured operator id"]),
    (ArgKey::CapturedLine, ColumnKind::None, &["captured line"]),
    (ArgKey::CapturedBy, ColumnKind::Text, &["captured by"]),
    (ArgKey::CaptureConfidence, ColumnKind::Float, &["capture confidence"]),
    (ArgKey::OccupancyFacts, ColumnKind::None, &["occupancy"]),
    (ArgKey::Queue, ColumnKind::None, &["queue"]),
    (ArgKey::Channel, ColumnKind::None, &["channel"]),
    (ArgKey::ChannelType, ColumnKind::None, &["channel_type"]),
    (ArgKey::Cluster, ColumnKind::Text, &["cluster"]),
];

impl ArgKey {
    /// The known key that is spelled so.
    pub(super) fn of(text: &str) -> Option<Self> {
        KNOWN.iter().find(|(_, _, spellings)| spellings.contains(&text)).map(|(key, ..)| *key)
    }

    pub(super) fn column(self) -> ColumnKind {
        KNOWN[self as usize].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_key_stands_at_its_own_place() {
        for (place, (key, ..)) in KNOWN.iter().enumerate() {
            assert_eq!(*key as usize, place);
        }
    }
}
