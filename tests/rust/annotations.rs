//! Ranges that the user named, and the device work that they caused.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{AnnotationRow, Selection, annotations};

use crate::{files, shared};

/// A training step: `forward` launches on thread 1; `backward` waits on thread 1 for what thread 2 launches.
fn step() -> String {
    let host = |name, category, thread, start, dur, args: &str| {
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":1,"tid":{thread},"ts":{start},"dur":{dur},"args":{{{args}}}}}"#
        )
    };
    let kernel = |id, start, dur| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{start},"dur":{dur},
                "args":{{"correlation":{id},"device":0,"stream":7}}}}"#
        )
    };
    let forward = r#""Sequence number":5,"Fwd thread id":0"#;
    let backward = r#""Sequence number":5,"Fwd thread id":1"#;
    let launch = |thread, start, id| {
        host("cudaLaunchKernel", "cuda_runtime", thread, start, 1, &format!(r#""correlation":{id}"#))
    };
    let events = [
        host("step", "user_annotation", 1, 0, 100, ""),
        host("forward", "user_annotation", 1, 1, 20, ""),
        host("aten::mm", "cpu_op", 1, 2, 10, forward),
        launch(1, 3, 1),
        host("backward", "user_annotation", 1, 30, 40, ""),
        host("MmBackward0", "cpu_op", 2, 35, 10, backward),
        launch(2, 36, 2),
        launch(2, 50, 3),
        host("elsewhere", "user_annotation", 3, 30, 40, ""),
        host("after", "user_annotation", 1, 80, 10, ""),
        kernel(1, 10, 5),
        kernel(2, 60, 7),
        kernel(3, 70, 11),
    ];
    format!(r#"{{"traceEvents":[{}]}}"#, events.join(","))
}

fn rows(linked: LinkedTrace) -> Vec<AnnotationRow> {
    annotations(&Selection::all(&Arc::new(linked)))
}

fn device_ns(rows: &[AnnotationRow], name: &str) -> Option<i64> {
    rows.iter().find(|row| row.name == name && row.side == "host").unwrap().device_total_ns
}

#[test]
fn the_backward_pass_is_that_of_the_annotation_which_waited_for_it() {
    let rows = rows(LinkedTrace::new(files::trace(&step())));
    let of = |name| device_ns(&rows, name);
    assert_eq!((of("forward"), of("backward"), of("after")), (Some(5_000), Some(18_000), Some(0)));
    assert_eq!((of("step"), of("elsewhere")), (Some(23_000), Some(0)));
}

#[test]
fn a_real_backward_pass_has_more_device_time_than_its_forward_pass() {
    let name = "facebookresearch__HolisticTraceAnalysis/tests/data/nccl_parser_config/nccl_data.json.gz";
    let Some(trace) = shared::trace(name) else { return };
    let rows = rows(LinkedTrace::new(trace));
    assert!(device_ns(&rows, "## backward ##") > device_ns(&rows, "## forward ##"));
}
