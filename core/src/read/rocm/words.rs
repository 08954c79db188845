//! Kineto's words for the kinds of calls and work of `ROCm`.

/// The table of texts; in `rocpd` its name goes on.
pub(in crate::read) const TEXTS: &str = "rocpd_string";

/// The category of calls of the runtime, of calls below it, and of markers.
pub(super) const RUNTIME: &str = "cuda_runtime";
pub(super) const DRIVER: &str = "cuda_driver";
pub(super) const MARKER: &str = "user_annotation";

/// The category of a call by the domain that `rocprofv3` names.
pub(super) fn category_of_domain(domain: &str) -> &'static str {
    match domain {
        _ if domain.starts_with("MARKER") => MARKER,
        "HIP_RUNTIME_API" | "HIP_RUNTIME_API_EXT" | "HIP_API" => RUNTIME,
        _ if domain.starts_with("HIP") || domain.starts_with("HSA") => DRIVER,
        // Libraries: of communication, of video, of OpenMP.
        _ => "cpu_op",
    }
}

/// Device work by the name of its kind: its category and, for copies and fills, its name.
pub(super) fn work(kind: &str) -> (&'static str, Option<String>) {
    let upper = kind.to_ascii_uppercase().replace('_', "");
    if upper.contains("COPY") {
        return ("gpu_memcpy", Some(copy_name(&upper)));
    }
    if upper.contains("FILL") || upper.contains("MEMSET") {
        return ("gpu_memset", Some(String::from("Memset (Device)")));
    }
    match &*upper {
        "KERNELEXECUTION" | "KERNELDISPATCH" | "TASK" => ("kernel", None),
        _ => ("rocm_op", None),
    }
}

/// `Memcpy HtoD (Host -> Device)` of `CopyHostToDevice` or `MEMORY_COPY_HOST_TO_DEVICE`.
fn copy_name(kind: &str) -> String {
    let ends = [("HOSTTODEVICE", "HtoD (Host -> Device)"), ("DEVICETOHOST", "DtoH (Device -> Host)")];
    let more = [("DEVICETODEVICE", "DtoD (Device -> Device)"), ("HOSTTOHOST", "HtoH (Host -> Host)")];
    let found = ends.iter().chain(&more).find(|(words, _)| kind.contains(words));
    format!("Memcpy {}", found.map_or("Unknown", |(_, name)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_both_tools_have_kinetos_words() {
        let name = |kind| work(kind).1.unwrap();
        assert_eq!(name("CopyHostToDevice"), "Memcpy HtoD (Host -> Device)");
        assert_eq!(name("MEMORY_COPY_DEVICE_TO_HOST"), "Memcpy DtoH (Device -> Host)");
        assert_eq!(name("CopyDeviceToDevicePeer"), "Memcpy DtoD (Device -> Device)");
        assert_eq!(work("KernelExecution"), ("kernel", None));
        assert_eq!(work("FillBuffer").0, "gpu_memset");
        assert_eq!(work("Barrier").0, "rocm_op");
        assert_eq!(category_of_domain("MARKER_CORE_RANGE_API"), MARKER);
        assert_eq!(category_of_domain("HIP_COMPILER_API"), DRIVER);
        assert_eq!(category_of_domain("RCCL_API"), "cpu_op");
    }
}
