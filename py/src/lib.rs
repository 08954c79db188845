//! Kinetoscope in Python: the extension module `kinetoscope._native`.

#![cfg_attr(alloc_error_hook, feature(alloc_error_hook))]
#![expect(clippy::needless_pass_by_value, reason = "arguments from Python come by value")]

mod analysis;
mod arrow;
mod chart;
mod error;
mod flight;
mod gathered;
mod head;
mod interrupt;
mod job_files;
mod job_groups;
mod memory;
mod name;
mod rank_tables;
mod reading;
mod replay;
mod result;
mod schema;
mod session;
mod source;
mod table;
mod tables;
mod trace;
mod worker;
mod writing;

use pyo3::prelude::*;

/// The extension module: one class a file, and nothing else here.
#[pymodule(gil_used = false)] // the classes are frozen, and safe Rust keeps them from data races
mod _native {
    use kinetoscope::label::Label;
    use pyo3::prelude::*;

    use crate::name::Name;

    #[pymodule_export]
    use crate::analysis::{
        analyses_json, analyze, analyze_job, check, diff, diff_of_jobs, flame_changes, flame_changes_of_jobs, gate,
        typical_trace,
    };
    #[pymodule_export]
    use crate::chart::{Plot, base85, chart};
    #[pymodule_export]
    use crate::error::{TraceError, TraceLimitError, TraceParseError, UnsupportedTraceError};
    #[pymodule_export]
    use crate::flight::{events_of_flight, flight_job};
    #[pymodule_export]
    use crate::gathered::{GatheredJob, packed_facts, report_comparisons};
    #[pymodule_export]
    use crate::head::{head, head_of, pair_up};
    #[pymodule_export]
    use crate::job_files::{write_chrome_of_job, write_perfetto_of_job};
    #[pymodule_export]
    use crate::job_groups::{JobGroups, call_difference, call_fits, infer};
    #[pymodule_export]
    use crate::name::{class_of_kernel, execution_beside, kind_of_category};
    #[pymodule_export]
    use crate::name::{is_archive_name, is_execution, is_report, is_trace, natural, rank_of};
    #[pymodule_export]
    use crate::name::{is_flight_dump, rank_of_dump};
    #[pymodule_export]
    use crate::rank_tables::rank_tables;
    #[pymodule_export]
    use crate::reading::Reading;
    #[pymodule_export]
    use crate::replay::{replay_plan, replayed, replayed_operators};
    #[pymodule_export]
    use crate::schema::schema_json;
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::source::{ArchiveMember, archive_members, is_an_archive, read_files};
    #[pymodule_export]
    use crate::table::{Table, stacked};
    #[pymodule_export]
    use crate::tables::Tables;
    #[pymodule_export]
    use crate::trace::{Trace, clean_iteration, redacted};
    #[pymodule_export]
    use crate::worker::{answer_of_packed, answer_of_replies, communications, packed_answer, plan, respond};

    /// The format of a file by its first bytes.
    #[pyfunction]
    fn sniff(head: &[u8]) -> &'static str {
        kinetoscope::sniff(head).words()
    }

    /// A name shortened to a number of characters: all of it, its label, or its distinctive part.
    #[pyfunction]
    fn fitting(name: Name, width: usize) -> String {
        Label::fitting(&name.0, |text| text.chars().count() <= width).into_owned()
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::memory::unwind_failed_allocations();
        module.add("__version__", kinetoscope::VERSION)
    }
}
