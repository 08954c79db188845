//! The entry of a vendor: all names by which a trace shows its devices.

use super::residency::ResidencyRules;
use crate::event_kind::EventKind;

/// A vendor of devices, with the names that its runtime, its kernels and its libraries have.
///
/// All lists may be empty. A name is compared as the file has it, unless a field says otherwise.
#[derive(Debug, Clone, Copy)]
pub struct Vendor {
    /// The name of the platform, in lower case.
    pub name: &'static str,
    /// Categories of events (`cat`) that only this vendor has.
    pub categories: &'static [EventCategory],
    /// Categories of ranges in which counters are measured. Then kernels have no events.
    pub counter_ranges: &'static [&'static str],
    /// Parts of the names of counters, in lower case, that tell how far units for matrices work.
    #[cfg(feature = "kernel-counters")]
    pub matrix_counters: &'static [&'static str],
    /// Reports of waits that its devices write.
    pub reports: WaitReports,
    /// Calls of its runtime and driver, by their roles.
    pub calls: HostCalls,
    /// Names of its kernels.
    pub kernels: KernelNames,
    /// Its libraries for communication.
    pub communication: CommunicationLibraries,
    /// Starts of the names of its devices, as `deviceProperties` has them.
    pub devices: &'static [&'static str],
    /// Names of the company, as they begin names of its devices.
    pub companies: &'static [&'static str],
    /// Whether `computeMajor` of its devices is a compute capability of CUDA.
    pub has_compute_capability: bool,
    /// How its multiprocessors hold blocks, by `computeMajor` and `computeMinor`.
    pub residency: fn(i64, i64) -> Option<ResidencyRules>,
    /// Types of device in `PyTorch`: the word before the colon in `cuda:0`.
    pub device_types: &'static [&'static str],
    /// Starts of the names of its calls. A capital letter or an underscore follows, but for a start
    /// that ends in `@`. Roles of such a call come from this vendor alone.
    pub call_prefixes: &'static [&'static str],
    /// Keys of the file's header that hold versions, each with its format and a label.
    pub versions: &'static [(&'static str, VersionFormat, &'static str)],
}

impl Vendor {
    /// A vendor without any names, to start an entry from.
    pub const EMPTY: Self = Self {
        name: "",
        categories: &[],
        counter_ranges: &[],
        #[cfg(feature = "kernel-counters")]
        matrix_counters: &[],
        reports: WaitReports { kind_keys: &[], names: &[] },
        calls: HostCalls::EMPTY,
        kernels: KernelNames::EMPTY,
        communication: CommunicationLibraries { backends: &[], kernels: &[], before_collective: &[] },
        devices: &[],
        companies: &[],
        has_compute_capability: false,
        residency: |_, _| None,
        device_types: &[],
        call_prefixes: &[],
        versions: &[],
    };

    /// Words that stand for the vendor, its devices and its libraries.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        let names = self.device_types.iter().chain(self.communication.backends);
        std::iter::once(self.name).chain(names.copied())
    }

    /// Whether a call has one of the vendor's prefixes.
    pub(super) fn has_call(&self, name: &str) -> bool {
        self.call_prefixes.iter().any(|prefix| {
            let Some(rest) = name.strip_prefix(prefix) else { return false };
            prefix.ends_with('@') || rest.starts_with(|letter: char| letter.is_ascii_uppercase() || letter == '_')
        })
    }
}

/// A category of events.
#[derive(Debug, Clone, Copy)]
pub struct EventCategory {
    /// `cat`, in lower case.
    pub name: &'static str,
    /// The kind of its events.
    pub kind: EventKind,
    /// Whether its events are on a stream of a device.
    pub is_on_device: bool,
}

/// A category of events on a device.
pub(super) const fn device(name: &'static str, kind: EventKind) -> EventCategory {
    EventCategory { name, kind, is_on_device: true }
}

/// A wait that a device reports as an event of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceWait {
    /// The host waits for a stream.
    Stream,
    /// The host waits for all streams of a device.
    Context,
    /// The host waits for a recorded event.
    Event,
    /// A stream waits for a recorded event.
    StreamForEvent,
}

/// Names of waits that a device reports.
#[derive(Debug, Clone, Copy)]
pub struct WaitReports {
    /// Keys of `args` that hold the name of the wait. Without the key, the event has that name.
    pub kind_keys: &'static [&'static str],
    /// Names of waits.
    pub names: &'static [(&'static str, DeviceWait)],
}

/// Calls of a runtime or driver by their roles. Entries are parts of names, except `allocate`.
#[derive(Debug, Clone, Copy)]
pub struct HostCalls {
    /// Enqueues work on a device.
    pub enqueue: &'static [&'static str],
    /// Only describes or queries work, although a part of its name is in `enqueue`.
    pub describe: &'static [&'static str],
    /// Enqueues exactly one kernel. Its name also has a part of `enqueue`.
    pub launch_kernel: &'static [&'static str],
    /// Enqueues the work of a whole graph.
    pub launch_graph: &'static [&'static str],
    /// Enqueues a copy of memory. Its name also has a part of `enqueue`.
    pub copy: &'static [&'static str],
    /// Enqueues a fill of memory. Its name also has a part of `enqueue`.
    pub fill: &'static [&'static str],
    /// Begins to capture a graph: the work of later launches is recorded in it, and does not run.
    pub begin_capture: &'static [&'static str],
    /// Ends the capture of a graph.
    pub end_capture: &'static [&'static str],
    /// Makes a graph that can be launched from a captured one.
    pub instantiate_graph: &'static [&'static str],
    /// Blocks the host until work of a device is done.
    pub synchronize: &'static [&'static str],
    /// Blocks the host until all work of a device is done. Its name also has a part of
    /// `synchronize`.
    pub synchronize_device: &'static [&'static str],
    /// Blocks the host until a recorded event is done. Its name also has a part of `synchronize`.
    pub synchronize_event: &'static [&'static str],
    /// May last as long as work of a device, as do those of `synchronize`.
    pub may_wait: &'static [&'static str],
    /// Makes a stream wait for a recorded event.
    pub stream_wait: &'static [&'static str],
    /// Records an event on a stream.
    pub record_event: &'static [&'static str],
    /// Allocates or frees memory of the device, or pinned memory. Whole names.
    pub allocate: &'static [&'static str],
}

impl HostCalls {
    /// No calls.
    pub const EMPTY: Self = Self {
        enqueue: &[],
        describe: &[],
        launch_kernel: &[],
        launch_graph: &[],
        copy: &[],
        fill: &[],
        begin_capture: &[],
        end_capture: &[],
        instantiate_graph: &[],
        synchronize: &[],
        synchronize_device: &[],
        synchronize_event: &[],
        may_wait: &[],
        stream_wait: &[],
        record_event: &[],
        allocate: &[],
    };

    /// The roles in the runtime of CUDA, for runtimes that name their calls after it.
    pub const LIKE_CUDA: Self = Self {
        enqueue: &["Launch", "Memcpy", "Memset"],
        // Such calls add nodes to a graph, set attributes, or run a function of the host.
        describe: &["HostFunc", "Node", "Attribute"],
        launch_kernel: &["LaunchKernel", "LaunchCooperativeKernel"],
        launch_graph: &["GraphLaunch"],
        copy: &["Memcpy"],
        fill: &["Memset"],
        begin_capture: &["BeginCapture"],
        end_capture: &["EndCapture"],
        instantiate_graph: &["GraphInstantiate"],
        synchronize: &["Synchronize"],
        synchronize_device: &["DeviceSynchronize", "CtxSynchronize"],
        synchronize_event: &["EventSynchronize"],
        may_wait: &["Synchronize", "StreamWait", "Query", "Memcpy"],
        stream_wait: &["StreamWaitEvent"],
        record_event: &["EventRecord"],
        allocate: &[],
    };
}

/// The place of a pattern in a name.
#[derive(Debug, Clone, Copy)]
pub enum NamePattern {
    /// The name starts with it.
    Start(&'static str),
    /// The name has it anywhere.
    Anywhere(&'static str),
    /// The name has it where a word begins, so `ep::` is no part of `step::`.
    Word(&'static str),
    /// The name has it before the parameters of the function.
    Function(&'static str),
}

impl NamePattern {
    /// Whether a name has the pattern.
    pub(super) fn matches(self, name: &str) -> bool {
        match self {
            Self::Start(pattern) => name.starts_with(pattern),
            Self::Anywhere(pattern) => name.contains(pattern),
            Self::Word(pattern) => {
                let is_inside = |letter: char| letter.is_alphanumeric() || letter == '_';
                name.match_indices(pattern).any(|(at, _)| !name[..at].ends_with(is_inside))
            }
            Self::Function(pattern) => without_parameters(name).contains(pattern),
        }
    }
}

/// The part of a C++ name before the parameters of its function. Parameters have types of
/// libraries that the function itself may not use.
fn without_parameters(name: &str) -> &str {
    let mut depth = 0_usize;
    let end = name.bytes().enumerate().position(|(at, byte)| {
        match byte {
            b'<' => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        byte == b'(' && depth == 0 && !name[at..].starts_with("(anonymous")
    });
    end.map_or(name, |end| &name[..end])
}

/// Patterns of kernel names, all in lower case. Kernels without a match compute.
#[derive(Debug, Clone, Copy)]
pub struct KernelNames {
    /// Exchanges data with other ranks.
    pub communication: &'static [NamePattern],
    /// Computes, although a pattern of `communication` matches.
    pub computation: &'static [NamePattern],
    /// Copies or fills memory.
    pub memory: &'static [NamePattern],
    /// Only contains or waits for other work.
    pub envelope: &'static [NamePattern],
    /// Computes with units for matrices.
    pub matrix_units: &'static [NamePattern],
    /// Computes without units for matrices, although a pattern of `matrix_units` matches.
    pub other_units: &'static [NamePattern],
    /// Rounds 32-bit floats for units for matrices.
    pub rounded_float32: &'static [NamePattern],
}

impl KernelNames {
    /// No names.
    pub const EMPTY: Self = Self {
        communication: &[],
        computation: &[],
        memory: &[],
        envelope: &[],
        matrix_units: &[],
        other_units: &[],
        rounded_float32: &[],
    };
}

/// Libraries for communication.
#[derive(Debug, Clone, Copy)]
pub struct CommunicationLibraries {
    /// Backends of process groups. `PyTorch` annotates a call with them: `nccl:all_reduce`.
    pub backends: &'static [&'static str],
    /// Starts of kernel names.
    pub kernels: &'static [&'static str],
    /// Parts of kernel names that the name of the collective follows.
    pub before_collective: &'static [&'static str],
}

/// The format of a version in a file's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionFormat {
    /// A number of thousands and tens: 12040 is 12.4.
    Thousands,
    /// A text.
    Text,
}
