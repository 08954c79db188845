//! Lists the parts of kernel signatures that do not distinguish kernels.

/// Whether a kernel's name lacks its operation, which its arguments then state.
pub(super) fn is_general(kernel: &str) -> bool {
    const GENERAL: [&str; 11] = [
        "reduce_kernel",
        "multi_tensor_apply_kernel",
        "device_kernel",
        "trampoline_kernel",
        "launch_kernel",
        "GeneralKernel",
        "Kernel",
        "Kernel2",
        "kernel",
        "kentry",
        "CppNode",
    ];
    kernel.contains("lementwise") || GENERAL.contains(&kernel)
}

/// Whether a function of this name may do anything: its scope tells what.
pub(super) fn is_vague(function: &str) -> bool {
    const VAGUE: [&str; 22] = [
        "apply", "backward", "barrier", "combine", "compute", "copy", "device", "dispatch", "entry", "execute",
        "forward", "func", "impl", "invoke", "launch", "main", "process", "recv", "run", "send", "update", "work",
    ];
    let function = function.trim_end_matches("_kernel").trim_end_matches("_impl").trim_end_matches("Kernel");
    VAGUE.contains(&function)
}

/// Whether it is given to such kernels only to hand on something else.
pub(super) fn is_wrapper(class: &str) -> bool {
    const WRAPPERS: [&str; 14] = [
        "gpu_kernel_impl",
        "gpu_kernel_impl_nocast",
        "gpu_kernel_with_scalars",
        "gpu_index_kernel",
        "opmath_gpu_kernel_with_scalars",
        "opmath_symmetric_gpu_kernel_with_scalars",
        "distribution_nullary_kernel",
        "ReduceOp",
        "func_wrapper_t",
        "BinaryFunctor",
        "AUnaryFunctor",
        "BUnaryFunctor",
        "__nv_hdl_wrapper_t",
        "__nv_dl_wrapper_t",
    ];
    // cutlass: `enable_sm90_or_later`, `enable_3x_kernel_for_sm9x`
    class.starts_with("enable_") || class == "__nv_dl_tag" || WRAPPERS.contains(&class)
}

/// Whether it is given to many: types of numbers, lists of tensors, ways to load.
pub(super) fn is_ordinary(class: &str) -> bool {
    const CLASSES: [&str; 25] = [
        "__half",
        "half2",
        "__half2",
        "half_t",
        "__nv_bfloat16",
        "__nv_bfloat162",
        "__hip_bfloat16",
        "hip_bfloat16",
        "bfloat16_t",
        "BFloat16",
        "Half",
        "complex",
        "OpaqueType",
        "array",
        "Array",
        "tuple",
        "integral_constant",
        "LoadWithoutCast",
        "StoreWithoutCast",
        "LoadWithCast",
        "StoreWithCast",
        "adamMode_t",
        "ADAM_MODE",
        "true",
        "false",
    ];
    const PARTS: [&str; 7] = ["Metadata", "Calculator", "Params", "_traits", "_config", "_selector", "target_arch"];
    is_number(class) || CLASSES.contains(&class) || PARTS.iter().any(|part| class.contains(part))
}

/// Whether it is a type of numbers that every program has.
pub(super) fn is_number(class: &str) -> bool {
    const NUMBERS: [&str; 17] = [
        "float", "double", "int", "long", "short", "char", "bool", "unsigned", "signed", "void", "half", "int8_t",
        "uint8_t", "int32_t", "uint32_t", "int64_t", "size_t",
    ];
    NUMBERS.contains(&class)
}
