//! Tests exports of Nsight Systems.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

use kinetoscope::read::read_database;
use kinetoscope::table::{ColumnValues, TABLES, table};
use kinetoscope::view::Session;
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, WarningKind, read};

use crate::files;

const FILE: &str = "synthetic_nsight/nsys_0.sqlite";
const BASE_NS: i64 = 1_760_000_000_000_000_000;

pub(crate) fn fixture() -> LinkedTrace {
    LinkedTrace::new(read_database(opened(), Some("nsys_0.sqlite"), Limits::default(), None).unwrap())
}

pub(crate) fn opened() -> File {
    File::open(files::path("tests/data").join(FILE)).unwrap()
}

/// The trace of an export that these statements make.
pub(crate) fn export(sql: &str) -> Trace {
    read([Input::new(&database(sql)).named("x.sqlite")], Limits::default()).unwrap()
}

/// The database that these statements make.
pub(crate) fn database(sql: &str) -> Vec<u8> {
    let mut connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute_batch(sql).unwrap();
    connection.serialize("main").unwrap().to_vec()
}

/// Rows of the table of events as texts, for some columns.
pub(crate) fn rows(linked: &LinkedTrace, columns: &[&str], is_wanted: impl Fn(&[String]) -> bool) -> Vec<Vec<String>> {
    let events = table("events").unwrap();
    let column = |name: &&str| {
        let column = events.columns.iter().find(|column| column.name == *name).unwrap();
        texts(column.values(linked, 0..linked.trace.events.len()))
    };
    let columns: Vec<Vec<String>> = columns.iter().map(column).collect();
    let row = |at: usize| columns.iter().map(|column| column[at].clone()).collect::<Vec<_>>();
    (0..linked.trace.events.len()).map(row).filter(|row| is_wanted(row)).collect()
}

fn texts(values: ColumnValues) -> Vec<String> {
    let none = || String::from("-");
    match values {
        ColumnValues::Int(values) => {
            values.iter().map(|value| value.map_or_else(none, |value| value.to_string())).collect()
        }
        ColumnValues::UInt(values) => {
            values.iter().map(|value| value.map_or_else(none, |value| value.to_string())).collect()
        }
        ColumnValues::Float(values) => {
            values.iter().map(|value| value.map_or_else(none, |value| value.to_string())).collect()
        }
        ColumnValues::Bool(values) => {
            values.iter().map(|value| value.map_or_else(none, |value| value.to_string())).collect()
        }
        ColumnValues::Text { bytes, ends, valid } => {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let texts = starts.zip(&ends).zip(&valid);
            texts.map(|((start, end), valid)| if *valid { bytes[start..*end].to_owned() } else { none() }).collect()
        }
    }
}

#[test]
fn a_kernel_has_its_name_its_time_to_the_nanosecond_and_its_launch() {
    let linked = fixture();
    let columns = ["name", "start_ns", "dur_ns", "device", "stream", "grid", "block", "registers"];
    let kernels = rows(&linked, &columns, |row| row[0].contains("cutlass"));
    let start = (BASE_NS + 1_011_011).to_string();
    let name = "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(T1::Params)";
    assert_eq!(kernels[0], [name, &start, "20011", "0", "7", "[128,2,1]", "[256,1,1]", "96"]);
    let clusters = rows(&linked, &["cluster", "name"], |row| row[1].contains("cutlass") || row[1].contains("relu"));
    let found: BTreeSet<(&str, bool)> = clusters.iter().map(|row| (&*row[0], row[1].contains("cutlass"))).collect();
    assert_eq!(found, BTreeSet::from([("[2,1,1]", true), ("-", false)]), "{clusters:?}");
    let others = rows(&linked, &["shared_memory_bytes", "correlation_id", "args"], |row| row[2].contains("Kernel2"));
    assert_eq!(others[0][..2], ["33792", "1"]);
    assert!(others[0][2].contains(r#""short name":"Kernel2""#), "{}", others[0][2]);
    assert!(others[0][2].contains(r#""launchType":"Regular""#), "{}", others[0][2]);
}

#[test]
fn launches_are_those_of_the_same_process() {
    let linked = fixture();
    let (trace, events) = (&linked.trace, &linked.trace.events);
    let mut launched: BTreeMap<&str, usize> = BTreeMap::new();
    for row in (0..events.len()).filter(|row| trace.is_on_device(*row)) {
        let Some(launch) = linked.links.launch.get(row) else {
            assert!(trace.event_name(row).contains("cutlass"), "only that was launched before the recording");
            continue;
        };
        let process = trace.strings.text(trace.track(events.track.at(launch as usize)).process);
        *launched.entry(process).or_default() += 1;
        assert!(events.start.at(launch as usize) < events.start.at(row));
        assert_eq!(process == "4343", trace.event_name(row).starts_with("helper"));
    }
    assert_eq!(launched, BTreeMap::from([("4242", 32), ("4343", 3)]));
    assert_eq!(linked.warnings().find(|warning| warning.kind == WarningKind::MissingLaunch).unwrap().count, 1);
}

#[test]
fn a_process_s_device_is_the_gpu_and_its_streams_are_its_own() {
    let linked = fixture();
    let columns = ["process", "thread", "device", "stream", "name"];
    let mut places = rows(&linked, &columns, |row| row[0] == "1");
    places.dedup();
    let places: Vec<_> = places.iter().map(|row| row[1..4].iter().map(String::as_str).collect::<Vec<_>>()).collect();
    assert_eq!(places, [["7", "1", "7"], ["stream 7 of process 4343", "1", "7"]]);
    let overview = Session::new(fixture()).query(br#"{"type": "overview"}"#);
    let overview = String::from_utf8_lossy(&overview);
    for name in
        [r#""stream 7""#, r#""stream 7 of process 4343""#, r#""Device 1 · Synthetic GPU 1""#, r#""helper 4343""#]
    {
        assert!(overview.contains(name), "{name}: {overview}");
    }
    assert_eq!(linked.trace.device_names(), ["Synthetic GPU 0", "Synthetic GPU 1"]);
}

#[test]
fn copies_and_fills_are_named_as_kineto_names_them() {
    let linked = fixture();
    let copies =
        rows(&linked, &["kind", "name", "bytes", "bandwidth_gbps"], |row| row[0] == "copy" || row[0] == "fill");
    let names: Vec<&str> = copies.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(
        names,
        [
            "Memcpy HtoD (Pageable -> Device)",
            "Memcpy DtoH (Device -> Pinned)",
            "Memcpy HtoA (Pinned -> Array)",
            "Memcpy AtoH (Array -> Pinned)",
            "Memcpy AtoA (Array -> Array)",
            "Memcpy AtoD (Array -> Device)",
            "Memcpy DtoA (Device -> Array)",
            "Memcpy DtoD (Device -> Device)",
            "Memcpy HtoH (Pageable -> Pinned)",
            "Memcpy PtoP (Device -> Device)",
            "Memset (Device)",
            "Memset (Managed)",
        ]
    );
    assert_eq!(copies[0][2..], ["1000001", "100.0001"]);
    assert_eq!(copies[10][2..], ["4096", "2.048"]);
}

#[test]
fn calls_are_the_runtime_s_or_the_driver_s_and_have_their_own_names() {
    let linked = fixture();
    let calls = rows(&linked, &["category", "name", "process", "thread"], |row| row[0].starts_with("cuda_"));
    assert_eq!(calls[0], ["cuda_runtime", "cudaLaunchKernel", "4242", "4242"]);
    assert_eq!(calls[1], ["cuda_driver", "cuLaunchKernelEx", "4242", "4242"]);
    assert_eq!(calls[4], ["cuda_runtime", "cudaLaunchKernelExC", "4242", "4250"]);
    let syncs: Vec<_> = calls.iter().filter(|row| row[0] == "cuda_sync").map(|row| row[1].as_str()).collect();
    assert_eq!(syncs, ["Stream Sync", "Stream Sync", "Event Sync", "Stream Wait Event", "Context Sync"]);
}

#[test]
fn ranges_nest_and_own_what_was_launched_in_them() {
    let linked = fixture();
    let (trace, events) = (&linked.trace, &linked.trace.events);
    let path = |row: usize| {
        let parents =
            std::iter::successors(Some(row), |row| linked.links.nesting.parent.get(*row).map(|up| up as usize));
        parents.map(|row| trace.event_name(row)).collect::<Vec<_>>()
    };
    let first = (0..events.len()).find(|row| trace.event_name(*row) == "cudaLaunchKernel").unwrap();
    assert_eq!(path(first), ["cudaLaunchKernel", "layer 0", "forward", "step 0"]);
    let owner = |name: &str| {
        let row = (0..events.len()).find(|row| trace.is_on_device(*row) && trace.event_name(*row).contains(name));
        linked.links.operator.get(row?).map(|owner| trace.event_name(owner as usize))
    };
    assert_eq!(owner("relu"), Some("layer 0"));
    assert_eq!(owner("CUDA Graph 3"), None);
    let forward = (0..events.len()).find(|row| trace.event_name(*row) == "forward").unwrap();
    assert!(linked.device_time().total_ns[forward] > 40_000);
    let backward = (0..events.len()).find(|row| trace.event_name(*row) == "backward, registered").unwrap();
    assert_eq!(linked.device_time().self_ns[backward], 40_003);
}

#[test]
fn ranges_have_their_domain_category_colour_and_payload() {
    let linked = fixture();
    let args = |name: &str| rows(&linked, &["name", "args"], |row| row[0] == name)[0][1].clone();
    assert_eq!(args("forward"), r#"{"domain":"training","category":"phases","payload":0}"#);
    assert_eq!(args("layer 0"), r##"{"color":"#FF00FF00"}"##);
    assert_eq!(args("payload"), r#"{"jsonText":"{\"shape\": [2, 3]}"}"#);
    assert_eq!(args("loading"), r#"{"rangeId":1}"#);
    let across = rows(&linked, &["name", "thread", "args"], |row| row[0] == "across");
    assert_eq!(across[0][1..], ["NVTX 4242", r#"{"end thread":4250,"rangeId":2}"#]);
    let marks: Vec<_> = linked.trace.instants.iter().map(|mark| linked.trace.strings.text(mark.name)).collect();
    assert_eq!(marks, ["loss 0", "loss 1", "", "[memory]", "[memory]"]);
}

#[test]
fn a_range_that_was_never_popped_lasts_to_the_end() {
    let linked = fixture();
    let end = linked.trace.range().end;
    let row = (0..linked.trace.events.len()).find(|row| linked.trace.event_name(*row) == "never popped").unwrap();
    assert_eq!(linked.trace.events.end(row), end);
    let warning = linked.warnings().find(|warning| warning.kind == WarningKind::UnfinishedBegin).unwrap();
    assert_eq!((warning.count, warning.first.byte), (1, None));
}

#[test]
fn the_header_tells_of_the_recording_and_of_what_was_not_read() {
    let trace = fixture().trace;
    let about = trace.header_value("nsight").unwrap();
    assert_eq!(about["META_DATA_EXPORT"][1]["value"], "3.20.2");
    assert_eq!(about["TARGET_INFO_SYSTEM_ENV"][0]["name"], "CpuCores");
    assert_eq!(trace.header_value("nsight_unread").unwrap()["OSRT_API"], 4);
    assert!(!trace.metadata_json().contains("secret"));
    let names = |name: &str| trace.processes.iter().any(|process| trace.strings.text(process.name) == name);
    assert!(names("python3") && names("helper"));
    let named = trace.tracks.iter().map(|track| trace.strings.text(track.name)).filter(|name| !name.is_empty());
    assert_eq!(named.collect::<Vec<_>>(), ["main", "autograd", "main"]);
}

#[test]
fn an_export_in_memory_or_in_a_stream_reads_alike() {
    let bytes = files::bytes(FILE);
    let linked = fixture();
    let expected = all(&linked);
    for input in [Input::new(&bytes), Input::stream(bytes.as_slice()), Input::stream(gzip(&bytes).as_slice())] {
        let trace = read([input.named("nsys_0.sqlite")], Limits::default()).unwrap();
        assert_eq!(all(&LinkedTrace::new(trace)), expected);
    }
    // A database with a log: there is none in memory, so it is read without.
    let mut logged = bytes;
    logged[18..20].fill(2);
    let trace = read([Input::new(&logged).named("nsys_0.sqlite")], Limits::default()).unwrap();
    assert_eq!(all(&LinkedTrace::new(trace)), expected);
}

#[test]
fn what_is_written_as_json_reads_back_equal() {
    let linked = fixture();
    let mut json = Vec::new();
    write_chrome(&linked.trace, &mut json).unwrap();
    let again = LinkedTrace::new(read([Input::new(&json)], Limits::default()).unwrap());
    let expected: Vec<_> = all(&linked).into_iter().filter(|(name, ..)| *name != "health").collect();
    let found: Vec<_> = all(&again).into_iter().filter(|(name, ..)| *name != "health").collect();
    assert_eq!(found, expected);
}

/// All columns of all tables.
fn all(linked: &LinkedTrace) -> Vec<(&'static str, &'static str, ColumnValues)> {
    let columns = |table: &'static kinetoscope::table::Table| {
        let rows = (table.num_rows)(linked);
        table.columns.iter().map(move |column| (table.name, column.name, column.values(linked, 0..rows)))
    };
    TABLES.iter().flat_map(|table| columns(table)).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn an_export_of_2020_is_read_with_what_it_has() {
    // No classes of events, no processes on devices, defaults where there is no value, texts of
    // ranges in place.
    let trace = export(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'kernel(int)'), (3, 'kernel');
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT NOT NULL, end INT NOT NULL, globalTid INT NOT NULL,
            correlationId INT NOT NULL, nameId INT NOT NULL, returnValue INT NOT NULL);
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 3000, 16777217, 5, 1, 0);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL,
            contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT NOT NULL, demangledName INT NOT NULL,
            shortName INT NOT NULL);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (4000, 9000, 0, 1, 7, 5, 2, 3);
        CREATE TABLE NVTX_EVENTS (start INT NOT NULL, end INT NOT NULL, eventType INT NOT NULL, rangeId INT NOT NULL,
            category INT NOT NULL, color INT NOT NULL, text TEXT NOT NULL, globalTid INT NOT NULL,
            endGlobalTid INT NOT NULL, textId INT NOT NULL, domainId INT NOT NULL, uint64Value INT NOT NULL,
            int64Value INT NOT NULL, doubleValue REAL NOT NULL);
        INSERT INTO NVTX_EVENTS VALUES (500, 3500, 59, 0, 0, 0, 'step', 16777217, 0, 0, 0, 0, 0, 0.0),
            (600, 0, 59, 0, 0, 0, 'open', 16777217, 0, 0, 0, 0, 7, 0.0);",
    );
    let linked = LinkedTrace::new(trace);
    let columns = ["kind", "name", "start_ns", "dur_ns", "args"];
    let found = rows(&linked, &columns, |_| true);
    assert_eq!(found[0], ["launch", "cudaLaunchKernel", "1000", "2000", r#"{"api version":"7000"}"#]);
    assert_eq!(found[1][..4], ["kernel", "kernel(int)", "4000", "5000"]);
    assert_eq!(found[2], ["annotation", "step", "500", "3000", r#"{"payload":0}"#]);
    assert_eq!(found[3], ["annotation", "open", "600", "8400", r#"{"payload":7}"#]);
    assert_eq!(linked.links.launch.get(1), Some(0));
}

#[test]
fn what_is_not_known_keeps_its_number_or_its_label() {
    let trace = export(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
        INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (99, 'NEW', 'Moon-to-Device');
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
            copyKind INTEGER, srcKind INTEGER, dstKind INTEGER, novelty TEXT);
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 7, 99, 41, 2, 'kept'), (3, 4, 0, 7, 98, NULL, 2, NULL);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT);
        INSERT INTO NVTX_EVENTS VALUES (1, 5, 1234, 'new range'), (2, NULL, 1234, 'new mark');",
    );
    let linked = LinkedTrace::new(trace);
    let found = rows(&linked, &["name", "args"], |_| true);
    assert_eq!(found[0][0], "Memcpy Moon-to-Device (41 -> Device)");
    assert!(found[0][1].contains(r#""novelty":"kept""#), "{}", found[0][1]);
    assert_eq!(found[1][0], "Memcpy 98 (Unknown -> Device)");
    assert_eq!(found[2], ["new range", r#"{"event type":1234}"#]);
    assert_eq!(linked.trace.instants.len(), 1);
}

#[test]
fn devices_keep_their_numbers_whatever_is_missing() {
    let trace = export(
        "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);
        INSERT INTO TARGET_INFO_GPU VALUES (3, 'three'), (1, NULL), (-1, 'none'), (99999999, 'many'), (0, 'zero');
        CREATE TABLE ENUM_CUPTI_SYNC_TYPE (id INTEGER, label TEXT);
        INSERT INTO ENUM_CUPTI_SYNC_TYPE VALUES (NULL, 'x'), ('y', 'z'), (8, NULL), (9, 'Nine sync');
        CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, syncType INTEGER);
        INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 2, 3, 9), (3, 4, 3, 8);",
    );
    assert_eq!(trace.device_names(), ["zero", "", "", "three"]);
    assert_eq!((trace.event_name(0), trace.event_name(1)), ("Nine sync", "8"));
}

#[test]
fn names_are_found_in_a_copy_without_an_index() {
    let trace = export(
        "CREATE TABLE StringIds (id INTEGER, value TEXT);
        INSERT INTO StringIds VALUES (3, 'three'), (4, 'four');
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, demangledName INTEGER);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 4), (3, 4, 9);",
    );
    assert_eq!((trace.event_name(0), trace.event_name(1)), ("four", "9"));
    assert_eq!(trace.warnings.count(WarningKind::InvalidValue), 1, "there is no text 9");
}

#[test]
fn two_threads_read_what_one_does() {
    let limits = Limits { max_threads: 2, ..Limits::default() };
    let two = LinkedTrace::new(read_database(opened(), Some("nsys_0.sqlite"), limits, None).unwrap());
    assert_eq!(all(&two), all(&fixture()));
}
