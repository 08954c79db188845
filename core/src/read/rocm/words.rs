//! Kineto's words for the kinds of calls and work of `ROCm`.

/// The table of texts; in `rocpd` its name goes on.
pub(in crate::read) const TEXTS: &str = "rocpd_string";

/// The category of calls of the runtime, of calls below it, of operators, and of markers.
pub(super) const RUNTIME: &str = "cuda_runtime";
pub(super) const DRIVER: &str = "cuda_driver";
pub(super) const OPERATOR: &str = "cpu_op";
pub(super) const MARKER: &str = "user_annotation";
/// The category of copies.
pub(super) const COPY_CATEGORY: &str = "gpu_memcpy";
/// The category of what the profiler itself does, and of calls that nothing is known of.
const OVERHEAD: &str = "overhead";
const UNKNOWN: &str = "";

/// The name of calls that are markers in RPD; their argument is the text.
pub(super) const USER_MARKER: &str = "UserMarker";

/// The category of a call by the domain that `rocprofv3` names.
pub(super) fn category_of_domain(domain: &str) -> &'static str {
    match domain {
        "" => UNKNOWN,
        _ if domain.starts_with("MARKER") => MARKER,
        "HIP_RUNTIME_API" | "HIP_RUNTIME_API_EXT" | "HIP_API" => RUNTIME,
        _ if domain.starts_with("HIP") || domain.starts_with("HSA") => DRIVER,
        // Libraries: of communication, of video, of OpenMP.
        _ => OPERATOR,
    }
}

/// The category of a call of RPD, by its domain, the scope in its category, and its name. Schemas
/// before 3 have calls of the runtime and markers alone, and no domains.
pub(super) fn category_of_call(domain: Option<&str>, scope: &str, name: &str) -> &'static str {
    if name == USER_MARKER {
        return MARKER;
    }
    match domain {
        None | Some("hip" | "cuda") => RUNTIME,
        Some("") => UNKNOWN,
        Some("roctx" | "nvtx") => MARKER,
        // The scope is that of `PyTorch`'s `RecordFunction`.
        Some("torch") if scope == "user_scope" => MARKER,
        Some("rpd_tracer") => OVERHEAD,
        // The driver allocates scratch memory.
        Some("scratch") => DRIVER,
        // Frameworks and libraries: `torch`, `miopen`, and what a program calls its own.
        Some(_) => OPERATOR,
    }
}

/// Device work by the name of its kind: its category and, for copies and fills, its name. Where
/// the kind is a general one, RPD tells the rest in the description.
pub(super) fn work(kind: &str, description: &str) -> (&'static str, Option<String>) {
    let plain = |words: &str| words.to_ascii_uppercase().replace('_', "");
    let kind = plain(kind);
    match &*kind {
        "KERNELEXECUTION" | "KERNELDISPATCH" | "TASK" => return ("kernel", None),
        // The description may be a kernel's name, which may have any word in it.
        "" => return (OTHER_WORK, None),
        // A stream waits for an event.
        "BARRIER" => return ("gpu_sync", None),
        _ => {}
    }
    let words = [kind, plain(description)];
    let has = |parts: [&str; 2]| words.iter().any(|words| parts.iter().any(|part| words.contains(part)));
    // First: the runtime of HIP says `Memcpy` of a fill, too.
    if has(["FILL", "MEMSET"]) {
        return ("gpu_memset", Some(String::from("Memset (Device)")));
    }
    if has(["COPY", "MEMCPY"]) {
        return (COPY_CATEGORY, Some(copy_name(&words)));
    }
    (OTHER_WORK, None)
}

/// The category of work of another kind.
const OTHER_WORK: &str = "rocm_op";

/// `Memcpy HtoD (Host -> Device)` of `CopyHostToDevice` or `MEMORY_COPY_HOST_TO_DEVICE`.
fn copy_name(kind: &[String; 2]) -> String {
    let ends = [("HOSTTODEVICE", "HtoD (Host -> Device)"), ("DEVICETOHOST", "DtoH (Device -> Host)")];
    let more = [("DEVICETODEVICE", "DtoD (Device -> Device)"), ("HOSTTOHOST", "HtoH (Host -> Host)")];
    let found = ends.iter().chain(&more).find(|(words, _)| kind.iter().any(|kind| kind.contains(words)));
    format!("Memcpy {}", found.map_or("Unknown", |(_, name)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_both_tools_have_kinetos_words() {
        let name = |kind| work(kind, "").1.unwrap();
        assert_eq!(name("CopyHostToDevice"), "Memcpy HtoD (Host -> Device)");
        assert_eq!(name("MEMORY_COPY_DEVICE_TO_HOST"), "Memcpy DtoH (Device -> Host)");
        assert_eq!(name("CopyDeviceToDevicePeer"), "Memcpy DtoD (Device -> Device)");
        assert_eq!(work("KernelExecution", ""), ("kernel", None));
        assert_eq!(work("FillBuffer", "").0, "gpu_memset");
        assert_eq!(work("Barrier", ""), ("gpu_sync", None));
        assert_eq!(work("KfdQueue", "EVICT").0, "rocm_op");
        assert_eq!(category_of_domain("MARKER_CORE_RANGE_API"), MARKER);
        assert_eq!(category_of_domain("HIP_COMPILER_API"), DRIVER);
        assert_eq!(category_of_domain("RCCL_API"), OPERATOR);
        assert_eq!(category_of_domain(""), UNKNOWN);
    }

    #[test]
    fn a_general_kind_has_the_rest_in_the_description() {
        let copy = |name: &str| ("gpu_memcpy", Some(format!("Memcpy {name}")));
        assert_eq!(work("Memcpy", ""), copy("Unknown"));
        assert_eq!(work("Memcpy", "SDMA"), copy("Unknown"));
        assert_eq!(work("Memcpy", "CopyDeviceToHost"), copy("DtoH (Device -> Host)"));
        assert_eq!(work("Memcpy", "Fill").0, "gpu_memset");
        assert_eq!(work("Marker", "CopyHostToDevice"), copy("HtoD (Host -> Device)"));
        assert_eq!(work("KernelExecution", "fill_and_copy_kernel"), ("kernel", None));
        assert_eq!(work("", "fill_and_copy_kernel").0, "rocm_op");
    }

    #[test]
    fn calls_of_rpd_have_the_category_of_their_domain() {
        let of = |domain, scope| category_of_call(Some(domain), scope, "name");
        assert_eq!((category_of_call(None, "", "hipMalloc"), of("hip", "")), (RUNTIME, RUNTIME));
        assert_eq!((category_of_call(None, "", USER_MARKER), of("roctx", "range")), (MARKER, MARKER));
        assert_eq!((of("torch", "function"), of("torch", "user_scope")), (OPERATOR, MARKER));
        assert_eq!((of("rpd_tracer", "overhead"), of("miopen", "function"), of("", "")), (OVERHEAD, OPERATOR, UNKNOWN));
    }
}
