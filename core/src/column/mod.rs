//! Columns of numbers that take less memory than a number of their type each.

mod chunked;
mod durs;
mod handles;
mod optional;
mod rising;
mod times;

pub use chunked::Chunked;
pub use durs::Durs;
pub use handles::Handles;
pub use optional::OptionalColumn;
pub use rising::Rising;
pub use times::Times;
