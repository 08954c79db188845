//! The host name that a trace states.

use crate::link::LinkedTrace;
use crate::trace::Trace;
use crate::trace::track::Track;

/// Keys of the header that name the host.
const KEYS: [&str; 3] = ["host_name", "hostname", "host"];

/// The end of a file name of torch's `TensorBoard` handler.
const HANDLER_END: &str = ".pt.trace.json";

/// Digits of a time in milliseconds since 1970, as the oldest handlers write it.
const MIN_TIME_DIGITS: usize = 13;

/// The host of a trace, with the name of its source.
///
/// A reader drops the key by default, because it is private. The file name in `traceName` stays; it
/// counts if its process is one of the trace.
pub(super) fn host(linked: &LinkedTrace) -> Option<(String, &'static str)> {
    let trace = &linked.trace;
    let named = KEYS.iter().find_map(|key| stated(trace, key)).map(|host| (host, "host_name"));
    let of_file = || {
        let path = stated(trace, "traceName")?;
        let (host, process) = host_of_file(&path)?;
        // A name that the user chose may look alike: `worker0_step_12`.
        let is_own = |track: &Track| track.stream.is_none() && trace.strings.text(track.process) == process;
        trace.tracks.iter().any(is_own).then(|| (host.to_owned(), "file_name"))
    };
    named.or_else(of_file).filter(|(host, _)| !host.eq_ignore_ascii_case("localhost"))
}

fn stated(trace: &Trace, key: &str) -> Option<String> {
    let value = trace.header_value(key)?;
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The host and the process in `<host>_<pid>.<time>.pt.trace.json`.
fn host_of_file(path: &str) -> Option<(&str, &str)> {
    let name = path.rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(HANDLER_END)?;
    let (worker, time) = name.rsplit_once('.')?;
    let (host, process) = worker.rsplit_once('_')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_handler = is_number(process) && is_number(time) && time.len() >= MIN_TIME_DIGITS;
    (is_handler && !host.is_empty()).then_some((host, process))
}

#[cfg(test)]
mod tests {
    use super::host_of_file;

    #[test]
    fn only_the_handlers_names_have_a_host() {
        let cases = [
            ("./log/ip-172-31.internal_85866.1698107929560561434.pt.trace.json", Some(("ip-172-31.internal", "85866"))),
            ("C:\\log\\node_7_851.1752215574025.pt.trace.json.gz", Some(("node_7", "851"))),
            ("worker0.1623143089861.pt.trace.json", None),
            ("rank-0.Apr_03_18_51_38.1102.pt.trace.json", None),
            ("_851.1752215574025.pt.trace.json", None),
            ("host_851.1752215574025.json", None),
            (".pt.trace.json", None),
        ];
        for (path, host) in cases {
            assert_eq!(host_of_file(path), host, "{path}");
        }
    }
}
