//! Columns of an export on their way to arguments.

/// A column of a table.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// Its name.
    pub(super) name: String,
    /// The argument that it becomes: Kineto's name for the same, or its own.
    pub(super) argument: String,
    pub(super) form: Form,
}

/// How a column's value becomes an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As it is.
    Plain,
    /// As it is, but that 0 stands for none.
    NonZero,
    /// As the text of that number in `StringIds`.
    Name,
    /// As the label of that code in a table of codes.
    Label(&'static str),
}

/// Columns that become an argument under another name, or in another form. All others become arguments as they are:
/// so does what later versions add.
const KNOWN: [(&str, &str, Form); 32] = [
    ("cacheConfig", "cacheConfig", Form::Label("ENUM_CUDA_FUNC_CACHE_CONFIG")),
    ("callchainId", "callchainId", Form::NonZero),
    ("contextId", "context", Form::Plain),
    ("correlationId", "correlation", Form::Plain),
    ("dstContextId", "toContext", Form::Plain),
    ("dstDeviceId", "toDevice", Form::Plain),
    ("graphExecId", "graph exec id", Form::NonZero),
    ("graphId", "graph id", Form::NonZero),
    ("graphNodeId", "graph node id", Form::NonZero),
    ("jsonTextId", "jsonText", Form::Name),
    ("launchType", "launchType", Form::Label("ENUM_CUDA_KERNEL_LAUNCH_TYPE")),
    ("localMemoryPerThread", "localMemoryPerThread", Form::NonZero),
    ("localMemoryTotal", "localMemoryTotal", Form::NonZero),
    ("mangledName", "mangled name", Form::Name),
    ("maxRegistersPerBlock", "regsPerBlock", Form::Plain),
    ("maxRegistersPerSm", "regsPerMultiprocessor", Form::Plain),
    ("maxShmemPerBlock", "sharedMemPerBlock", Form::Plain),
    ("maxShmemPerBlockOptin", "sharedMemPerBlockOptin", Form::Plain),
    ("maxShmemPerSm", "sharedMemPerMultiprocessor", Form::Plain),
    ("memKind", "memKind", Form::Label("ENUM_CUDA_MEM_KIND")),
    ("migrationCause", "migrationCause", Form::Label("ENUM_CUDA_UNIF_MEM_MIGRATION")),
    ("overheadType", "overheadType", Form::Label("ENUM_CUPTI_OVERHEAD_TYPE")),
    ("rangeId", "rangeId", Form::NonZero),
    ("registersPerThread", "registers per thread", Form::Plain),
    ("returnValue", "return value", Form::NonZero),
    ("sharedMemoryLimitConfig", "sharedMemoryLimitConfig", Form::Label("ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG")),
    ("shortName", "short name", Form::Name),
    ("smCount", "numSms", Form::Plain),
    ("srcContextId", "fromContext", Form::Plain),
    ("srcDeviceId", "fromDevice", Form::Plain),
    ("threadsPerWarp", "warpSize", Form::Plain),
    ("totalMemory", "totalGlobalMem", Form::Plain),
];

impl Column {
    pub(super) fn new(name: String) -> Self {
        let known = KNOWN.iter().find(|(known, ..)| *known == name);
        let (argument, form) =
            known.map_or_else(|| (name.clone(), Form::Plain), |(_, argument, form)| ((*argument).to_owned(), *form));
        Self { name, argument, form }
    }
}
