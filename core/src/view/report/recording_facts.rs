//! Facts about how and where a trace was recorded, in words.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::words::{count, date};
use crate::sort;
use crate::trace::Trace;
use crate::vendor::{VENDORS, VersionFormat};

/// Profiler options: the file's key, and the option's name.
const OPTIONS: [&str; 5] = ["record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules"];
const RANK: &str = "rank";

/// How and where a trace was recorded, in words.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RecordingFacts {
    pub(super) devices: String,
    pub(super) torch: String,
    pub(super) date: String,
    pub(super) rank: Option<i64>,
    pub(super) num_ranks: Option<i64>,
    /// Further facts, with their names.
    others: Vec<(String, String)>,
}

impl RecordingFacts {
    pub(super) fn of(trace: &Trace, start_ns: i64) -> Self {
        Self {
            devices: devices(trace),
            torch: torch(trace).unwrap_or_default(),
            date: date(start_ns).unwrap_or_default(),
            rank: trace.rank(),
            num_ranks: trace.num_ranks(),
            others: others(trace),
        }
    }

    /// All facts with their names. The first trace of a job stands for all, without its rank.
    pub(super) fn all(&self, is_job: bool) -> Vec<(&str, &str)> {
        let own = [("devices", &self.devices), ("recorded", &self.date), ("PyTorch", &self.torch)];
        let own = own.into_iter().map(|(name, value)| (name, value.as_str()));
        let others = self.others.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        own.chain(others).filter(|(name, _)| !(is_job && *name == RANK)).collect()
    }
}

fn others(trace: &Trace) -> Vec<(String, String)> {
    let mut facts = vec![(RANK, trace.rank().map(|rank| rank.to_string()).unwrap_or_default())];
    if let Some(info) = trace.header_value("distributedInfo") {
        facts.push(("world size", words(&info["world_size"])));
        facts.push((
            "communication",
            [words(&info["backend"]), words(&info["nccl_version"])].join(" ").trim().to_owned(),
        ));
    }
    facts.push(("options", options(trace)));
    for (key, format, name) in VENDORS.iter().flat_map(|vendor| vendor.versions) {
        let value = trace.header_value(key);
        let value = match format {
            VersionFormat::Thousands => value.as_ref().map(version),
            VersionFormat::Text => value.as_ref().map(words),
        };
        facts.push((name, value.unwrap_or_default()));
    }
    if let Some(origin) = trace.header_value("kinetoscope") {
        facts.push(("command", words(&origin["command"])));
        facts.push(("host", words(&origin["host"])));
    }
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Device names with their number.
fn devices(trace: &Trace) -> String {
    let mut names = trace.device_names();
    names.retain(|name| !name.is_empty());
    sort::ascending(&mut names);
    let same = names.chunk_by(|a, b| a == b);
    let words = |same: &[String]| match same {
        [name] => name.clone(),
        [name, ..] => format!("{} × {name}", same.len()),
        [] => String::new(),
    };
    same.map(words).collect::<Vec<_>>().join(", ")
}

fn torch(trace: &Trace) -> Option<String> {
    let own = trace.header_value("kinetoscope").and_then(|origin| origin["torch"].as_str().map(str::to_owned));
    own.or_else(|| trace.header_value("torch_version").as_ref().map(words)).filter(|version| !version.is_empty())
}

/// The profiler options that were on.
fn options(trace: &Trace) -> String {
    let is_on = |name: &&str| {
        trace.header_value(name).is_some_and(|value| !matches!(words(&value).as_str(), "0" | "" | "false"))
    };
    OPTIONS.into_iter().filter(is_on).map(|name| format!("{name}=True")).collect::<Vec<_>>().join(", ")
}

fn version(value: &Value) -> String {
    match value.as_i64() {
        Some(number) if number >= 1_000 => format!("{}.{}", number / 1_000, number % 1_000 / 10),
        _ => words(value),
    }
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => {
            number.as_i64().filter(|number| *number < 10_000).map_or_else(|| number.to_string(), count)
        }
        Value::Bool(flag) => flag.to_string(),
        _ => String::new(),
    }
}
