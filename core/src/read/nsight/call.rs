//! Converts host calls: CUDA runtime, driver, and profiler overhead.

use super::device_streams::write_thread;
use super::export_state::ExportState;
use super::name::write_code;
use super::row::SqlRow;
use super::row_kind::RowKind;
use crate::read::event_text::write_span;

const TAKES: &[&str] = &["start", "end", "globalTid", "nameId", "eventClass"];

pub(super) const RUNTIME: RowKind = RowKind {
    table: "CUPTI_ACTIVITY_KIND_RUNTIME",
    takes: TAKES,
    has_rest: true,
    write: |row, state| call(row, state),
};

pub(super) const DRIVER: RowKind = RowKind { table: "CUPTI_ACTIVITY_KIND_DRIVER", ..RUNTIME };

pub(super) const OVERHEAD: RowKind = RowKind {
    table: "CUPTI_ACTIVITY_KIND_OVERHEAD",
    takes: TAKES,
    has_rest: true,
    write: |row, state| event(row, state, "overhead"),
};

pub(super) const PROFILER: RowKind = RowKind { table: "PROFILER_OVERHEAD", ..OVERHEAD };

/// Codes in `eventClass`.
const RUNTIME_CALL: i64 = 0;
const DRIVER_CALL: i64 = 1;
const EGL_CALL: i64 = 13;
const BACKTRACE: i64 = 67;

fn call(row: &SqlRow<'_>, state: &mut ExportState) {
    let [.., class] = row.taken::<5>();
    match class.integer() {
        // It repeats a call that has a row of its own, for the sake of where it came from.
        Some(BACKTRACE) => state.num_backtraces += 1,
        Some(DRIVER_CALL | EGL_CALL) => event(row, state, "cuda_driver"),
        _ => event(row, state, "cuda_runtime"),
    }
}

fn event(row: &SqlRow<'_>, state: &mut ExportState, category: &str) {
    let [start, end, thread, name, class] = row.taken();
    let name = name.name(&mut state.known.names);
    let (name, version) = without_version(&name);
    state.element(|event, known| {
        write_span(event, start.integer(), end.integer());
        event.text("cat", category.as_bytes());
        event.text("name", name);
        write_thread(event, thread.integer());
        event.object("args", |args| {
            row.write_rest(&mut known.names, args);
            if let Some(class) = class.integer().filter(|class| !matches!(*class, RUNTIME_CALL | DRIVER_CALL)) {
                write_code(args, "event class", "ENUM_NSYS_EVENT_CLASS", (class, &known.names));
            }
            if let Some(version) = version {
                args.text("api version", version);
            }
        });
    });
}

/// A function's name and the version of CUDA that it stands with in the export:
/// `cudaMemcpyAsync_v3020`. A version of the function itself has fewer digits: `cuMemAlloc_v2`.
fn without_version(name: &[u8]) -> (&[u8], Option<&[u8]>) {
    let at = name.iter().rposition(|byte| !byte.is_ascii_digit()).unwrap_or(0);
    match (name.get(..at.saturating_sub(1)), name.get(at.saturating_sub(1)..=at), name.get(at + 1..)) {
        (Some(plain), Some(b"_v"), Some(version)) if version.len() > 3 => (plain, Some(version)),
        _ => (name, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_version_of_cuda_is_cut_off() {
        let cases: [(&str, &str, Option<&str>); 7] = [
            ("cudaLaunchKernel_v7000", "cudaLaunchKernel", Some("7000")),
            ("cudaLaunchKernelExC_ptsz_v11060", "cudaLaunchKernelExC_ptsz", Some("11060")),
            ("cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync_v2", None),
            ("cuLaunchKernel", "cuLaunchKernel", None),
            ("", "", None),
            ("7000", "7000", None),
            ("_v7000", "", Some("7000")),
        ];
        for (name, plain, version) in cases {
            assert_eq!(without_version(name.as_bytes()), (plain.as_bytes(), version.map(str::as_bytes)), "{name}");
        }
    }
}
