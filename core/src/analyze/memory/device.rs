//! Names the devices of an allocator as `PyTorch` does.

use crate::table::put_name;

/// A device as `PyTorch` numbers it: its type (0 is the host, 1 CUDA and `ROCm`), and its number
/// there (-1 of the host).
pub type MemoryDevice = (i64, i64);

/// Types of devices by their numbers, as `PyTorch` has both (`c10/core/DeviceType.h`).
pub(super) const DEVICE_TYPES: [&str; 21] = [
    "cpu",
    "cuda",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "fpga",
    "maia",
    "xla",
    "vulkan",
    "metal",
    "xpu",
    "mps",
    "meta",
    "hpu",
    "ve",
    "lazy",
    "ipu",
    "mtia",
    "privateuseone",
];

pub(super) fn put_device(out: &mut String, device: MemoryDevice) -> bool {
    put_name(out, &device_name(device))
}

/// As `PyTorch` writes it: `cpu`, `cuda:0`.
pub(in crate::analyze) fn device_name((kind, number): MemoryDevice) -> String {
    match usize::try_from(kind).ok().and_then(|kind| DEVICE_TYPES.get(kind)) {
        Some(&"cpu") => String::from("cpu"),
        Some(name) => format!("{name}:{number}"),
        None => format!("{kind}:{number}"),
    }
}
