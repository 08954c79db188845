//! The flight recorder of `torch.distributed` in columns: the last communications of one rank.

use crate::id::{StackId, StrId};
use crate::memory::stack::Stacks;
use crate::strings::Strings;
use crate::warning::Warnings;

/// A dump of the flight recorder: `TORCH_NCCL_DEBUG_INFO_TEMP_FILE`, or `_dump_nccl_trace`.
///
/// Texts and JSON are empty where the file has none.
#[derive(Debug, Clone, Default)]
pub struct FlightRecorder {
    /// All texts.
    pub strings: Strings,
    /// The stacks of all entries.
    pub stacks: Stacks,
    /// Communications in the order of the file (`entries`).
    pub entries: Vec<FlightEntry>,
    /// Entries without a readable form: the number of `entries` before each, ascending.
    pub unreadable: Vec<u32>,
    /// Process groups (`pg_config`), with their counters (`pg_status`).
    pub groups: Vec<FlightGroup>,
    /// The other keys as a JSON object.
    pub metadata: String,
    /// Defects survived.
    pub warnings: Warnings,
}

/// A communication that a process group enqueued.
#[derive(Debug, Clone, Copy, Default)]
pub struct FlightEntry {
    /// The count of all entries so far (`record_id`).
    pub record_id: Option<i64>,
    /// The number of the group (`pg_id`).
    pub group_id: Option<i64>,
    /// The name of the group (`process_group`, or `pg_name`).
    pub group_name: StrId,
    /// Its description.
    pub group_desc: StrId,
    /// Whether its group is not known, because the file's value was not readable.
    pub has_unknown_group: bool,
    /// The count of collectives of the group (`collective_seq_id`, or `seq_id`).
    pub collective_seq: Option<i64>,
    /// The count of sends and receives of the group (`p2p_seq_id`).
    pub p2p_seq: Option<i64>,
    /// The count of operations, also those that were coalesced (`op_id`).
    pub op_id: Option<i64>,
    /// Whether it is a send or a receive (`is_p2p`).
    pub is_p2p: Option<bool>,
    /// `profiling_name`, such as `nccl:all_reduce` or `nccl:send 1->2`.
    pub name: StrId,
    /// `scheduled`, `started` or `completed`.
    pub state: StrId,
    /// When it was enqueued, in ns since 1970 (`time_created_ns`).
    pub created_ns: Option<i64>,
    /// When the watchdog saw it run (`time_discovered_started_ns`).
    pub started_ns: Option<i64>,
    /// When the watchdog saw it done (`time_discovered_completed_ns`).
    pub completed_ns: Option<i64>,
    /// Its time on the device (`duration_ms`), in ns.
    pub duration_ns: Option<i64>,
    /// `timeout_ms`, in ns.
    pub timeout_ns: Option<i64>,
    /// Whether the watchdog no longer looks at it (`retired`).
    pub is_retired: Option<bool>,
    /// Shapes of its inputs, as JSON (`input_sizes`).
    pub input_shapes: StrId,
    /// Their types (`input_dtypes`).
    pub input_types: StrId,
    /// Shapes of its outputs (`output_sizes`).
    pub output_shapes: StrId,
    /// Their types (`output_dtypes`).
    pub output_types: StrId,
    /// Where the program called it (`frames`).
    pub stack: Option<StackId>,
    /// The other keys as a JSON object.
    pub extra: StrId,
}

/// A process group.
#[derive(Debug, Clone, Copy, Default)]
pub struct FlightGroup {
    /// Its key in the file.
    pub key: StrId,
    /// `name`.
    pub name: StrId,
    /// `desc`.
    pub desc: StrId,
    /// Its global ranks as JSON (`ranks`).
    pub ranks: StrId,
    /// The last collective that was enqueued (`last_enqueued_collective`).
    pub last_enqueued: Option<i64>,
    /// The last one that started.
    pub last_started: Option<i64>,
    /// The last one that completed.
    pub last_completed: Option<i64>,
    /// The other keys as a JSON object.
    pub extra: StrId,
}
