//! Reads which guard failed before a function was compiled again.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::link::SourceFile;

/// Reasons by the id of the compilation, such as `0/1`.
pub(super) struct RecompileReasons(BTreeMap<String, String>);

/// The name of the record, in logs of `TORCH_TRACE` and in files of tlparse.
const RECORD: &str = "recompile_reasons";

/// How a log names the record.
const LOGGED: &str = "\"name\": \"recompile_reasons\"";

/// So many reasons are told.
const MAX_TOLD: usize = 3;

/// Guards of long expressions are cut.
const MAX_CHARS: usize = 200;

impl RecompileReasons {
    pub(super) fn of(files: &[SourceFile]) -> Self {
        let mut reasons = BTreeMap::new();
        for file in files {
            if SourceFile::base_name(&file.name).starts_with(RECORD) {
                reasons.extend(id_of_folder(&file.name).zip(reason(&file.text)));
            } else {
                reasons.extend(logged(&file.text));
            }
        }
        Self(reasons)
    }

    /// The reasons of these compilations, in words; empty without any.
    pub(super) fn words<'a>(&self, ids: impl Iterator<Item = &'a str>) -> String {
        let mut ids: Vec<&str> = ids.filter(|id| self.0.contains_key(*id)).collect();
        crate::sort::ascending(&mut ids);
        ids.dedup();
        let told = ids.iter().take(MAX_TOLD).map(|id| format!("; {id}: {}", self.0[*id]));
        let rest = ids.len().saturating_sub(MAX_TOLD);
        let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
        told.chain([more]).collect()
    }
}

/// `0/1` for a file of tlparse in the folder `-_0_1_0`: rank, frame, compilation and attempt.
fn id_of_folder(name: &str) -> Option<String> {
    let folder = name.rsplit(['/', '\\']).nth(1)?;
    let parts: Vec<&str> = folder.rsplit('_').take(3).collect();
    let [attempt, compilation, frame] = parts[..] else { return None };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    [attempt, compilation, frame].into_iter().all(is_number).then(|| format!("{frame}/{compilation}"))
}

/// The records of a log: a line of JSON, and lines with a tab that are its payload.
fn logged(log: &str) -> impl Iterator<Item = (String, String)> + '_ {
    log.match_indices(LOGGED).filter_map(|(at, _)| {
        let start = log[..at].rfind('\n').map_or(0, |end| end + 1);
        let (line, payload) = log[start..].split_once('\n')?;
        let record: Value = serde_json::from_str(&line[line.find('{')?..]).ok()?;
        let number = |key: &str| record.get(key)?.as_u64();
        let id = format!("{}/{}", number("frame_id")?, number("frame_compile_id")?);
        let lines: Vec<&str> = payload.lines().map_while(|line| line.strip_prefix('\t')).collect();
        Some((id, reason(&lines.join("\n"))?))
    })
}

/// The guard in `0/0: tensor 'x' size mismatch`, where `0/0` is the compilation whose guard failed.
fn reason(payload: &str) -> Option<String> {
    let listed = serde_json::from_str::<Vec<String>>(payload).ok().and_then(|list| list.into_iter().next());
    let text = listed.as_deref().unwrap_or(payload);
    let line = text.lines().next()?.trim();
    let is_id = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/');
    let guard = line.split_once(':').filter(|(id, _)| is_id(id)).map_or(line, |(_, guard)| guard.trim());
    (!guard.is_empty()).then(|| guard.chars().take(MAX_CHARS).collect())
}
