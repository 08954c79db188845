//! Reads bytes into a [`Trace`](crate::trace::Trace): decompresses, recognizes the content, scans,
//! and builds columns.

#[cfg(feature = "archives")]
mod archive;
mod args;
mod builder;
#[cfg(feature = "chakra")]
mod chakra;
mod container;
mod database;
mod decompress;
mod document;
mod element;
mod element_shape;
mod environment;
mod event_text;
mod execution;
mod exported;
mod far_times;
mod files;
mod flight;
mod flight_dump;
mod foreign;
#[cfg(feature = "chakra")]
mod graph;
mod head;
mod input;
mod json_object;
mod json_text;
mod memory;
mod metrics;
#[cfg(feature = "msprof")]
mod msprof;
mod nsight;
mod open;
mod pairing;
mod pairs;
mod perfetto;
mod pftrace;
mod pickle;
mod pipe;
mod recent_map;
mod recording;
mod repair;
mod rocm;
mod secret_text;
mod section;
pub mod snapshot;
mod sqlite;
mod table_export;
mod table_row;
mod text_window;
mod timeline;
mod trace_array;
mod tracks;
mod wire;
#[cfg(feature = "xspace")]
mod xspace;
#[cfg(feature = "archives")]
mod zstd;

#[cfg(feature = "archives")]
pub use archive::{ArchiveMember, ArchiveSource, ReadAt, for_each_member, is_archive};
pub use container::{Container, sniff};
pub use database::read_database;
pub use files::{read, read_file};
pub use flight_dump::{is_flight_dump, rank_of_dump};
pub use head::{FileHead, head, sniff_inside};
pub use input::{Input, InputSource, Limits, ReadProgress};
pub use pairing::{
    FileHint, FileOrigin, FilePair, Pairing, PairingMethod, execution_beside, is_archive_name, is_execution, is_report,
    is_trace, natural, pair_up, rank_of,
};
pub use recording::Recording;
