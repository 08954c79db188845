//! Tests which line of Python an event belongs to.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{SHORT_NS, Selection, kernels};
use kinetoscope::link::FrameOrigin;

use crate::scene::scene;

/// A kernel that an operator launched inside of these frames, the outermost first.
fn inside(frames: &[&str]) -> Arc<LinkedTrace> {
    let mut scene = scene();
    for (depth, frame) in (0..).zip(frames) {
        scene.host("python_function", frame, depth, 1_000 - 2 * depth);
    }
    scene.operator("aten::linear", 100, 100).kernel("gemm", 110, 300, 50).linked()
}

/// The line of the kernel, and its origin.
fn line(frames: &[&str]) -> Option<(String, FrameOrigin)> {
    let linked = inside(frames);
    let kernel = (0..linked.trace.events.len()).find(|row| linked.trace.event_name(*row) == "gemm").unwrap();
    let line = linked.frames().line.get(kernel)?;
    let name = linked.trace.event_name(line as usize);
    Some((name.to_owned(), FrameOrigin::of(name).unwrap()))
}

#[test]
fn a_kernel_belongs_to_the_innermost_line_of_the_program() {
    let frames = [
        "/w/serve.py(10): <module>",
        "/w/omni/stage.py(77): run_stage",
        "nn.Module: VocoderBlock_0",
        "/w/omni/vocoder.py(140): forward",
        "nn.Module: Linear_3",
        "torch/nn/modules/linear.py(130): forward",
        "<built-in function linear>",
    ];
    assert_eq!(line(&frames), Some((String::from("/w/omni/vocoder.py(140): forward"), FrameOrigin::Program)));
    let linked = inside(&frames);
    let rows = kernels(&Selection::all(&linked), SHORT_NS);
    let origin = &rows[0].origin;
    assert_eq!(
        (origin.operator.as_str(), origin.python_line.as_str(), origin.num_python_lines),
        ("aten::linear", "/w/omni/vocoder.py(140): forward", Some(1))
    );
    // The whole stack stays.
    let innermost = linked.frames().frame.get(frames.len()).unwrap();
    assert_eq!(linked.trace.event_name(innermost as usize), "<built-in function linear>");
}

#[test]
fn programs_of_all_kinds_have_a_line() {
    let library = "torch/nn/functional.py(9): linear";
    for own in [
        "/scratch/ipykernel_4711/812345.py(3): <module>",
        "<ipython-input-3-0123abcd>(5): forward",
        r"D:\w\work\train.py(7): step",
        "/w/src/mylib/mylib/layers.py(3): forward",
        "/opt/train.pyz/train/__main__.py(12): main",
        "train.py(7): <module>",
    ] {
        let frames = ["/opt/conda/lib/python3.11/runpy.py(196): _run_code", own, "contextlib.py(79): inner", library];
        assert_eq!(line(&frames), Some((own.to_owned(), FrameOrigin::Program)));
    }
}

#[test]
fn a_stack_of_libraries_has_the_line_of_a_package() {
    let package = "/opt/conda/lib/python3.11/site-packages/vllm/models/llama.py(40): forward";
    let frames = ["threading.py(1002): _bootstrap", package, "torch/nn/modules/linear.py(130): forward"];
    assert_eq!(line(&frames), Some((package.to_owned(), FrameOrigin::Package)));
    let frames = ["threading.py(1002): _bootstrap", r"C:\a\Lib\site-packages\torch\nn\functional.py(3): linear"];
    assert_eq!(line(&frames), Some((frames[1].to_owned(), FrameOrigin::Framework)));
    assert_eq!(line(&["nn.Module: Linear_3", "<built-in function linear>"]), None);
    assert_eq!(line(&[]), None);
}

#[test]
fn backward_work_has_the_line_of_its_forward_operator() {
    let mut scene = scene();
    scene.host("python_function", "/w/model.py(5): forward", 0, 90);
    let number = serde_json::json!({"Sequence number": 3, "Fwd thread id": 0});
    scene.with("cpu_op", "aten::mm", (10, 20), &number).kernel("gemm", 15, 40, 20);
    let backward = |name: &str, start: i64, dur: i64, category: &str, args: serde_json::Value| {
        serde_json::json!({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 3, "ts": start, "dur": dur,
            "args": args})
    };
    let number = serde_json::json!({"Sequence number": 3, "Fwd thread id": 2});
    scene.events.push(backward("autograd::engine::evaluate_function: MmBackward0", 100, 50, "cpu_op", number.clone()));
    scene.events.push(backward("MmBackward0", 105, 40, "cpu_op", number));
    scene.events.push(backward("cudaLaunchKernel", 110, 5, "cuda_runtime", serde_json::json!({"correlation": 77})));
    let kernel = serde_json::json!({"ph": "X", "cat": "kernel", "name": "gemm_bwd", "pid": 0, "tid": 7, "ts": 160,
        "dur": 20, "args": {"correlation": 77, "device": 0, "stream": 7}});
    scene.events.push(kernel);
    let linked = scene.linked();
    let rows = kernels(&Selection::all(&linked), SHORT_NS);
    let lines: Vec<_> = rows.iter().map(|row| row.origin.python_line.as_str()).collect();
    assert_eq!(lines, ["/w/model.py(5): forward"; 2]);
}
