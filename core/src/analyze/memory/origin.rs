//! Names what in the program a stack comes from.

use crate::id::StackId;
use crate::link::FrameOrigin;
use crate::memory::MemorySnapshot;
use crate::memory::stack::Frame;

/// The words for memory without a stack.
pub(super) const UNKNOWN: &str = "(origin not recorded)";

/// The origin of a stack: the innermost frame of a program in Python that is no part of torch. For
/// stacks of C++ alone, as of backward passes, the operators of autograd and of `ATen`. Else the
/// innermost frame.
pub(crate) fn site(snapshot: &MemorySnapshot, stack: Option<StackId>) -> String {
    let Some(stack) = stack else { return String::from(UNKNOWN) };
    let text = |id| snapshot.strings.text(id);
    let is_own = |frame: &Frame| is_python(snapshot, frame) && !text(frame.file).replace('\\', "/").contains("/torch/");
    let frames = || snapshot.stacks.frames(stack);
    if let Some(frame) = frames().find(is_own) {
        return place(snapshot, frame);
    }
    let function = |frame: Frame| text(frame.function);
    if !frames().any(|frame| is_python(snapshot, &frame)) {
        let operator = frames().map(function).find_map(aten_operator);
        let node = frames().map(function).find_map(autograd_node);
        match (node, operator) {
            (Some(node), Some(operator)) => return format!("{node}: aten::{operator}"),
            (Some(node), None) => return node.to_owned(),
            (None, Some(operator)) => return format!("aten::{operator}"),
            (None, None) => {}
        }
    }
    frames().next().map_or_else(|| String::from(UNKNOWN), |frame| place(snapshot, frame))
}

/// The line of Python of a stack, as Kineto writes lines: of the frames in Python, the innermost of
/// the program; else of a package, else of a framework.
pub(super) fn line(snapshot: &MemorySnapshot, stack: StackId) -> Option<String> {
    let text = |id| snapshot.strings.text(id);
    let name = |frame: Frame| Some(format!("{}({}): {}", text(frame.file), frame.line?, text(frame.function)));
    let lines = snapshot.stacks.frames(stack).filter(|frame| is_python(snapshot, frame)).filter_map(name);
    // The last of equal ones is taken, so the innermost comes last.
    lines.collect::<Vec<_>>().into_iter().rev().max_by_key(|line| FrameOrigin::of(line))
}

fn is_python(snapshot: &MemorySnapshot, frame: &Frame) -> bool {
    snapshot.strings.text(frame.file).rsplit_once('.').is_some_and(|(_, ending)| ending == "py")
}

fn place(snapshot: &MemorySnapshot, frame: Frame) -> String {
    let text = |id| snapshot.strings.text(id);
    let line = frame.line.map_or_else(String::new, |line| format!(":{line}"));
    format!("{} ({}{line})", text(frame.function), text(frame.file))
}

/// `mm` of `at::_ops::mm::call(…)`.
fn aten_operator(function: &str) -> Option<&str> {
    function.strip_prefix("at::_ops::")?.split("::").next()
}

/// `AddmmBackward0` of `torch::autograd::generated::AddmmBackward0::apply(…)`.
fn autograd_node(function: &str) -> Option<&str> {
    let (node, method) = function.strip_prefix("torch::autograd::generated::")?.split_once("::")?;
    method.starts_with("apply(").then_some(node)
}
