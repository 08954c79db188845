//! Tests the Python code around events.

use kinetoscope::link::LinkedTrace;
use kinetoscope::table::{ColumnValues, table};
use kinetoscope::{EventKind, Trace};

use crate::{files, shared};

fn texts(linked: &LinkedTrace, name: &str) -> Vec<Option<String>> {
    let table = table("events").unwrap();
    let column = table.columns.iter().find(|column| column.name == name).unwrap();
    let values = column.values(linked, 0..(table.num_rows)(linked));
    let ColumnValues::Text { bytes, ends, valid } = values else { return Vec::new() };
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(&ends).zip(valid).map(|((start, end), valid)| valid.then(|| bytes[start..*end].to_owned())).collect()
}

#[test]
fn modules_carry_over_to_the_backward_pass_and_to_the_device() {
    let json = r#"{"traceEvents": [
        {"ph":"X","cat":"python_function","name":"train.py(3): step","pid":1,"tid":1,"ts":0,"dur":100},
        {"ph":"X","cat":"python_function","name":"nn.Module: Linear_0","pid":1,"tid":1,"ts":10,"dur":50},
        {"ph":"X","cat":"user_annotation","name":"inner","pid":1,"tid":1,"ts":15,"dur":40},
        {"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":1,"tid":1,"ts":20,"dur":20,
            "args":{"Sequence number":1,"Fwd thread id":0}},
        {"ph":"X","cat":"cuda_runtime","name":"launch","pid":1,"tid":1,"ts":25,"dur":5,"args":{"correlation":4}},
        {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":200,"dur":5,
            "args":{"correlation":4,"stream":7,"device":0}},
        {"ph":"X","cat":"cpu_op","name":"engine","pid":1,"tid":2,"ts":60,"dur":20,
            "args":{"Sequence number":1,"Fwd thread id":1}},
        {"ph":"X","cat":"cpu_op","name":"AddmmBackward0","pid":1,"tid":2,"ts":61,"dur":18,
            "args":{"Sequence number":1,"Fwd thread id":1}},
        {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":62,"dur":9},
        {"ph":"X","cat":"gpu_user_annotation","name":"on device","pid":0,"tid":7,"ts":190,"dur":90,
            "args":{"stream":7,"device":0}},
        {"ph":"X","cat":"kernel","name":"alone","pid":0,"tid":7,"ts":220,"dur":5,"args":{"stream":7,"device":0}}]}"#;
    let linked = LinkedTrace::new(files::trace(json));
    let module = texts(&linked, "module");
    let named: Vec<_> = module.iter().enumerate().filter(|(_, module)| module.is_some()).map(|(row, _)| row).collect();
    assert_eq!(named, [2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(module[8].as_deref(), Some("Linear_0"));
    assert_eq!([0, 1, 3, 5, 8].map(|row| linked.frames().frame.get(row)), [None, Some(0), Some(1), Some(1), None]);
    let annotation = texts(&linked, "annotation");
    assert_eq!([3, 5, 10].map(|row| annotation[row].as_deref()), [Some("inner"), Some("inner"), Some("on device")]);
}

/// The shortest frames around an event, by looking at all of them.
fn frames_around(trace: &Trace, row: usize, frames: &[usize]) -> Vec<u32> {
    let events = &trace.events;
    let is_around = |frame: &&usize| {
        events.track.at(**frame) == events.track.at(row)
            && events.start.at(**frame) <= events.start.at(row)
            && events.end(**frame) >= events.end(row)
    };
    let around: Vec<_> = frames.iter().filter(is_around).map(|frame| (events.dur.at(*frame), *frame as u32)).collect();
    let shortest = around.iter().map(|(dur, _)| *dur).min();
    around.into_iter().filter(|(dur, _)| Some(*dur) == shortest).map(|(_, frame)| frame).collect()
}

#[test]
fn frames_of_real_files_are_the_shortest_around() {
    for name in [
        "AMD-AGI__TraceLens/tests/traces/mi300/Falconsai_nsfw_image_detection__1016002.json.gz",
        "AMD-AGI__TraceLens/tests/traces/h100/Falconsai_nsfw_image_detection__1016002.json.gz",
        "AMD-AGI__TraceLens/tests/traces/perf_model/normalization/normalization_layer_test.json.gz",
    ] {
        let Some(trace) = shared::trace(name) else { continue };
        let linked = LinkedTrace::new(trace);
        let (trace, events) = (&linked.trace, &linked.trace.events);
        let of_kind = |kind: EventKind| (0..events.len()).filter(move |row| events.kind[*row] == kind);
        let frames: Vec<_> = of_kind(EventKind::Python).collect();
        let modules: Vec<_> =
            frames.iter().copied().filter(|row| trace.event_name(*row).starts_with("nn.Module: ")).collect();
        let backward: Vec<_> = linked.forward_backward().iter().map(|pair| pair.backward).collect();
        let (mut num_frames, mut num_modules) = (0, 0);
        for row in of_kind(EventKind::Operator) {
            let around = frames_around(trace, row, &frames);
            let found = linked.frames().frame.get(row);
            assert!(found.map_or(around.is_empty(), |found| around.contains(&found)), "{name}: {row}");
            num_frames += usize::from(found.is_some());
            let around = frames_around(trace, row, &modules);
            let found = linked.frames().module.get(row);
            let is_carried = around.is_empty() || backward.contains(&(row as u32));
            assert!(is_carried || found.is_some_and(|found| around.contains(&found)), "{name}: {row}");
            num_modules += usize::from(!is_carried);
        }
        assert!(num_frames > 500 && num_modules > 100, "{name}: {num_frames} {num_modules}");
        for pair in linked.forward_backward() {
            let module = linked.frames().module.get(pair.forward as usize);
            assert!(module.is_none() || linked.frames().module.get(pair.backward as usize) == module);
        }
    }
}
