//! Converts columns of an export to event arguments.

use crate::read::sqlite::StoredColumn;

/// A column of a table.
#[derive(Debug, Clone)]
pub(super) struct SqlColumn {
    pub(super) column: StoredColumn,
    /// The argument that it becomes: Kineto's name for the same, or its own.
    pub(super) argument: String,
    pub(super) form: ColumnForm,
}

/// How a column's value becomes an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnForm {
    /// As it is.
    Plain,
    /// As it is, but that 0 stands for none.
    NonZero,
    /// As the text of that number in `StringIds`.
    Name,
    /// As the label of that code in a table of codes.
    Label(&'static str),
}

/// Columns that become an argument under another name or in another form. All others keep theirs,
/// including those of later versions.
const KNOWN: [(&str, &str, ColumnForm); 32] = [
    ("cacheConfig", "cacheConfig", ColumnForm::Label("ENUM_CUDA_FUNC_CACHE_CONFIG")),
    ("callchainId", "callchainId", ColumnForm::NonZero),
    ("contextId", "context", ColumnForm::Plain),
    ("correlationId", "correlation", ColumnForm::Plain),
    ("dstContextId", "toContext", ColumnForm::Plain),
    ("dstDeviceId", "toDevice", ColumnForm::Plain),
    ("graphExecId", "graph exec id", ColumnForm::NonZero),
    ("graphId", "graph id", ColumnForm::NonZero),
    ("graphNodeId", "graph node id", ColumnForm::NonZero),
    ("jsonTextId", "jsonText", ColumnForm::Name),
    ("launchType", "launchType", ColumnForm::Label("ENUM_CUDA_KERNEL_LAUNCH_TYPE")),
    ("localMemoryPerThread", "localMemoryPerThread", ColumnForm::NonZero),
    ("localMemoryTotal", "localMemoryTotal", ColumnForm::NonZero),
    ("mangledName", "mangled name", ColumnForm::Name),
    ("maxRegistersPerBlock", "regsPerBlock", ColumnForm::Plain),
    ("maxRegistersPerSm", "regsPerMultiprocessor", ColumnForm::Plain),
    ("maxShmemPerBlock", "sharedMemPerBlock", ColumnForm::Plain),
    ("maxShmemPerBlockOptin", "sharedMemPerBlockOptin", ColumnForm::Plain),
    ("maxShmemPerSm", "sharedMemPerMultiprocessor", ColumnForm::Plain),
    ("memKind", "memKind", ColumnForm::Label("ENUM_CUDA_MEM_KIND")),
    ("migrationCause", "migrationCause", ColumnForm::Label("ENUM_CUDA_UNIF_MEM_MIGRATION")),
    ("overheadType", "overheadType", ColumnForm::Label("ENUM_CUPTI_OVERHEAD_TYPE")),
    ("rangeId", "rangeId", ColumnForm::NonZero),
    ("registersPerThread", "registers per thread", ColumnForm::Plain),
    ("returnValue", "return value", ColumnForm::NonZero),
    ("sharedMemoryLimitConfig", "sharedMemoryLimitConfig", ColumnForm::Label("ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG")),
    ("shortName", "short name", ColumnForm::Name),
    ("smCount", "numSms", ColumnForm::Plain),
    ("srcContextId", "fromContext", ColumnForm::Plain),
    ("srcDeviceId", "fromDevice", ColumnForm::Plain),
    ("threadsPerWarp", "warpSize", ColumnForm::Plain),
    ("totalMemory", "totalGlobalMem", ColumnForm::Plain),
];

impl SqlColumn {
    pub(super) fn new(column: &StoredColumn) -> Self {
        let known = KNOWN.iter().find(|(known, ..)| *known == column.name);
        let (argument, form) =
            known.map_or((&*column.name, ColumnForm::Plain), |(_, argument, form)| (argument, *form));
        Self { column: column.clone(), argument: argument.to_owned(), form }
    }
}
