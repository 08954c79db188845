//! Reads the kind, rank and origin of a file from its name.
//!
//! Names are compared as bytes, which compiles to less code than text. Case is ignored only for
//! ASCII letters.

use crate::vendor::DATABASE_NAMES;

/// Traces in JSON, databases, traces of Perfetto, and profiles of XLA.
const PLAIN: &[&str] = &[
    ".json",
    ".sqlite",
    ".rpd",
    "_results.db",
    ".pftrace",
    ".perfetto-trace",
    #[cfg(feature = "xspace")]
    XSPACE,
];
/// A profile of XLA in protobuf, and the Chrome trace beside it, which may lack events.
#[cfg(feature = "xspace")]
const XSPACE: &str = ".xplane.pb";
#[cfg(feature = "xspace")]
const BESIDE_XSPACE: &str = ".trace.json";
const PACKED: [&str; 3] = [".gz", ".xz", ".zst"];
/// The JSON trace beside a database of msprof.
#[cfg(feature = "msprof")]
pub(super) const BESIDE_MSPROF: &[u8] = b"trace_view.json";
const REPORTS: [&str; 2] = [".nsys-rep", ".qdrep"];
const SNAPSHOT: &str = ".kscope";

/// Words that state the kind of a file. Without them, both files of a recording have the same name.
const WORDS: [&str; 8] = ["kineto", "trace", "torch", "pytorch", "execution", "et", "eg", "pt"];

/// Text before a rank in names that begin with it.
const RANKED: [&str; 4] = ["kineto_trace_", "torch_et_", "nsys_", DATABASE_NAMES[0]];
const RANK: &[u8] = b"rank";

/// Whether the name is that of a trace: JSON, a database, a Perfetto trace or a profile of XLA,
/// plain or compressed, a snapshot, or a report of nsys.
pub fn is_trace(name: &str) -> bool {
    of_trace(name.as_bytes()).is_some()
}

/// Whether the name is that of an archive.
pub fn is_archive_name(name: &str) -> bool {
    of_archive(name.as_bytes()).is_some()
}

/// Whether the name is that of a report of Nsight Systems.
pub fn is_report(name: &str) -> bool {
    without(name.as_bytes(), &REPORTS).is_some()
}

/// Whether the name is that of an Execution Trace: `torch_et_0.json.gz`, `rank-3.et.json`,
/// `linear_et.json`.
pub fn is_execution(name: &str) -> bool {
    let has =
        |wanted: &str| words(stem(last(name.as_bytes()))).any(|word| word.eq_ignore_ascii_case(wanted.as_bytes()));
    has("et") || has("eg") || (has("execution") && has("trace"))
}

/// The rank in `kineto_trace_<rank>`, `torch_et_<rank>`, `nsys_<rank>`, `rank-<rank>`,
/// `rank_<rank>`; no other number is one.
pub fn rank_of(name: &str) -> Option<i64> {
    let lower = last(name.as_bytes()).to_ascii_lowercase();
    let first = RANKED.iter().find_map(|before| first_number(lower.strip_prefix(before.as_bytes())?));
    first.or_else(|| (0..lower.len()).find_map(|at| rank_at(&lower, at)))
}

/// The number behind the word `rank`, where that stands.
fn rank_at(lower: &[u8], at: usize) -> Option<i64> {
    let behind = lower[at..].strip_prefix(RANK)?;
    let is_word = at == 0 || !lower[at - 1].is_ascii_lowercase();
    let number = behind.strip_prefix(b"-").or_else(|| behind.strip_prefix(b"_")).unwrap_or(behind);
    first_number(number).filter(|_| is_word)
}

/// The Execution Trace that was recorded with a Kineto trace, by its place among the names in the
/// folder.
///
/// An archive of Kineto traces has one of Execution Traces beside it. A compressed file comes
/// before a plain one.
pub fn execution_beside(kineto: &str, names: &[&str]) -> Option<usize> {
    let is_alike = [is_trace, is_archive_name].into_iter().find(|is_sort| is_sort(kineto))?;
    if is_execution(kineto) {
        return None;
    }
    let key = bare(kineto);
    let beside = names.iter().enumerate().filter(|(_, name)| is_alike(name) && is_execution(name) && bare(name) == key);
    beside.min_by_key(|(_, name)| (name.as_bytes().ends_with(b".json"), **name)).map(|(at, _)| at)
}

/// The common part of the names of both files of a recording.
pub(super) fn bare(name: &str) -> Vec<u8> {
    let lower = last(name.as_bytes()).to_ascii_lowercase();
    joined(words(stem(&lower)).filter(|word| !WORDS.iter().any(|known| known.as_bytes() == *word)))
}

/// The folder that a file is in, the same however it is written.
pub(super) fn folder(name: &str) -> Vec<u8> {
    let folder = &name.as_bytes()[..name.len() - last(name.as_bytes()).len()];
    joined(folder.split(|byte| *byte == b'/').filter(|step| !step.is_empty() && *step != b"."))
}

/// The name without its folder.
pub(super) fn last(name: &[u8]) -> &[u8] {
    let start = name.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    &name[start..]
}

/// The name without its archive suffix.
pub(super) fn stem(name: &[u8]) -> &[u8] {
    let name = of_trace(name).unwrap_or(name);
    of_archive(name).unwrap_or(name)
}

/// The name without its compression suffix; `None` without one.
pub(super) fn unpacked(name: &[u8]) -> Option<&[u8]> {
    without(name, &PACKED)
}

/// The name of a profile of XLA without its ending.
#[cfg(feature = "xspace")]
pub(super) fn of_xspace(name: &[u8]) -> Option<&[u8]> {
    without(unpacked(name).unwrap_or(name), &[XSPACE])
}

/// The same of the Chrome trace beside it.
#[cfg(feature = "xspace")]
pub(super) fn beside_xspace(name: &[u8]) -> Option<&[u8]> {
    without(unpacked(name).unwrap_or(name), &[BESIDE_XSPACE])
}

pub(super) fn is_snapshot(name: &[u8]) -> bool {
    name.ends_with(SNAPSHOT.as_bytes())
}

/// The words of a name.
pub(super) fn words(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    name.split(|byte| matches!(byte, b'.' | b'_' | b'-' | b'/')).filter(|word| !word.is_empty())
}

/// The value of digits; `None` for other texts, and for too many.
pub(super) fn number(digits: &[u8]) -> Option<i64> {
    let more = |worth: i64, digit: &u8| worth.checked_mul(10)?.checked_add(i64::from(digit - b'0'));
    let are_digits = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    digits.iter().filter(|_| are_digits).try_fold(0, more).filter(|_| are_digits)
}

/// The number that a text begins with.
fn first_number(text: &[u8]) -> Option<i64> {
    number(&text[..text.iter().take_while(|byte| byte.is_ascii_digit()).count()])
}

fn joined<'a>(words: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut joined = Vec::new();
    for word in words {
        joined.extend_from_slice(word);
        joined.push(b'/');
    }
    joined
}

/// The name of a database of msprof without its ending.
#[cfg(feature = "msprof")]
pub(super) fn of_msprof(name: &[u8]) -> Option<&[u8]> {
    let before = without(unpacked(name).unwrap_or(name), &[".db"])?;
    DATABASE_NAMES.iter().any(|start| last(before).starts_with(start.as_bytes())).then_some(before)
}

fn of_trace(name: &[u8]) -> Option<&[u8]> {
    #[cfg(feature = "msprof")]
    if let Some(before) = of_msprof(name) {
        return Some(before);
    }
    let plain = without(unpacked(name).unwrap_or(name), PLAIN);
    plain.or_else(|| without(name, &[SNAPSHOT])).or_else(|| without(name, &REPORTS))
}

fn of_archive(name: &[u8]) -> Option<&[u8]> {
    let plain = without(unpacked(name).unwrap_or(name), &[".tar"]);
    let name = plain.or_else(|| without(name, &[".tgz", ".txz", ".zip"]))?;
    Some(without(name, &[".json"]).unwrap_or(name))
}

/// The name without its ending, when that is one of these, in letters of any size.
fn without<'a>(name: &'a [u8], endings: &[&str]) -> Option<&'a [u8]> {
    endings.iter().find_map(|ending| {
        let (before, last) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
        last.eq_ignore_ascii_case(ending.as_bytes()).then_some(before)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_traces() {
        assert!(
            ["a.json", "a.JSON.gz", "a.json.zst", "a.kscope", "a.nsys-rep", "a.rpd.gz", "1_results.db", "a.pftrace.gz"]
                .into_iter()
                .all(is_trace)
        );
        assert!(!["a.gz", "a.json.tar.gz", "a.jsonl", "json", "a.txt", "a.db", "é"].into_iter().any(is_trace));
        assert!(["a.tar", "a.json.tgz", "a.TAR.zst", "a.zip"].into_iter().all(is_archive_name));
    }

    #[cfg(all(feature = "msprof", feature = "xspace"))]
    #[test]
    fn databases_of_msprof_and_profiles_of_xla_are_traces() {
        let told = ["run/msprof_20260101.db", "ascend_pytorch_profiler.db", "ascend_pytorch_profiler_1.db.gz"];
        assert!(told.into_iter().chain(["vm.xplane.pb", "vm.xplane.pb.gz"]).all(is_trace));
        assert!(!["analysis.db", "x_msprof_1.db", "msprof_1.json.db2", "a.pb"].into_iter().any(is_trace));
        assert_eq!(["ascend_pytorch_profiler_12.db", "msprof_12.db"].map(rank_of), [Some(12), None]);
    }

    #[test]
    fn a_rank_is_a_number_that_is_said_to_be_one() {
        let told = [
            ("kineto_trace_7.json.gz", Some(7)),
            ("torch_et_7.2.json", Some(7)),
            ("run/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", Some(34)),
            ("Rank3.et.json", Some(3)),
            ("nccl_rank_11.json", Some(11)),
            ("crank3_rank4.json", Some(4)),
            ("host_4711.1752215573993169006.pt.trace.json", None),
            ("crank3.json", None),
            ("rank--3.json", None),
            ("rank99999999999999999999.json", None),
            ("rank-1/trace.json", None),
            ("worker0.pt.trace.json", None),
        ];
        assert_eq!(told.map(|(name, _)| rank_of(name)), told.map(|(_, rank)| rank));
    }

    #[test]
    fn the_two_files_of_a_recording_are_called_alike() {
        let told = [
            ("kineto_trace_12.3.json", "torch_et_12.3.json.gz"),
            ("rank_3.json.xz", "rank_3_et.json.zst"),
            ("benchmark_simple_add_trace.json.gz", "benchmark_simple_add_et.json.gz"),
            ("dlrm_kineto.json", "dlrm_eg.json"),
            ("worker0.pt.trace.json", "worker0.et.json"),
            ("kineto_trace_0.json", "execution_trace_0.json"),
        ];
        for (kineto, execution) in told {
            assert_eq!(bare(kineto), bare(execution));
            assert_eq!((is_execution(kineto), is_execution(execution)), (false, true), "{execution}");
            assert_eq!(execution_beside(kineto, &["other_et.json", kineto, execution]), Some(2));
        }
    }
}
