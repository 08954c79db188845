//! Writes the section on the recording: tools, devices and dates.

use maud::html;
use serde_json::Value;

use super::section::SectionOutcome;
use super::source::ReportSource;
use super::words::{count, date, plural};
use crate::trace::Trace;
use crate::vendor::{VENDORS, VersionFormat};
use crate::view::svg::clipped;

/// Profiler options: the file's key, and the option's name.
const OPTIONS: [&str; 5] = ["record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules"];
/// The most characters of a value.
const LONGEST: usize = 300;

pub(super) fn section(source: &ReportSource<'_>, facts_of_host: &[(String, String)]) -> SectionOutcome {
    let mut facts: Vec<(String, String)> = facts_of_host.to_vec();
    if let Some(trace) = source.first() {
        facts.extend(of_trace(source, trace));
    }
    SectionOutcome::half(html! {
        table class="ks-recorded" {
            tbody {
                @for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
                    tr { th scope="row" { (name) } td { (clipped(value, LONGEST)) } }
                }
            }
        }
    })
}

/// The recording in one line: devices, versions, date.
pub(super) fn line(source: &ReportSource<'_>) -> Vec<String> {
    let Some(trace) = source.first() else { return Vec::new() };
    let ranks = if source.is_job() {
        Some(plural(source.len(), "trace"))
    } else {
        trace.rank().map(|rank| format!("rank {rank}"))
    };
    let torch = torch(trace).map(|version| format!("PyTorch {version}"));
    let words = [Some(devices(trace)), torch, ranks, date(source.span().start.0)];
    words.into_iter().flatten().filter(|word| !word.is_empty()).collect()
}

fn of_trace(source: &ReportSource<'_>, trace: &Trace) -> Vec<(String, String)> {
    let mut facts = vec![
        ("devices", devices(trace)),
        ("recorded", date(source.span().start.0).unwrap_or_default()),
        ("PyTorch", torch(trace).unwrap_or_default()),
    ];
    if !source.is_job() {
        facts.push(("rank", trace.rank().map(|rank| rank.to_string()).unwrap_or_default()));
    }
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
    names.sort_unstable();
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
