//! One exchange with recorded parts: rows and bytes of each rank.

use super::splits::SplitList;
use crate::analyze::collective::{JobCollective, Participant};
use crate::link::Collective;
use crate::trace::collective::CollectivePattern;

/// An exchange of all ranks that have a trace.
#[derive(Debug)]
pub(super) struct Exchange<'a> {
    pub(super) meeting: JobCollective<'a>,
    /// By part of the meeting.
    pub(super) parts: Vec<ExchangePart>,
    /// The direction, where another exchange tells it.
    pub(super) role: Option<ExchangeRole>,
    /// Its place among the exchanges of its group in the iteration, from 0.
    pub(super) position: i64,
}

/// The direction of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ExchangeRole {
    /// Rows go to the ranks of their experts.
    Dispatch,
    /// Rows come back.
    Combine,
}

/// Rows and bytes that one rank sends and receives.
#[derive(Debug)]
pub(super) struct ExchangePart {
    pub(super) rank: Option<i64>,
    pub(super) member: u32,
    /// The lists of what it sends and receives.
    pub(super) splits: [Option<SplitList>; 2],
    /// The elements that it sends and receives.
    pub(super) elems: [Option<i64>; 2],
    /// The rows that it sends and receives, with those that stay.
    pub(super) rows: [Option<i64>; 2],
    /// The bytes of them.
    pub(super) bytes: [Option<i64>; 2],
}

impl ExchangeRole {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Dispatch => "dispatch",
            Self::Combine => "combine",
        }
    }
}

/// Whether it is an exchange for which a record lists parts.
pub(super) fn has_parts(one: &Collective) -> bool {
    let is_listed = |text: &Option<String>| SplitList::of(text.as_deref()).is_some();
    one.pattern == Some(CollectivePattern::AllToAll)
        && (is_listed(&one.facts.in_split) || is_listed(&one.facts.out_split))
}

impl<'a> Exchange<'a> {
    pub(super) fn of(meeting: JobCollective<'a>) -> Self {
        let mut parts: Vec<_> = meeting.parts.iter().map(ExchangePart::of).collect();
        // Rows of an exchange are equally long on all ranks.
        let width = parts.iter().find_map(ExchangePart::elems_per_row);
        for part in &mut parts {
            part.complete(width);
        }
        Self { meeting, parts, role: None, position: 0 }
    }

    /// Whether a rank sends or receives unequal parts. A cut list with equal numbers may be even:
    /// it is, if all ranks send as much as they receive.
    pub(super) fn is_uneven(&self) -> bool {
        let is_partial =
            |part: &ExchangePart| part.splits.iter().flatten().any(|list| !matches!(list, SplitList::Whole(_)));
        let is_uneven = |part: &ExchangePart| {
            part.splits.iter().flatten().any(SplitList::is_uneven) || is_partial(part) && part.elems[0] != part.elems[1]
        };
        self.parts.iter().any(is_uneven)
    }

    /// Whether it sends back what `other` sent: on each rank, the parts are swapped.
    pub(super) fn is_reverse(&self, other: &Self) -> bool {
        self.parts.len() == other.parts.len()
            && self.parts.iter().zip(&other.parts).all(|(own, other)| own.is_like(other, true))
    }

    /// Whether each rank sends and receives the same rows in both.
    pub(super) fn is_again(&self, other: &Self) -> bool {
        self.parts.len() == other.parts.len()
            && self.parts.iter().zip(&other.parts).all(|(own, other)| own.is_like(other, false))
    }

    /// Why the rows of a rank are not known; `None` where they are.
    pub(super) fn unknown_rows(&self) -> Option<&'static str> {
        let part = self.parts.iter().find(|part| part.rows[1].is_none())?;
        Some(match part.splits[1] {
            Some(SplitList::Cut(_)) => "the recorder cut the list of splits",
            Some(SplitList::Unreadable) => "the list of splits is not readable",
            Some(SplitList::Whole(_)) => "the sum of the splits is too large",
            None => "no list of splits was recorded",
        })
    }
}

impl ExchangePart {
    fn of(part: &Participant<'_>) -> Self {
        let (one, facts) = (part.one, &part.one.facts);
        let splits = [&facts.in_split, &facts.out_split].map(|text| {
            let list = SplitList::of(text.as_deref());
            list.map(|list| list.of_group(facts.group_size))
        });
        let rows = [0, 1].map(|side| splits[side].as_ref().and_then(SplitList::total));
        let elems = [facts.in_elems, facts.out_elems].map(|elems| elems.filter(|elems| *elems >= 0));
        let bytes = [one.in_bytes(), one.out_bytes()].map(|bytes| bytes.filter(|bytes| *bytes >= 0));
        Self { rank: part.rank, member: part.member, splits, elems, rows, bytes }
    }

    /// Elements of a row, from a side with rows and elements.
    fn elems_per_row(&self) -> Option<i64> {
        let of_side = |side: usize| {
            let (rows, elems) = (self.rows[side].filter(|rows| *rows > 0)?, self.elems[side]?);
            Some(elems / rows).filter(|width| *width > 0 && elems % rows == 0)
        };
        of_side(0).or_else(|| of_side(1))
    }

    /// Derives rows from the size of the message, where the list does not tell them.
    fn complete(&mut self, width: Option<i64>) {
        for side in 0..2 {
            let is_unread = matches!(self.splits[side], Some(SplitList::Whole(_)));
            let of_elems = || {
                let (width, elems) = (width?, self.elems[side]?);
                (elems % width == 0 && !is_unread).then_some(elems / width)
            };
            self.rows[side] = self.rows[side].or_else(of_elems);
        }
    }

    /// Whether a rank sends and receives the same in two exchanges, or with both sides swapped.
    fn is_like(&self, other: &Self, is_swapped: bool) -> bool {
        let is_same = |side: usize| {
            let (own, other_side) = (self.splits[side].as_ref(), if is_swapped { 1 - side } else { side });
            match (own, other.splits[other_side].as_ref()) {
                (Some(SplitList::Whole(own)), Some(SplitList::Whole(other))) => own == other,
                // The cut rest may differ, so sizes have to be equal, too.
                (Some(SplitList::Cut(own)), Some(SplitList::Cut(start))) => {
                    own == start && self.elems[side].is_some() && self.elems[side] == other.elems[other_side]
                }
                _ => false,
            }
        };
        self.member == other.member && is_same(0) && is_same(1)
    }
}
