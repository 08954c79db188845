//! Sizes of a collective as PARAM reads them: elements of all tensors, and splits in elements.

use super::call::ReplayCall;
use crate::link::Collective;
use crate::trace::collective::CollectivePattern;

/// Sizes of a message, all known.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ParamMessage {
    pub(super) in_elems: i64,
    pub(super) out_elems: i64,
    pub(super) dtype: String,
    /// Elements for each rank of the group, or of each tensor of a list; `None` where PARAM reads
    /// none.
    pub(super) splits: Option<[Vec<i64>; 2]>,
}

/// Why a call has no message that PARAM could replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoMessage {
    /// A size, the type or the splits are not recorded.
    Unrecorded,
    /// The sizes contradict each other: the call raised an error.
    Impossible,
}

/// A call with the facts around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ParamSource<'a> {
    pub(super) row: &'a Collective,
    pub(super) call: &'a ReplayCall,
    pub(super) pattern: CollectivePattern,
    pub(super) num_ranks: Option<i64>,
    /// The rank of the trace.
    pub(super) own: Option<i64>,
}

/// More parts of an even exchange are not listed.
const MAX_PARTS: i64 = 1 << 16;

impl ParamSource<'_> {
    pub(super) fn message(&self, name: &str) -> Result<ParamMessage, NoMessage> {
        let (message, facts) = (&self.call.message, &self.row.facts);
        let dtype = message.dtype.clone().or_else(|| facts.dtype.clone()).ok_or(NoMessage::Unrecorded)?;
        let sum = |elems: &[i64]| {
            (!elems.is_empty()).then(|| elems.iter().fold(0, |sum: i64, elems| sum.saturating_add(*elems)))
        };
        let recorded = [sum(&message.in_elems).or(facts.in_elems), sum(&message.out_elems).or(facts.out_elems)];
        let [in_elems, out_elems] = self.completed(recorded);
        let (in_elems, out_elems) = in_elems.zip(out_elems).ok_or(NoMessage::Unrecorded)?;
        let splits = match name {
            "all_to_allv" => Some(self.exchange_splits([in_elems, out_elems])?),
            name if name == "all_to_all" || name.ends_with("coalesced") => {
                Some([message.in_elems.clone(), message.out_elems.clone()])
            }
            _ => None,
        };
        let is_impossible = match (name, self.num_ranks) {
            ("all_gather_base" | "allgather_into_tensor_coalesced", Some(num)) => {
                in_elems.checked_mul(num) != Some(out_elems)
            }
            ("reduce_scatter_base" | "reduce_scatter_tensor_coalesced", Some(num)) => {
                out_elems.checked_mul(num) != Some(in_elems)
            }
            _ => false,
        };
        if is_impossible {
            return Err(NoMessage::Impossible);
        }
        Ok(ParamMessage { in_elems, out_elems, dtype, splits })
    }

    /// Sizes with the missing one from the other, where the pattern determines it.
    fn completed(&self, [given, taken]: [Option<i64>; 2]) -> [Option<i64>; 2] {
        use CollectivePattern::{AllGather, AllToAll, Gather, ReduceScatter, Scatter};
        let is_other = self.row.root_rank.zip(self.own).is_some_and(|(root, own)| root != own);
        let times = |elems: Option<i64>| elems?.checked_mul(self.num_ranks?);
        let part = |elems: Option<i64>| Some(elems? / self.num_ranks.filter(|num| *num > 0)?);
        match self.pattern {
            Gather if is_other => [given, taken.or(Some(0))],
            Scatter if is_other => [given.or(Some(0)), taken],
            AllGather | Gather => [given.or_else(|| part(taken)), taken.or_else(|| times(given))],
            ReduceScatter | Scatter => [given.or_else(|| times(taken)), taken.or_else(|| part(given))],
            AllToAll if self.is_uneven() => {
                let [rows_in, rows_out] =
                    [&self.call.message.in_split, &self.call.message.out_split].map(|split| total(split));
                let other = |elems: Option<i64>, from: i64, to: i64| elems?.checked_mul(to)?.checked_div(from);
                [given.or_else(|| other(taken, rows_out, rows_in)), taken.or_else(|| other(given, rows_in, rows_out))]
            }
            _ => [given.or(taken), taken.or(given)],
        }
    }

    fn is_uneven(&self) -> bool {
        !self.call.message.in_split.is_empty() || !self.call.message.out_split.is_empty()
    }

    /// Elements to and from each rank. The files have rows of tensors; PARAM exchanges flat ones.
    fn exchange_splits(&self, elems: [i64; 2]) -> Result<[Vec<i64>; 2], NoMessage> {
        let (message, facts) = (&self.call.message, &self.row.facts);
        let texts = [&facts.in_split, &facts.out_split];
        let lists = [&message.in_split, &message.out_split];
        let mut splits = [Vec::new(), Vec::new()];
        for side in 0..2 {
            let is_cut = texts[side].as_deref().is_some_and(|text| serde_json::from_str::<Vec<i64>>(text).is_err());
            splits[side] = match (lists[side].is_empty(), is_cut) {
                (true, true) => return Err(NoMessage::Unrecorded),
                (true, false) => self.even(elems[side])?,
                (false, _) => in_elements(lists[side], elems[side]).ok_or(NoMessage::Impossible)?,
            };
        }
        Ok(splits)
    }

    fn even(&self, elems: i64) -> Result<Vec<i64>, NoMessage> {
        let num = self.num_ranks.filter(|num| (1..=MAX_PARTS).contains(num)).ok_or(NoMessage::Unrecorded)?;
        if elems % num == 0 { Ok(vec![elems / num; num as usize]) } else { Err(NoMessage::Impossible) }
    }
}

/// Rows of a tensor as elements.
fn in_elements(rows: &[i64], elems: i64) -> Option<Vec<i64>> {
    let num_rows = total(rows);
    if num_rows == 0 {
        return (elems == 0 && rows.iter().all(|rows| *rows == 0)).then(|| rows.to_vec());
    }
    let elems_per_row = (elems % num_rows == 0).then_some(elems / num_rows)?;
    rows.iter().map(|rows| rows.checked_mul(elems_per_row).filter(|elems| *elems >= 0)).collect()
}

fn total(rows: &[i64]) -> i64 {
    rows.iter().fold(0, |sum: i64, rows| sum.saturating_add(*rows))
}
