//! Collectives: one per recorded collective, merged from host, device and Execution Trace.

pub(super) mod call;
mod calls;
mod facts;
mod failed;
mod find;
mod known_ranks;
mod local;
mod member;
mod operator_tensors;
pub(super) mod row;
mod timing;
mod wait;

pub(crate) use call::communicates;
pub use facts::CollectiveFacts;
pub use row::{Collective, CollectiveWait, Collectives, UntimedReason};
pub(crate) use timing::{bus_bytes, gbps};
