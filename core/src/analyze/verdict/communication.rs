//! Reports communications without their sizes.

use super::problem::{Problem, VerdictState};
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;

/// The operator that `PyTorch` records around a communication.
const RECORD: &str = "record_param_comms";

const NEEDED: [ArgKey; 5] = [ArgKey::Collective, ArgKey::Dtype, ArgKey::InElems, ArgKey::OutElems, ArgKey::GroupSize];

pub(super) fn problem(trace: &Trace) -> Option<Problem> {
    let name = trace.strings.get(RECORD.as_bytes())?;
    let records: Vec<u32> =
        (0..trace.events.len()).filter(|row| trace.events.name.at(*row) == name).map(|row| row as u32).collect();
    let mut text = String::new();
    let mut has = |row: u32, key: ArgKey| {
        text.clear();
        trace.args.write_text(&trace.strings, trace.events.args(row as usize), key, &mut text)
    };
    let lacking: Vec<u32> = records.iter().copied().filter(|row| !NEEDED.iter().all(|key| has(*row, *key))).collect();
    let message = "communications lack their name, type, sizes or group size: they have no bandwidth";
    let problem = Problem::new("communication_without_metadata", VerdictState::Complete, lacking.len(), message);
    let advice = "record with PyTorch 2.2 or later";
    (!lacking.is_empty()).then(|| problem.of_rows(trace, &lacking).of(records.len()).advised(advice))
}
