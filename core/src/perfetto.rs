//! Numbers of the fields in Perfetto's messages (`perfetto_trace.proto`) that are read or written.

/// The first byte of each packet in a file: field 1, with bytes.
pub(crate) const PACKET_TAG: u8 = 0x0a;

/// The largest number of a packet's field.
pub(crate) const LAST_FIELD: u32 = 900;

/// `TracePacket`.
pub(crate) mod packet {
    pub(crate) const CHROME_EVENTS: u32 = 5;
    pub(crate) const CLOCK_SNAPSHOT: u32 = 6;
    pub(crate) const TIMESTAMP: u32 = 8;
    pub(crate) const SEQUENCE: u32 = 10;
    pub(crate) const TRACK_EVENT: u32 = 11;
    pub(crate) const INTERNED: u32 = 12;
    pub(crate) const FLAGS: u32 = 13;
    pub(crate) const CLEARED: u32 = 41;
    pub(crate) const DROPPED: u32 = 42;
    pub(crate) const COMPRESSED: u32 = 50;
    pub(crate) const GPU_COUNTER: u32 = 52;
    pub(crate) const RENDER_STAGE: u32 = 53;
    pub(crate) const CLOCK: u32 = 58;
    pub(crate) const STATS: u32 = 35;
    pub(crate) const ZSTD: u32 = 133;
    pub(crate) const DEFAULTS: u32 = 59;
    pub(crate) const TRACK: u32 = 60;
    /// Facts about the recording itself, and about packets: without events.
    pub(crate) const ABOUT: [u32; 14] = [3, 33, 34, 36, 45, 46, 69, 72, 78, 79, 87, 89, 98, 128];
    /// The names of payloads that are often in traces, and are not read.
    pub(crate) const NAMES: [(u32, &str); 8] = [
        (1, "ftrace_events"),
        (2, "process_tree"),
        (7, "sys_stats"),
        (9, "process_stats"),
        (66, "perf_sample"),
        (129, "generic_gpu_frequency_event"),
        (ZSTD, "zstd_compressed_packets"),
        (135, "stack_sample"),
    ];
}

/// `TraceStats`.
pub(crate) mod stats {
    pub(crate) const BUFFER: u32 = 1;
    /// Chunks and patches discarded, invalid packets.
    pub(crate) const LOST: [u32; 3] = [8, 9, 10];
    /// Of a buffer: chunks overwritten, patches failed, chunks discarded, packets that writers lost
    /// or that were too large.
    pub(crate) const LOST_OF_BUFFER: [u32; 5] = [3, 6, 18, 19, 22];
}

/// `TrackEvent`.
pub(crate) mod track_event {
    pub(crate) const CATEGORY_IID: u32 = 3;
    pub(crate) const ANNOTATION: u32 = 4;
    pub(crate) const LEGACY: u32 = 6;
    pub(crate) const TYPE: u32 = 9;
    pub(crate) const NAME_IID: u32 = 10;
    pub(crate) const TRACK: u32 = 11;
    pub(crate) const EXTRA_VALUES: u32 = 12;
    pub(crate) const ABSOLUTE_US: u32 = 16;
    pub(crate) const CATEGORY: u32 = 22;
    pub(crate) const NAME: u32 = 23;
    pub(crate) const COUNTER_VALUE: u32 = 30;
    pub(crate) const EXTRA_TRACKS: u32 = 31;
    pub(crate) const OLD_FLOW: u32 = 36;
    pub(crate) const OLD_LAST_FLOW: u32 = 42;
    pub(crate) const DOUBLE_COUNTER_VALUE: u32 = 44;
    pub(crate) const EXTRA_DOUBLE_TRACKS: u32 = 45;
    pub(crate) const EXTRA_DOUBLE_VALUES: u32 = 46;
    pub(crate) const FLOW: u32 = 47;
    pub(crate) const LAST_FLOW: u32 = 48;
    /// An extension: `GpuCorrelation`, with the ids of the work that a call launched in field 1.
    pub(crate) const LAUNCHED: u32 = 3000;
}

/// `TrackEvent.LegacyEvent`.
pub(crate) mod legacy {
    pub(crate) const NAME_IID: u32 = 1;
    pub(crate) const PHASE: u32 = 2;
    pub(crate) const DURATION_US: u32 = 3;
    pub(crate) const SCOPE: u32 = 14;
    /// The scopes of an instant, from 1 on: all, its process, its thread.
    pub(crate) const SCOPES: [&str; 3] = ["g", "p", "t"];
}

/// `DebugAnnotation`.
pub(crate) mod annotation {
    pub(crate) const NAME_IID: u32 = 1;
    pub(crate) const BOOL: u32 = 2;
    pub(crate) const UINT: u32 = 3;
    pub(crate) const INT: u32 = 4;
    pub(crate) const DOUBLE: u32 = 5;
    pub(crate) const TEXT: u32 = 6;
    pub(crate) const POINTER: u32 = 7;
    pub(crate) const NESTED: u32 = 8;
    pub(crate) const JSON: u32 = 9;
    pub(crate) const NAME: u32 = 10;
    pub(crate) const ENTRY: u32 = 11;
    pub(crate) const ITEM: u32 = 12;
    pub(crate) const TEXT_IID: u32 = 17;
}

/// `GpuRenderStageEvent`.
pub(crate) mod stage {
    pub(crate) const ID: u32 = 1;
    pub(crate) const DURATION: u32 = 2;
    pub(crate) const QUEUE: u32 = 3;
    pub(crate) const STAGE: u32 = 4;
    pub(crate) const EXTRA: u32 = 6;
    pub(crate) const SPECIFICATIONS: u32 = 7;
    pub(crate) const GPU: u32 = 11;
    pub(crate) const QUEUE_IID: u32 = 13;
    pub(crate) const STAGE_IID: u32 = 14;
    pub(crate) const NAME: u32 = 17;
    pub(crate) const WAITS_FOR: u32 = 18;
    pub(crate) const KERNEL_IID: u32 = 19;
    pub(crate) const NAME_IID: u32 = 20;
    pub(crate) const LAUNCH: u32 = 21;
}

/// `InternedData`.
pub(crate) mod interned {
    pub(crate) const CATEGORY: u32 = 1;
    pub(crate) const EVENT: u32 = 2;
    pub(crate) const ANNOTATION: u32 = 3;
    pub(crate) const QUEUE_OR_STAGE: u32 = 24;
    pub(crate) const TEXT: u32 = 29;
    pub(crate) const COUNTERS: u32 = 47;
    pub(crate) const KERNEL: u32 = 1000;
    pub(crate) const ARGUMENT: u32 = 1001;
}

/// The key of a header with category and name of flows, which have numbers alone in Perfetto: a
/// list of first numbers, each with category and name.
pub(crate) const FLOW_NAMES: &str = "kinetoscope_flows";

/// The name of a stage's argument that holds `stream`, where that is not the row.
pub(crate) const RECORDED_STREAM: &str = "recorded stream";
