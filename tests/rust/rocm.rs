//! Tests databases of `ROCm`.

use kinetoscope::analyze::VerdictState;
use kinetoscope::trace::kind::EventKind;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, WarningKind, read};
use serde_json::json;

use crate::files;
use crate::hostile::exercise;
use crate::nsight::{database, rows};

const ROCPROFV3: &str = "synthetic_rocm/rocprofv3_results.db";
const RPD: &str = "synthetic_rocm/trace.rpd";

fn linked(name: &str) -> LinkedTrace {
    LinkedTrace::new(read([Input::new(&files::bytes(name)).named(name)], Limits::default()).unwrap())
}

fn export(sql: &str) -> Trace {
    read([Input::new(&database(sql))], Limits::default()).unwrap()
}

/// Kinds and names in the order of the file.
fn named(linked: &LinkedTrace) -> Vec<Vec<String>> {
    rows(linked, &["kind", "name"], |_| true)
}

#[test]
fn work_belongs_to_its_calls_in_both_versions_of_the_schema() {
    let linked = linked(ROCPROFV3);
    assert_eq!(linked.trace.warnings.iter().len(), 0, "{:?}", linked.trace.warnings);
    let step = [
        ["annotation", "step 0"],
        ["launch", "hipMemcpyAsync"],
        ["launch", "hipModuleLaunchKernel"],
        ["launch", "hsa_signal_store"],
        ["launch", "hipLaunchKernel"],
        ["launch", "hipMemcpyAsync"],
        ["launch", "hipDeviceSynchronize"],
    ];
    let found = named(&linked);
    for process in 0..2 {
        let calls: Vec<_> = found[process * 11..process * 11 + 7].iter().map(|row| [&*row[0], &*row[1]]).collect();
        assert_eq!(calls, step, "{process}");
    }
    let work = rows(&linked, &["kind", "name", "device", "stream", "launch_id", "grid", "bytes"], |row| row[2] == "0");
    assert_eq!(work.len(), 8);
    for row in &work {
        assert_ne!(row[4], "-", "{row:?}");
    }
    let kernels = rows(&linked, &["name", "grid", "block", "dur_ns"], |row| row[0].starts_with("Cijk"));
    assert_eq!(kernels[0][1..], ["[8,16,1]", "[256,1,1]", "30000"]);
    // 1,000 work-items are four blocks, of which the last is a part.
    let add = rows(&linked, &["name", "grid"], |row| row[0].contains("CUDAFunctor_add"));
    assert_eq!(add[1][1], "[4,1,1]");
}

#[test]
fn streams_of_two_processes_are_two_tracks() {
    let linked = linked(ROCPROFV3);
    let streams = linked.trace.tracks.iter().filter(|track| track.stream.is_some());
    assert_eq!(streams.count(), 4);
    assert_eq!(linked.trace.header_value("deviceProperties").unwrap()[0]["name"], "AMD Instinct MI300X");
    assert_eq!(linked.trace.header_value("rocm_unread").unwrap(), json!({}));
    // The file does not name its counter.
    let values = rows(&linked, &["kind", "args"], |row| row[0] == "kernel");
    assert!(values.iter().all(|row| row[1].contains(r#""counter pmc 1":"#)), "{values:?}");
}

#[test]
fn a_command_line_stays_out_of_the_trace() {
    let linked = linked(ROCPROFV3);
    let text = format!("{:?}", linked.trace.strings.iter().collect::<Vec<_>>());
    assert!(text.contains("\"python\"") && text.contains("\"trainer\""), "{text}");
    assert!(!text.contains("hunter2") && !text.contains("someone"));
}

#[test]
fn rpd_has_calls_work_and_clocks() {
    let linked = linked(RPD);
    assert_eq!(linked.trace.warnings.iter().len(), 0, "{:?}", linked.trace.warnings);
    let found = rows(&linked, &["kind", "name", "launch_id"], |_| true);
    let names: Vec<_> = found.iter().map(|row| [&*row[0], &*row[1], &*row[2]]).collect();
    assert_eq!(names[0], ["annotation", "step 0", "-"]);
    assert_eq!(names[5], ["copy", "Memcpy HtoD (Host -> Device)", "1"]);
    assert_eq!(names[6][0], "kernel");
    assert!(names[7][1].contains("CUDAFunctor_add"), "the name is that of the call's kernel");
    let grids = rows(&linked, &["grid"], |row| row[0] != "-");
    assert_eq!(grids, [["[8,16,1]"], ["[4,1,1]"]]);
    assert_eq!(linked.trace.counters.len(), 3);
    assert_eq!(linked.trace.events.kind.iter().filter(|kind| **kind == EventKind::Kernel).count(), 2);
}

#[test]
fn both_are_complete_recordings() {
    for name in [ROCPROFV3, RPD] {
        let verdict = kinetoscope::analyze::verdict(&linked(name));
        assert_eq!(verdict.state, VerdictState::Complete, "{name}: {:?}", verdict.problems);
    }
}

#[test]
fn rows_without_a_time_are_counted_and_others_are_read() {
    let trace = export(
        "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
        INSERT INTO rocpd_string VALUES (1, 'hipLaunchKernel');
        CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid, tid, start, end, apiName_id, args_id);
        INSERT INTO rocpd_api VALUES (1, 1, 1, 'soon', 2, 1, 1), (2, NULL, 1, 5, NULL, 1, 9), (3, 1, 1, 7, 9, 'x', x'00');
        CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId, queueId, start, end, description_id, opType_id);
        INSERT INTO rocpd_op VALUES (1, NULL, 1, 1, 2, 1, 1), (2, 0, 0, 1, 2, 77, 78);",
    );
    assert_eq!(trace.events.len(), 3);
    // Two rows are left out, and each of the others refers to a text that is not there.
    assert_eq!(trace.warnings.count(WarningKind::InvalidValue), 5);
}

#[test]
fn cut_and_damaged_databases_do_not_panic() {
    for name in [ROCPROFV3, RPD] {
        let bytes = files::bytes(name);
        for end in (16..bytes.len()).step_by(997) {
            let _ = exercise(&bytes[..end]);
        }
        for at in (0..bytes.len()).step_by(211) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xA5;
            let _ = exercise(&damaged);
        }
    }
}
