//! Process groups: which ranks talk to each other, as either file says it.

use serde_json::Value;

use crate::trace::Trace;
use crate::trace::node::NodeKind;

/// A process group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessGroup {
    /// `kineto` (`distributedInfo`) or `execution` (a `## process_group:init ##` node).
    pub source: &'static str,
    /// `pg_name`.
    pub name: String,
    /// `pg_desc`, where it is said.
    pub desc: String,
    /// `backend_config`, such as `cuda:nccl`.
    pub backend: String,
    /// The ranks as a JSON list; empty for all.
    pub ranks: String,
    /// `group_size` or `pg_size`.
    pub size: Option<i64>,
    /// `group_count`, where it is said.
    pub count: Option<i64>,
}

/// The process groups of a trace: those of the Kineto file, then those of the Execution Trace, each once.
///
/// ```
/// use kinetoscope::{Input, Limits, read, trace::group::process_groups};
/// let json = br#"{"distributedInfo": {"rank": 0, "pg_config": [{"pg_name": "0", "pg_size": 2, "ranks": [0, 1]}]},
///     "traceEvents": []}"#;
/// let groups = process_groups(&read([Input::new(json)], Limits::default())?);
/// assert_eq!((groups[0].size, groups[0].ranks.as_str()), (Some(2), "[0,1]"));
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn process_groups(trace: &Trace) -> Vec<ProcessGroup> {
    let info = trace.header_value("distributedInfo").unwrap_or_default();
    let mut groups = listed("kineto", info.get("pg_config").unwrap_or(&Value::Null));
    for node in &trace.nodes {
        if node.kind(trace.strings.text(node.name)) == NodeKind::ProcessGroup {
            let inputs: Value = serde_json::from_str(trace.strings.text(node.inputs.values)).unwrap_or_default();
            let config = inputs.get(0).and_then(Value::as_str).unwrap_or_default();
            groups.extend(listed("execution", &serde_json::from_str(config).unwrap_or_default()));
        }
    }
    let mut seen: Vec<ProcessGroup> = Vec::with_capacity(groups.len());
    for group in groups {
        if !seen.contains(&group) {
            seen.push(group);
        }
    }
    seen
}

fn listed(source: &'static str, groups: &Value) -> Vec<ProcessGroup> {
    let text = |group: &Value, key: &str| match group.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let group = |group: &Value| ProcessGroup {
        source,
        name: text(group, "pg_name"),
        desc: text(group, "pg_desc"),
        backend: text(group, "backend_config"),
        ranks: text(group, "ranks"),
        size: group.get("group_size").or_else(|| group.get("pg_size")).and_then(Value::as_i64),
        count: group.get("group_count").and_then(Value::as_i64),
    };
    groups.as_array().into_iter().flatten().map(group).collect()
}
