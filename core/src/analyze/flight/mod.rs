//! Compares dumps of the flight recorder across ranks: ranks that lag, and ranks that differ.

mod call;
mod difference;
mod dump;
mod event;
mod finding;
mod group;
mod job;
mod job_groups;
mod operation;
mod problem;
mod rank_words;
mod shapes;
mod tables;
mod transfer;
mod unknown_calls;

pub use event::flight_events;
pub use job::FlightJob;
pub use tables::flight_job_tables;
