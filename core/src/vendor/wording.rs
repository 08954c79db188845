//! Says advice for the devices of a trace: most of it is written for CUDA.

use super::entry::Vendor;
use super::{cuda, rocm};

/// Names in advice for CUDA, and their parts around the device type of another vendor.
const NAMES: [(&str, &str, &str); 3] =
    [("torch.cuda.", "torch.", "."), ("device=\"cuda\"", "device=\"", "\""), (".to(\"cuda\"", ".to(\"", "\"")];

/// The setting of the allocator of CUDA, and the one of all devices.
const ALLOCATOR: (&str, &str) = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF");

/// Advice for a vendor's devices: without names of CUDA, unless the vendor shares them.
///
/// ```
/// use kinetoscope::vendor::{advice_for, of_device};
/// let advice = advice_for(of_device("Ascend910B"), "do not call torch.cuda.empty_cache() in the loop");
/// assert_eq!(advice, "do not call torch.npu.empty_cache() in the loop");
/// ```
pub fn advice_for(vendor: Option<&Vendor>, advice: &str) -> String {
    let shares_names = |vendor: &&Vendor| ![cuda::CUDA.name, rocm::ROCM.name].contains(&vendor.name);
    let Some(vendor) = vendor.filter(shares_names) else { return advice.to_owned() };
    let device = vendor.device_types.first().copied().unwrap_or("accelerator");
    let mut text = advice.replace(ALLOCATOR.0, ALLOCATOR.1);
    for (name, before, after) in NAMES {
        text = text.replace(name, &format!("{before}{device}{after}"));
    }
    text.replace("CUDA graphs", "captured graphs").replace("CUDA graph", "captured graph").replace("CUDA", "device")
}
