//! Answers about a linked trace: exact in nanoseconds, total (no input gives an empty answer), the same every time.

mod coverage;
mod health;
pub mod interval;
mod kernel;
mod launch;
mod operator;
mod reason;
mod selection;
mod summary;

pub use coverage::{Coverage, Share, WindowRow, coverage};
pub use health::{HealthRow, health};
pub use kernel::{KernelRow, kernels};
pub use operator::{OperatorRow, operators};
pub use reason::Reason;
pub use selection::Selection;
pub use summary::{DeviceRow, IterationRow, KindRow, Summary, TOP, summary};
