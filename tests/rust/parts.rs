//! Tests parts of a trace: iterations of a phase, annotations and modules by name.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{AnalysisResult, analysis, diff};
use kinetoscope::table::TableRows;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

/// Events of one launch: an operator, its launch and its kernel, with times in µs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work<'a> {
    name: &'a str,
    tid: i64,
    start: i64,
    kernel: (i64, i64),
    /// The number that forward and backward operators share.
    sequence: Option<i64>,
}

const STREAM: i64 = 7;

pub(crate) fn work(name: &str, start: i64, kernel: (i64, i64)) -> Work<'_> {
    Work { name, tid: 1, start, kernel, sequence: None }
}

fn event(cat: &str, name: &str, tid: i64, (ts, dur): (i64, i64)) -> Value {
    json!({"ph": "X", "cat": cat, "name": name, "pid": i32::from(tid != STREAM), "tid": tid, "ts": ts, "dur": dur})
}

pub(crate) fn linked(ranges: &[(&str, &str, i64, i64)], works: &[Work<'_>]) -> Arc<LinkedTrace> {
    let mut events: Vec<Value> = ranges.iter().map(|(cat, name, ts, dur)| event(cat, name, 1, (*ts, *dur))).collect();
    for (id, work) in works.iter().enumerate() {
        let mut operator = event("cpu_op", work.name, work.tid, (work.start, 5));
        if let Some(number) = work.sequence {
            operator["args"] = json!({"Sequence number": number, "Fwd thread id": i32::from(work.tid != 1)});
        }
        let mut launch = event("cuda_runtime", "cudaLaunchKernel", work.tid, (work.start + 1, 2));
        let mut kernel = event("kernel", &format!("{}_kernel", work.name), STREAM, work.kernel);
        launch["args"] = json!({"correlation": id + 1});
        kernel["args"] = json!({"correlation": id + 1, "stream": STREAM, "device": 0});
        events.extend([operator, launch, kernel]);
    }
    Arc::new(LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string())))
}

fn answer(linked: &Arc<LinkedTrace>, name: &str, request: &Value) -> AnalysisResult {
    analysis(name).unwrap().answer(linked, &request.to_string()).unwrap()
}

fn ints(table: &dyn TableRows, column: &str) -> Vec<i64> {
    let place = (0..table.num_columns()).find(|place| table.column_name(*place) == column).unwrap();
    let values = table.values(place, 0..table.num_rows());
    (0..table.num_rows()).map(|row| values.int(row).unwrap()).collect()
}

fn texts(table: &dyn TableRows, column: &str) -> Vec<String> {
    let place = (0..table.num_columns()).find(|place| table.column_name(*place) == column).unwrap();
    let values = table.values(place, 0..table.num_rows());
    (0..table.num_rows()).map(|row| values.text(row).unwrap().to_owned()).collect()
}

fn kernels(linked: &Arc<LinkedTrace>, request: &Value) -> Vec<(String, i64)> {
    let found = answer(linked, "kernels", request);
    let mut rows: Vec<_> =
        texts(&*found.tables[0], "name").into_iter().zip(ints(&*found.tables[0], "total_ns")).collect();
    rows.sort();
    rows
}

fn error(linked: &Arc<LinkedTrace>, request: &Value) -> String {
    analysis("kernels").unwrap().answer(linked, &request.to_string()).err().unwrap().to_string()
}

pub(crate) const DECODE: &str = "execute_context_0(0)_generation_4(4)";
const PREFILL: &str = "execute_context_1(64)_generation_0(0)";

/// Prefill, two decode steps, prefill, decode: 100 µs each.
fn engine() -> Arc<LinkedTrace> {
    let names = [PREFILL, DECODE, DECODE, PREFILL, DECODE];
    let ranges: Vec<_> = (0..).zip(names).map(|(at, name)| ("user_annotation", name, 100 * at, 100)).collect();
    let works = [
        work("aten::mm", 10, (20, 70)),
        work("aten::add", 110, (120, 10)),
        work("aten::add", 210, (220, 20)),
        work("aten::mm", 310, (320, 60)),
        work("aten::add", 410, (420, 30)),
    ];
    linked(&ranges, &works)
}

#[test]
fn a_phase_is_all_of_its_iterations() {
    let engine = engine();
    let of = |phase: &str| json!({"phase": phase});
    assert_eq!(kernels(&engine, &of("decode")), [("aten::add_kernel".to_owned(), 60_000)]);
    assert_eq!(kernels(&engine, &of("prefill")), [("aten::mm_kernel".to_owned(), 130_000)]);
    let breakdown = answer(&engine, "breakdown", &json!({"phase": "decode", "per": "selection"}));
    let of_all = |column: &str| ints(&*breakdown.tables[0], column);
    assert_eq!([of_all("span_ns"), of_all("compute_ns"), of_all("idle_ns")], [[300_000], [60_000], [240_000]]);
    let idle = answer(&engine, "idle", &of("decode"));
    // The gaps of the device end with the phase: from 200 to 220, from 240 to 300, from 400 to 420.
    assert_eq!(ints(&*idle.tables[0], "total_ns").iter().sum::<i64>(), (100 - 90 + 10 + 20 + 70 + 20) * 1_000 + 60_000);
}

#[test]
fn a_result_per_phase_has_the_rows_of_each() {
    let engine = engine();
    let both = answer(&engine, "kernels", &json!({"by": "phase"}));
    assert_eq!(both.tables[0].column_name(0), "phase");
    assert_eq!(texts(&*both.tables[0], "phase"), ["prefill", "decode"]);
    assert_eq!(ints(&*both.tables[0], "total_ns"), [130_000, 60_000]);
    let operators = answer(&engine, "operators", &json!({"by": "phase"}));
    assert!(texts(&*operators.tables[0], "phase").contains(&"decode".to_owned()));
    let changes = diff(&engine, &engine, &json!({"by": "phase"}).to_string()).unwrap();
    assert_eq!(changes.tables[0].column_name(0), "phase");
}

#[test]
fn communication_that_reaches_beyond_a_phase_is_cut_to_it() {
    // It runs from 110 to 430 µs: in both decode steps, the prefill step between and the last step.
    let names = [PREFILL, DECODE, DECODE, PREFILL, DECODE];
    let ranges: Vec<_> = (0..).zip(names).map(|(at, name)| ("user_annotation", name, 100 * at, 100)).collect();
    let reduce = "ncclDevKernel_AllReduce";
    let works = [
        work(reduce, 105, (110, 320)),
        work("aten::mm", 301, (305, 90)),
        work("aten::add", 401, (405, 10)),
        work("aten::mm", 490, (492, 1)),
    ];
    let overlap = answer(&linked(&ranges, &works), "overlap", &json!({"phase": "decode"}));
    for table in &overlap.tables {
        assert_eq!(ints(&**table, "total_ns")[0], (190 + 30) * 1_000, "{}", table.name());
        assert_eq!(ints(&**table, "hidden_ns")[0], 10_000, "{}", table.name());
    }
}

#[test]
fn a_critical_path_of_a_phase_has_no_time_of_another() {
    let engine = engine();
    let length =
        |request: Value| ints(&*answer(&engine, "critical_path", &request).tables[0], "dur_ns").iter().sum::<i64>();
    assert!(length(json!({"phase": "decode"})) <= 300_000);
    assert!(length(json!({"phase": "prefill"})) >= 130_000);
}

#[test]
fn an_annotation_has_the_work_that_was_launched_inside() {
    // Their kernels run long after the annotations.
    let ranges = [("user_annotation", "forward", 0, 50), ("user_annotation", "backward", 50, 50)];
    let works = [
        work("aten::mm", 10, (100, 40)),
        work("aten::add", 60, (150, 20)),
        work("aten::sum", 80, (180, 10)),
        work("aten::copy_", 120, (300, 5)),
    ];
    let trace = linked(&ranges, &works);
    let backward = json!({"annotation": "back*"});
    assert_eq!(
        kernels(&trace, &backward),
        [("aten::add_kernel".to_owned(), 20_000), ("aten::sum_kernel".to_owned(), 10_000)]
    );
    let operators = answer(&trace, "operators", &backward);
    assert_eq!(texts(&*operators.tables[0], "name"), ["aten::add", "aten::sum"]);
    let breakdown = answer(&trace, "breakdown", &json!({"annotation": "backward", "per": "selection"}));
    let of_all = |column: &str| ints(&*breakdown.tables[0], column);
    // On the device from 150 to 190.
    assert_eq!([of_all("span_ns"), of_all("compute_ns"), of_all("idle_ns")], [[40_000], [30_000], [10_000]]);
    assert!(error(&trace, &json!({"annotation": "step"})).contains("forward"));
    assert!(error(&trace, &json!({"annotation": "forward", "module": "Linear_0"})).contains("both"));
}

#[test]
fn work_of_others_is_no_idle_time_of_named_calls() {
    let ranges = [("user_annotation", "outer", 0, 100), ("user_annotation", "inner", 0, 30)];
    let works = [work("aten::mm", 5, (100, 10)), work("aten::add", 40, (110, 30)), work("aten::mm", 20, (140, 10))];
    let breakdown = answer(&linked(&ranges, &works), "breakdown", &json!({"annotation": "inner", "per": "selection"}));
    let of_all = |column: &str| ints(&*breakdown.tables[0], column);
    assert_eq!([of_all("compute_ns"), of_all("exposed_other_ns"), of_all("idle_ns")], [[20_000], [30_000], [0]]);
}

#[test]
fn a_module_has_its_backward_pass_too() {
    let ranges = [
        ("python_function", "nn.Module: Model_0", 0, 60),
        ("python_function", "nn.Module: Linear_0", 5, 15),
        ("python_function", "nn.Module: Linear_1", 30, 20),
    ];
    let forward = |name, start, kernel, sequence| Work { sequence: Some(sequence), ..work(name, start, kernel) };
    let backward = |name, start, kernel, sequence| Work { tid: 2, ..forward(name, start, kernel, sequence) };
    let works = [
        forward("aten::addmm", 10, (12, 10), 1),
        forward("aten::linear", 35, (37, 10), 2),
        backward("autograd::engine::evaluate_function: LinearBackward0", 100, (105, 20), 2),
        backward("autograd::engine::evaluate_function: AddmmBackward0", 140, (145, 30), 1),
    ];
    let trace = linked(&ranges, &works);
    let total = |module: &str| kernels(&trace, &json!({"module": module})).iter().map(|(_, ns)| ns).sum::<i64>();
    assert_eq!(
        [total("Linear_0"), total("Linear_1"), total("Linear_*"), total("Model_0")],
        [40_000, 30_000, 70_000, 70_000]
    );
}

proptest! {
    #[test]
    fn phases_add_up_to_all_iterations(
        steps in prop::collection::vec((any::<bool>(), 0..90_i64, 1..150_i64), 2..12)
    ) {
        let name = |is_decode: &bool| if *is_decode { DECODE } else { PREFILL };
        let ranges: Vec<_> = (0..).zip(&steps).map(|(at, (is_decode, ..))| ("user_annotation", name(is_decode), 100 * at, 100)).collect();
        let works: Vec<_> = (0..).zip(&steps).map(|(at, (_, start, dur))| work("aten::mm", 100 * at + start, (100 * at + start + 3, *dur))).collect();
        let trace = linked(&ranges, &works);
        let whole = json!({"start_ns": 0, "end_ns": 100_000 * steps.len(), "per": "selection"});
        let columns = ["span_ns", "compute_ns", "idle_ns"];
        let sums = |found: &AnalysisResult| columns.map(|column| ints(&*found.tables[0], column).iter().sum::<i64>());
        let of_phases = answer(&trace, "breakdown", &json!({"by": "phase", "per": "selection"}));
        let last = steps.len() as i64 * 100_000;
        prop_assume!(trace.links.iterations.last().is_some_and(|step| step.range().end.0 == last));
        prop_assert_eq!(sums(&of_phases), sums(&answer(&trace, "breakdown", &whole)));
        let per_kernel = |request: &Value| analysis("kernels").unwrap().answer(&trace, &request.to_string()).unwrap();
        let total = |found: &AnalysisResult| ints(&*found.tables[0], "total_ns").iter().sum::<i64>();
        let range = json!({"start_ns": 0, "end_ns": last});
        prop_assert_eq!(total(&per_kernel(&json!({"by": "phase"}))), total(&per_kernel(&range)));
    }
}

#[test]
fn exposed_communication_belongs_to_its_module() {
    let ranges = [("python_function", "nn.Module: Layer_0", 0, 20), ("python_function", "nn.Module: Layer_1", 30, 20)];
    let gather = "ncclDevKernel_AllGather";
    let works = [
        Work { name: gather, ..work(gather, 5, (100, 30)) },
        Work { name: gather, ..work(gather, 35, (140, 30)) },
        work("aten::mm", 60, (110, 40)),
    ];
    let answer = answer(&linked(&ranges, &works), "overlap", &json!({"by": "module"}));
    assert_eq!(ints(&*answer.tables[0], "exposed_ns"), [20_000 + 10_000, 10_000, 20_000]);
    let place = 2;
    assert_eq!(answer.tables[0].column_name(place), "module");
    let modules = answer.tables[0].values(place, 0..3);
    assert_eq!([modules.text(0), modules.text(1), modules.text(2)], [None, Some("Layer_0"), Some("Layer_1")]);
    assert_eq!(texts(&*answer.tables[1], "module"), ["Layer_1", "Layer_0"]);
    assert_eq!(ints(&*answer.tables[1], "exposed_ns"), [20_000, 10_000]);
}
