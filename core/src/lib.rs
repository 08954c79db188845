//! Reads `PyTorch` Execution Traces and Kineto traces into columns, links them, and analyzes them.
//!
//! ```
//! use kinetoscope::{Input, Limits, LinkedTrace, read};
//!
//! let json = br#"{"traceEvents": [
//!     {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 9},
//!     {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 3,
//!      "args": {"correlation": 7}},
//!     {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 6, "dur": 4,
//!      "args": {"correlation": 7, "device": 0, "stream": 7}}
//! ]}"#;
//! let linked = LinkedTrace::new(read([Input::new(json)], Limits::default())?);
//! assert_eq!(linked.links.launch.get(2), Some(1));
//! assert_eq!(linked.links.operator.get(2), Some(0));
//! # Ok::<(), kinetoscope::Error>(())
//! ```

pub mod analyze;
pub mod base85;
pub mod chakra;
pub mod column;
pub mod edit;
pub mod error;
pub mod event_kind;
pub mod flight;
pub mod id;
pub mod json;
pub mod label;
pub mod link;
pub mod memory;
#[cfg(feature = "gates")]
mod nearest_name;
pub mod operator_name;
mod perfetto;
pub mod read;
pub mod replay;
pub mod schema;
mod sort;
mod sorted_map;
pub mod strings;
pub mod table;
mod threads;
pub mod time;
pub mod trace;
mod varint;
pub mod vendor;
pub mod view;
pub mod warning;
pub mod write;

pub use error::{Error, ErrorKind, Position};
pub use flight::FlightRecorder;
pub use link::{LinkedTrace, Links};
pub use memory::{MemorySnapshot, MemoryTimeline};
pub use read::{Container, Input, Limits, Recording, read, read_file, sniff};
pub use trace::Trace;
pub use trace::kind::{EventKind, category_kind};
pub use warning::{Severity, Warning, WarningKind, Warnings};
pub use write::snapshot::write_snapshot;

/// The version of this crate, and of everything built on it.
#[expect(clippy::disallowed_macros, reason = "the version is the same for the same source")]
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
