//! Device vendors: categories of events, host calls, kernels and communication libraries of each.
//!
//! A trace does not name its vendor. A call with the prefix of a vendor has the roles that this
//! vendor gives it; any other name has a role if any vendor gives it that role. Callers look each
//! distinct text up once.

mod aiu;
mod ascend;
mod cuda;
mod entry;
mod hpu;
mod mtia;
mod portable;
mod producer;
mod residency;
mod rocm;
mod wording;
mod xpu;

pub use entry::{
    CommunicationLibraries, DeviceWait, EventCategory, HostCalls, KernelNames, NamePattern, Vendor, VersionFormat,
    WaitReports,
};
pub use producer::{
    DATABASE_NAMES, EventNames, Producer, ToolName, TrackNames, TrackRole, database_title, holds_base_time,
    is_tool_title, producer, telling_arguments,
};
pub use residency::ResidencyRules;
pub use wording::advice_for;

use crate::event_kind::EventKind;

/// All vendors, and the names that several of them share.
pub static VENDORS: &[&Vendor] =
    &[&cuda::CUDA, &rocm::ROCM, &xpu::XPU, &mtia::MTIA, &ascend::ASCEND, &hpu::HPU, &aiu::AIU, &portable::PORTABLE];

/// The category of events of a name in lower case.
pub fn category(lower: &str) -> Option<&'static EventCategory> {
    VENDORS.iter().flat_map(|vendor| vendor.categories).find(|category| category.name == lower)
}

/// The wait that a device reports by an event of this name.
pub fn device_wait(name: &str) -> Option<DeviceWait> {
    let names = VENDORS.iter().flat_map(|vendor| vendor.reports.names);
    names.copied().find(|(other, _)| *other == name).map(|(_, wait)| wait)
}

/// Whether a key of `args` holds the name of a reported wait.
pub fn is_wait_kind(key: &str) -> bool {
    VENDORS.iter().any(|vendor| vendor.reports.kind_keys.contains(&key))
}

/// The category of a wait that has this key in `args`.
pub fn wait_category(key: &str) -> Option<&'static str> {
    let vendor = VENDORS.iter().find(|vendor| vendor.reports.kind_keys.contains(&key))?;
    let waits = |category: &&EventCategory| category.kind == EventKind::Sync;
    vendor.categories.iter().find(waits).map(|category| category.name)
}

/// Whether a call has the prefix of a vendor.
///
/// ```
/// use kinetoscope::vendor::has_call_prefix;
/// assert!(has_call_prefix("hipLaunchKernel") && !has_call_prefix("hippocampus"));
/// ```
pub fn has_call_prefix(call: &str) -> bool {
    VENDORS.iter().any(|vendor| vendor.has_call(call))
}

/// Whether a call has a role: its name has one of the parts.
fn has_part(call: &str, parts: fn(&HostCalls) -> &'static [&'static str]) -> bool {
    let is_of_any = !has_call_prefix(call);
    let vendors = VENDORS.iter().filter(|vendor| is_of_any || vendor.has_call(call));
    vendors.flat_map(|vendor| parts(&vendor.calls)).any(|part| call.contains(part))
}

/// Whether a call enqueues work of a device.
///
/// ```
/// use kinetoscope::vendor::enqueues;
/// assert!(enqueues("cudaLaunchKernel") && enqueues("urEnqueueUSMMemcpy"));
/// assert!(!enqueues("cudaStreamIsCapturing"));
/// ```
pub fn enqueues(call: &str) -> bool {
    has_part(call, |calls| calls.enqueue) && !has_part(call, |calls| calls.describe)
}

/// Whether a call enqueues exactly one kernel: not a graph, nor one kernel for each of several
/// devices.
///
/// ```
/// use kinetoscope::vendor::launches_one_kernel;
/// assert!(launches_one_kernel("cudaLaunchKernelExC") && launches_one_kernel("hipModuleLaunchKernel"));
/// assert!(!launches_one_kernel("cudaGraphLaunch") && !launches_one_kernel("cudaGraphAddKernelNode"));
/// ```
pub fn launches_one_kernel(call: &str) -> bool {
    enqueues(call) && has_part(call, |calls| calls.launch_kernel) && !call.contains("MultiDevice")
}

/// Whether events of a category are ranges in which counters were measured instead of kernels.
pub(crate) fn measures_counters(category: &str) -> bool {
    VENDORS.iter().any(|vendor| vendor.counter_ranges.contains(&category))
}

/// Whether a counter of a name in lower case tells how far units for matrices work.
#[cfg(feature = "kernel-counters")]
pub(crate) fn measures_matrix_units(lower: &str) -> bool {
    VENDORS.iter().flat_map(|vendor| vendor.matrix_counters).any(|part| lower.contains(part))
}

/// Whether a call enqueues the work of a whole graph.
pub fn launches_graph(call: &str) -> bool {
    has_part(call, |calls| calls.launch_graph)
}

/// Whether a call enqueues a copy.
pub fn copies(call: &str) -> bool {
    enqueues(call) && has_part(call, |calls| calls.copy)
}

/// Whether a call enqueues a fill.
pub fn fills(call: &str) -> bool {
    enqueues(call) && has_part(call, |calls| calls.fill)
}

/// The kind of the only device event that a call enqueues; `None` for other calls.
///
/// ```
/// use kinetoscope::EventKind;
/// use kinetoscope::vendor::single_work;
/// assert_eq!(single_work("cudaMemsetAsync"), Some(EventKind::Fill));
/// assert_eq!(single_work("cudaGraphLaunch"), None);
/// ```
pub fn single_work(call: &str) -> Option<EventKind> {
    match () {
        () if launches_one_kernel(call) => Some(EventKind::Kernel),
        () if copies(call) => Some(EventKind::Copy),
        () if fills(call) => Some(EventKind::Fill),
        () => None,
    }
}

/// Whether a call begins to capture a graph.
pub fn begins_capture(call: &str) -> bool {
    has_part(call, |calls| calls.begin_capture)
}

/// Whether a call ends the capture of a graph.
pub fn ends_capture(call: &str) -> bool {
    has_part(call, |calls| calls.end_capture)
}

/// Whether a call makes a graph that can be launched.
pub fn instantiates_graph(call: &str) -> bool {
    has_part(call, |calls| calls.instantiate_graph)
}

/// Whether a call blocks the host until all work of a device is done.
pub fn synchronizes_device(call: &str) -> bool {
    has_part(call, |calls| calls.synchronize_device)
}

/// Whether a call blocks the host until work of a device is done.
pub fn synchronizes(call: &str) -> bool {
    has_part(call, |calls| calls.synchronize)
}

/// Whether a call blocks the host until a recorded event is done.
pub fn synchronizes_event(call: &str) -> bool {
    has_part(call, |calls| calls.synchronize_event)
}

/// Whether a call may last as long as work of a device.
pub fn may_wait(call: &str) -> bool {
    has_part(call, |calls| calls.may_wait)
}

/// Whether a call makes a stream wait for a recorded event.
pub fn makes_stream_wait(call: &str) -> bool {
    has_part(call, |calls| calls.stream_wait)
}

/// Whether a call records an event on a stream.
pub fn records_event(call: &str) -> bool {
    has_part(call, |calls| calls.record_event)
}

/// Whether a call allocates or frees memory.
pub fn allocates(call: &str) -> bool {
    VENDORS.iter().any(|vendor| vendor.calls.allocate.contains(&call))
}

/// Whether a call frees memory of the device.
///
/// ```
/// use kinetoscope::vendor::frees;
/// assert!(frees("hipFree") && frees("AscendCL@aclrtFree"));
/// assert!(!frees("cudaMalloc") && !frees("cudaFreeHost"));
/// ```
pub fn frees(call: &str) -> bool {
    let is_host = call.contains("Host");
    allocates(call) && !is_host && ["Free", "Unmap"].iter().any(|word| call.contains(word))
}

/// Whether a kernel's name, in lower case, has one of the patterns.
pub(crate) fn is_kernel_of(lower: &str, patterns: fn(&KernelNames) -> &'static [NamePattern]) -> bool {
    VENDORS.iter().flat_map(|vendor| patterns(&vendor.kernels)).any(|pattern| pattern.matches(lower))
}

/// Whether a kernel only contains or waits for other work.
pub(crate) fn is_envelope(kernel: &str) -> bool {
    is_kernel_of(&kernel.to_lowercase(), |names| names.envelope)
}

/// Whether a kernel is one of a library for communication.
pub fn is_communication_kernel(name: &str) -> bool {
    VENDORS.iter().flat_map(|vendor| vendor.communication.kernels).any(|start| name.starts_with(start))
}

/// Whether a process group may have a backend of this name.
///
/// ```
/// use kinetoscope::vendor::is_backend;
/// assert!(is_backend("nccl") && !is_backend("gloo"));
/// ```
pub fn is_backend(name: &str) -> bool {
    VENDORS.iter().any(|vendor| vendor.communication.backends.contains(&name))
}

/// The word in the name of a kernel that stands for its collective.
///
/// ```
/// use kinetoscope::vendor::collective_word;
/// assert_eq!(collective_word("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), Some("AllReduce"));
/// ```
pub fn collective_word(kernel: &str) -> Option<&str> {
    let marks = VENDORS.iter().flat_map(|vendor| vendor.communication.before_collective);
    let rest = marks.filter_map(|mark| kernel.split_once(mark)).map(|(_, rest)| rest).next()?;
    rest.split(|letter: char| !letter.is_ascii_alphabetic()).next()
}

/// The vendor of a device by its name in `deviceProperties`.
pub fn of_device(name: &str) -> Option<&'static Vendor> {
    VENDORS.iter().copied().find(|vendor| vendor.devices.iter().any(|start| name.starts_with(start)))
}

/// The model of a device: its name without the company, which takes room that the model needs.
///
/// ```
/// use kinetoscope::vendor::device_model;
/// assert_eq!(device_model("NVIDIA H100 80GB HBM3"), "H100 80GB HBM3");
/// assert_eq!(device_model("gfx942"), "gfx942");
/// ```
pub fn device_model(name: &str) -> &str {
    let mut companies = VENDORS.iter().flat_map(|vendor| vendor.companies);
    let model = companies.find_map(|company| name.strip_prefix(company)?.strip_prefix(' '));
    model.filter(|model| !model.is_empty()).unwrap_or(name)
}

/// The vendor of a call by its prefix.
pub fn of_call(call: &str) -> Option<&'static Vendor> {
    VENDORS.iter().copied().find(|vendor| vendor.has_call(call))
}

/// Whether a device type is one of a vendor, as in `cuda:0`.
pub fn is_device_type(name: &str) -> bool {
    VENDORS.iter().any(|vendor| vendor.device_types.contains(&name))
}
