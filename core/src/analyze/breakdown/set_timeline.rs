//! Answers how long each set of things happened in a span, for any number of spans.
//!
//! Spans may overlap or nest, and each may hold all that was recorded. So nothing is summed anew
//! for each of them: sums up to a point in time are kept, and a span is the difference of two.

use crate::sort;
use crate::time::{TimeRange, Ts};

/// Times in which the same set of things happens, as codes below `N`; code 0 before the first and
/// after the last.
#[derive(Debug, Clone)]
pub(super) struct SetTimeline<const N: usize> {
    /// Starts of the times, ascending.
    starts: Vec<Ts>,
    codes: Vec<u8>,
    /// Sums of all times before every 64th.
    sums: Vec<SetSums<N>>,
    /// Shorter times of code 0 are summed apart.
    micro_ns: i64,
}

/// Sums of times by code, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct SetSums<const N: usize> {
    pub(super) by_code: [i64; N],
    /// Of code 0, the times below the threshold.
    pub(super) micro_ns: i64,
}

/// Sums are kept for one in so many times.
const EVERY: usize = 64;

impl<const N: usize> Default for SetSums<N> {
    fn default() -> Self {
        Self { by_code: [0; N], micro_ns: 0 }
    }
}

impl<const N: usize> SetSums<N> {
    fn add(&mut self, code: u8, ns: i64, micro_ns: i64) {
        let sum = &mut self.by_code[usize::from(code)];
        *sum = sum.saturating_add(ns);
        if code == 0 && ns < micro_ns {
            self.micro_ns = self.micro_ns.saturating_add(ns);
        }
    }

    /// Adds the sums of other times.
    pub(super) fn add_all(&mut self, other: &Self) {
        let pairs = self.by_code.iter_mut().zip(other.by_code);
        pairs.for_each(|(sum, ns)| *sum = sum.saturating_add(ns));
        self.micro_ns = self.micro_ns.saturating_add(other.micro_ns);
    }

    /// The sum of the codes that are wanted.
    pub(super) fn of(&self, is_wanted: impl Fn(u8) -> bool) -> i64 {
        let codes = (0_u8..).zip(self.by_code).filter(|(code, _)| is_wanted(*code));
        codes.fold(0, |sum, (_, ns)| sum.saturating_add(ns))
    }
}

impl<const N: usize> SetTimeline<N> {
    /// From lists of disjoint ranges, each with the bit that is set during its ranges, and the code
    /// of a set of bits.
    pub(super) fn of<'a>(
        lists: impl Iterator<Item = (u8, &'a [TimeRange])>,
        code: impl Fn(u8) -> u8,
        micro_ns: i64,
    ) -> Self {
        let mut changes: Vec<(Ts, u8)> = Vec::new();
        for (bit, ranges) in lists {
            changes.extend(ranges.iter().flat_map(|range| [(range.start, bit), (range.end, bit)]));
        }
        sort::by_key(&mut changes, |(time, _)| *time);
        let mut timeline = Self { starts: Vec::new(), codes: Vec::new(), sums: Vec::new(), micro_ns };
        let (mut bits, mut last, mut sums) = (0, 0, SetSums::default());
        for at in changes.chunk_by(|(time, _), (next, _)| time == next) {
            bits = at.iter().fold(bits, |bits, (_, bit)| bits ^ bit);
            let (time, code) = (at[0].0, code(bits));
            if code != last {
                timeline.push(time, code, &mut sums);
                last = code;
            }
        }
        timeline
    }

    /// Begins a time; `sums` are those up to the last one that began.
    fn push(&mut self, time: Ts, code: u8, sums: &mut SetSums<N>) {
        if let Some((last, before)) = self.starts.last().zip(self.codes.last()) {
            sums.add(*before, time.since(*last).0, self.micro_ns);
        }
        if self.starts.len().is_multiple_of(EVERY) {
            self.sums.push(*sums);
        }
        self.starts.push(time);
        self.codes.push(code);
    }

    /// The sums in a span.
    pub(super) fn inside(&self, span: TimeRange) -> SetSums<N> {
        let first = self.starts.partition_point(|start| *start <= span.start);
        let last = self.starts.partition_point(|start| *start < span.end);
        let code = |next: usize| next.checked_sub(1).map_or(0, |at| self.codes[at]);
        let mut inside = SetSums::default();
        if last <= first {
            inside.add(code(first), span.dur().0, self.micro_ns);
            return inside;
        }
        let (before, after) = (self.until(first), self.until(last - 1));
        for (sum, (after, before)) in inside.by_code.iter_mut().zip(after.by_code.iter().zip(before.by_code)) {
            *sum = after.saturating_sub(before);
        }
        inside.micro_ns = after.micro_ns.saturating_sub(before.micro_ns);
        inside.add(code(first), self.starts[first].since(span.start).0, self.micro_ns);
        inside.add(code(last), span.end.since(self.starts[last - 1]).0, self.micro_ns);
        inside
    }

    /// The sums of the first times.
    fn until(&self, num: usize) -> SetSums<N> {
        let from = num / EVERY * EVERY;
        let mut sums = self.sums.get(num / EVERY).copied().unwrap_or_default();
        for at in from..num {
            sums.add(self.codes[at], self.starts[at + 1].since(self.starts[at]).0, self.micro_ns);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analyze::interval::union;

    fn ranges() -> impl Strategy<Value = Vec<TimeRange>> {
        let range =
            (0..900_i64, 0..9_i64).prop_map(|(start, len)| TimeRange { start: Ts(start), end: Ts(start + len) });
        prop::collection::vec(range, 0..200).prop_map(union)
    }

    proptest! {
        #[test]
        fn sums_are_those_of_every_nanosecond(
            one in ranges(), other in ranges(), span in (-20..950_i64, 0..400_i64), micro_ns in 0..5_i64
        ) {
            let lists = [(1, one.as_slice()), (2, other.as_slice())];
            let span = TimeRange { start: Ts(span.0), end: Ts(span.0 + span.1) };
            let sums = SetTimeline::<4>::of(lists.into_iter(), |bits| bits, micro_ns).inside(span);
            let is_in = |ranges: &[TimeRange], ns: i64| ranges.iter().any(|range| range.start.0 <= ns && ns < range.end.0);
            let codes: Vec<usize> = (span.start.0..span.end.0)
                .map(|ns| usize::from(is_in(&one, ns)) + 2 * usize::from(is_in(&other, ns)))
                .collect();
            let mut expected = [0; 4];
            codes.iter().for_each(|code| expected[*code] += 1);
            prop_assert_eq!(sums.by_code, expected);
            let silent = codes.chunk_by(|a, b| a == b).filter(|same| same[0] == 0).map(|same| same.len() as i64);
            prop_assert_eq!(sums.micro_ns, silent.filter(|ns| *ns < micro_ns).sum::<i64>());
        }
    }
}
