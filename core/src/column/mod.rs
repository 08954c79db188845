//! Columns of numbers that take less memory than a number of their type each.

mod blocked;
mod chunked;
mod durs;
mod handles;
mod optional;

pub use blocked::{Blockable, Blocked, Rising, Times};
pub use chunked::Chunked;
pub use durs::Durs;
pub use handles::Handles;
pub use optional::OptionalColumn;
