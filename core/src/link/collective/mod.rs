//! Collectives: one per recorded collective, merged from host, device and Execution Trace.

mod call;
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

pub use facts::CollectiveFacts;
pub(crate) use find::communicates;
pub use row::{Collective, CollectiveWait, Collectives, UntimedReason};
pub(crate) use timing::{bus_bytes, gbps};
