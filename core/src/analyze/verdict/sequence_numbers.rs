//! Reports sequence numbers that several backward operators share.

use std::collections::BTreeMap;

use super::problem::{Problem, VerdictState};
use crate::id::StrId;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;

/// How autograd's engine names the operator around a backward operator.
const ENGINE: &str = "autograd::engine::evaluate_function:";

pub(super) fn problem(trace: &Trace) -> Option<Problem> {
    let is_engine: Vec<bool> = trace.strings.iter().map(|text| text.contains(ENGINE)).collect();
    let mut numbers: BTreeMap<i64, (u32, StrId, bool)> = BTreeMap::new();
    for row in (0..trace.events.len()).filter(|row| is_engine[trace.events.name.at(*row).index()]) {
        let Some(number) = number_of(trace, row).filter(|number| *number > 0) else { continue };
        let name = trace.events.name.at(row);
        let (_, first, is_shared) = numbers.entry(number).or_insert((row as u32, name, false));
        *is_shared |= *first != name;
    }
    let rows: Vec<u32> = numbers.values().filter(|(.., is_shared)| *is_shared).map(|(row, ..)| *row).collect();
    let message = "sequence numbers name several backward operators, as with recomputation: forward and backward may be \
                   paired wrongly";
    let problem = Problem::new("shared_sequence_number", VerdictState::Complete, rows.len(), message);
    (!rows.is_empty()).then(|| problem.of_rows(trace, &rows).of(numbers.len()))
}

/// The sequence number, by either of its names. Devices count other things as `seq_num`, so it is
/// no spelling of the key.
fn number_of(trace: &Trace, row: usize) -> Option<i64> {
    let args = trace.events.args(row);
    trace.args.integer(&trace.strings, args, ArgKey::SeqNum).or_else(|| {
        let mut pairs = trace.args.pairs(&trace.strings, args);
        pairs.find(|(key, _)| *key == "seq_num").and_then(|(_, json)| json.parse().ok())
    })
}
