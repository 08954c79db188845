//! Tests that compiled kernels lead to their sources, nodes and lines.

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{KernelSourceRow, SourceFile, kernel_file_names, kernel_sources};
use serde_json::{Value, json};

use crate::files;

const NAME: &str = "triton_poi_fused_add_cos_sin_0";

/// Two runs of 900 µs, each launched by an operator of Triton.
fn trace(facts: &Value) -> LinkedTrace {
    let mut events = Vec::new();
    for at in 0..2_i64 {
        let start = at * 5000;
        let mut args = json!({"External id": at + 1});
        args.as_object_mut().unwrap().extend(facts.as_object().unwrap().clone());
        events.push(
            json!({"ph": "X", "cat": "cpu_op", "name": NAME, "pid": 1, "tid": 1, "ts": start, "dur": 80, "args": args}),
        );
        events.push(json!({"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernel", "pid": 1, "tid": 1,
                           "ts": start + 20, "dur": 10, "args": {"correlation": at + 1}}));
        events
            .push(json!({"ph": "X", "cat": "kernel", "name": NAME, "pid": 0, "tid": 7, "ts": start + 100, "dur": 900,
                           "args": {"correlation": at + 1, "device": 0, "stream": 7}}));
    }
    LinkedTrace::new(files::trace(&json!(events).to_string()))
}

fn inductor() -> LinkedTrace {
    let file = "/scratch/torchinductor/ow/cowpm.py";
    trace(&json!({"kernel_file": file, "kernel_hash": "cowpm", "kernel_backend": "triton"}))
}

fn file(name: &str, text: &str) -> SourceFile {
    SourceFile { name: name.to_owned(), text: text.to_owned() }
}

const COMMENTS: &str = r#"
# kernel path: /scratch/torchinductor/ow/cowpm.py
# Topologically Sorted Source Nodes: [sin, cos, add], Original ATen: [aten.sin, aten.cos, aten.add]
# Source node to ATen node mapping:
#   add => add_4
#   cos => cos_1
#   sin => sin_1
# Graph fragment:
#   %sin_1 : [num_users=1] = call_function[target=torch.ops.aten.sin.default](args = (%arg0_1,), kwargs = {})
#   %cos_1 : Tensor "f32[10]" = call_function[target=torch.ops.aten.cos.default](args = (%arg1_1,))
#   %add_4 : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%sin_1, %cos_1))
"#;

const GRAPH: &str = r#"
class GraphModule(torch.nn.Module):
    def forward(self, arg0_1, arg1_1):
         # File: /w/model.py:7 in forward, code: a = torch.sin(x)
        sin: "f32[10]" = torch.ops.aten.sin.default(arg0_1);  arg0_1 = None

         # File: /w/model.py:8 in forward, code: return a + torch.cos(y)
        cos: "f32[10]" = torch.ops.aten.cos.default(arg1_1)
        add: "f32[10]" = torch.ops.aten.add.Tensor(sin, cos)
"#;

fn told(rows: &[KernelSourceRow]) -> Vec<(&str, &str, i64)> {
    let line = |row: &KernelSourceRow| row.python.as_ref().map_or(0, |(_, line, ..)| *line);
    rows.iter().map(|row| (row.node.as_deref().unwrap_or(""), row.target.as_deref().unwrap_or(""), line(row))).collect()
}

const WANTED: [(&str, &str, i64); 3] =
    [("sin_1", "aten.sin.default", 7), ("cos_1", "aten.cos.default", 8), ("add_4", "aten.add.Tensor", 8)];

#[test]
fn a_kernel_leads_to_its_source_its_nodes_and_their_lines() {
    let own = format!("{COMMENTS}\nimport triton\n\n@triton.jit\ndef {NAME}(in_ptr0, out_ptr0):\n    pass\n");
    let inner = "def triton_(in_ptr0):\n    pass\n";
    let output = format!("{COMMENTS}\n{NAME} = async_compile.triton('{NAME}', '''\n{inner}''')\n");
    for (name, text, line) in [("cowpm.py", own, 16), ("run/output_code.py", output, 13)] {
        let rows = kernel_sources(&inductor(), &[file(name, &text), file("fx_graph_readable.py", GRAPH)]);
        assert_eq!(told(&rows), WANTED, "{name}");
        assert!(rows.iter().all(|row| row.source == Some((name.to_owned(), line))), "{rows:?}");
        assert!(rows.iter().all(|row| (row.count, row.device_ns) == (2, 1_800_000) && row.reason.is_empty()));
        let python = rows[0].python.clone().unwrap();
        assert_eq!(python, ("/w/model.py".into(), 7, "forward".into(), "a = torch.sin(x)".into()));
    }
}

#[test]
fn mappings_of_tlparse_lead_to_the_same_lines() {
    let mappings = json!({"cppCodeToPost": {format!("{NAME}:1"): ["sin_1", "cos_1", "add_4"]},
                          "postToPre": {"sin_1": ["sin"], "cos_1": ["cos"], "add_4": ["add"]}, "version": 2});
    let mappings = file("inductor_provenance_tracking_node_mappings.json", &mappings.to_string());
    let rows = kernel_sources(&inductor(), &[mappings, file("fx_graph_readable.py", GRAPH)]);
    assert_eq!(told(&rows), [("sin_1", "", 7), ("cos_1", "", 8), ("add_4", "", 8)]);
    let stack = "  File \"/w/train.py\", line 3, in main\n    model(x)\n  File \"/w/model.py\", line 7, in forward\n    a = torch.sin(x)\n";
    let stacks = json!({format!("{NAME}:2"): [stack, stack]});
    let stacks = file("inductor_generated_kernel_stack_traces.json", &stacks.to_string());
    let rows = kernel_sources(&inductor(), &[stacks]);
    assert_eq!(told(&rows), [("", "", 7)]);
    assert_eq!(rows[0].python.as_ref().unwrap().3, "a = torch.sin(x)");
}

#[test]
fn a_kernel_without_a_source_says_why() {
    let rows = kernel_sources(&inductor(), &[]);
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].reason.as_str(), rows[0].source.clone()), ("no file cowpm.py beside the trace", None));
    assert_eq!(rows[0].kernel_hash.as_deref(), Some("cowpm"));
    let rows = kernel_sources(&trace(&json!({})), &[]);
    assert!(rows[0].reason.starts_with("the trace names no source file"), "{rows:?}");
    assert_eq!(kernel_file_names(&inductor()), ["cowpm.py"]);
    assert_eq!(kernel_file_names(&trace(&json!({"kernel_file": "C:\\a\\..\\b.py"}))), ["b.py"]);
}

#[test]
fn comments_belong_to_the_next_kernel_alone() {
    let code = |name: &str| format!("\n{name} = async_compile.triton('{name}', ''' ''')\n");
    let text = format!("{COMMENTS}{}{}", code("triton_other"), code(NAME));
    let rows = kernel_sources(&trace(&json!({})), &[file("output_code.py", &text)]);
    assert_eq!((rows.len(), rows[0].node.clone(), rows[0].source.is_some()), (1, None, true), "{rows:?}");
    assert_eq!(rows[0].reason, "its source has no comments about nodes");
    for hostile in
        ["{", "{\"a\": 1}", "# File: :x in", "# Graph fragment:\n#   % = call_[target=", "def (\n=\n.run(", "\0"]
    {
        let files = [file("cowpm.py", hostile), file("output_code.py", hostile)];
        assert_eq!(kernel_sources(&inductor(), &files).len(), 1, "{hostile}");
    }
}
