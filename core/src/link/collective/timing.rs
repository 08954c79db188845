//! Durations and bandwidths of collectives.

use serde_json::Value;

use super::facts::integers;
use super::row::{Collective, Collectives};
use crate::time::TimeRange;
use crate::trace::Trace;
use crate::trace::collective::CollectivePattern;

impl Collective {
    /// Whether it connects exactly two ranks; `None` if unknown.
    pub fn is_p2p(&self) -> Option<bool> {
        self.facts.is_p2p.or_else(|| self.pattern.map(CollectivePattern::is_p2p))
    }

    /// Whether the host went on before it was done: as recorded, or because the host waited for it
    /// later.
    pub fn is_async(&self) -> Option<bool> {
        self.facts.is_async.or(self.wait.map(|_| true))
    }

    /// When it ran: from the first start to the last end of its device events, or its run on the
    /// host.
    pub fn time(&self, trace: &Trace) -> Option<TimeRange> {
        let rows = || self.device_events.iter().copied().chain(self.runs()).map(|row| row as usize);
        let start = rows().map(|row| trace.events.start.at(row)).min()?;
        let end = rows().map(|row| trace.events.end(row)).max()?;
        Some(TimeRange { start, end })
    }

    /// The first of its events: the call, the run, or a device event.
    pub fn first_event(&self) -> Option<u32> {
        self.event.or(self.run).or_else(|| self.device_events.first().copied())
    }

    /// Bytes that go into it on this rank.
    pub fn in_bytes(&self) -> Option<i64> {
        self.facts.in_elems?.checked_mul(self.facts.elem_bytes?)
    }

    /// Bytes that come out of it on this rank.
    pub fn out_bytes(&self) -> Option<i64> {
        self.facts.out_elems?.checked_mul(self.facts.elem_bytes?)
    }

    /// Message size in bytes: the larger of input and output.
    pub fn bytes(&self) -> Option<i64> {
        self.pattern.filter(|pattern| pattern.has_message())?;
        Some(self.in_bytes()?.max(self.out_bytes()?))
    }

    /// Bytes that each link carries, with which bandwidths of unlike communications compare.
    ///
    /// With group size `n`: 2(n−1)/n of the message for an all-reduce; (n−1)/n for gathers,
    /// scatters and exchanges; all of it for broadcasts. An uneven exchange omits the part that
    /// stays on the rank.
    pub fn bus_bytes(&self) -> Option<f64> {
        let (pattern, size) = (self.pattern?, self.facts.group_size?);
        let facts = &self.facts;
        let kept = [
            self.kept_bytes(facts.in_split.as_deref(), facts.in_elems)?,
            self.kept_bytes(facts.out_split.as_deref(), facts.out_elems)?,
        ];
        bus_bytes(pattern, size, [self.in_bytes()?, self.out_bytes()?], kept)
    }

    /// Bytes of the message over the time it ran: bytes a nanosecond, which is GB/s.
    pub fn algorithm_gbps(&self, trace: &Trace) -> Option<f64> {
        gbps(self.bytes()? as f64, self.time(trace)?.dur().0)
    }

    /// [`bus_bytes`](Self::bus_bytes) over the time it ran.
    pub fn bus_gbps(&self, trace: &Trace) -> Option<f64> {
        gbps(self.bus_bytes()?, self.time(trace)?.dur().0)
    }

    /// Bytes of an exchange that stay on the rank, where its parts are told; `None` when they
    /// should be and are not.
    #[expect(clippy::option_option, reason = "parts that are not told are even; those that cannot be read are unknown")]
    fn kept_bytes(&self, split: Option<&str>, elems: Option<i64>) -> Option<Option<i64>> {
        let Some(split) = self.told_parts(split) else { return Some(None) };
        let parts = integers(&Value::from(split))?;
        let own = *parts.get(usize::try_from(self.place?).ok()?)?;
        // Parts count rows of the tensor, which may have several elements.
        let rows = parts.iter().try_fold(0_i64, |rows, part| rows.checked_add(*part))?;
        let elems = elems?;
        let own = match elems.checked_rem(rows) {
            None => 0,
            Some(0) => own.checked_mul(elems / rows)?,
            Some(_) => return None,
        };
        Some(Some(own.checked_mul(self.facts.elem_bytes?)?))
    }

    /// The parts of an exchange, where they are told.
    fn told_parts<'a>(&self, split: Option<&'a str>) -> Option<&'a str> {
        split.filter(|split| self.pattern == Some(CollectivePattern::AllToAll) && *split != "[]")
    }

    /// Whether ranks give or take unequal parts: as the recorded parts say, or as the name does.
    /// Parts that cannot be read may be unequal.
    pub fn is_uneven(&self) -> bool {
        let is_uneven = |split: &Option<String>| {
            let parts = self.told_parts(split.as_deref()).map(|split| integers(&Value::from(split)));
            parts.is_some_and(|parts| parts.is_none_or(|parts| parts.windows(2).any(|pair| pair[0] != pair[1])))
        };
        let has_name = self.name.as_deref().is_some_and(|name| name.ends_with("_v"));
        has_name || is_uneven(&self.facts.in_split) || is_uneven(&self.facts.out_split)
    }

    /// Bytes that leave this rank in an uneven exchange, and bytes that come to it: without the
    /// part that stays. `None` where a part is unknown.
    pub fn exchanged_bytes(&self) -> Option<[i64; 2]> {
        let facts = &self.facts;
        let in_kept = self.kept_bytes(facts.in_split.as_deref(), facts.in_elems)??;
        let out_kept = self.kept_bytes(facts.out_split.as_deref(), facts.out_elems)??;
        Some([self.in_bytes()?.saturating_sub(in_kept), self.out_bytes()?.saturating_sub(out_kept)])
    }
}

/// Bytes that each link carries of a message of which `bytes` go in and come out; see
/// [`Collective::bus_bytes`].
///
/// `kept` are the bytes of an exchange that stay on the rank, of those that go in and that come
/// out, where its parts are uneven.
pub(crate) fn bus_bytes(
    pattern: CollectivePattern,
    num_ranks: i64,
    bytes: [i64; 2],
    kept: [Option<i64>; 2],
) -> Option<f64> {
    let factor = pattern.bus_factor(num_ranks)?;
    let moved = |side: usize| match kept[side].filter(|_| pattern == CollectivePattern::AllToAll) {
        Some(kept) => bytes[side].saturating_sub(kept) as f64,
        None => bytes[side] as f64 * factor,
    };
    Some(moved(0).max(moved(1)))
}

/// Bytes a nanosecond, which is GB/s; `None` of no time.
pub(crate) fn gbps(bytes: f64, ns: i64) -> Option<f64> {
    (ns > 0).then(|| bytes / ns as f64)
}

impl Collectives {
    /// The wait for a communication.
    pub fn wait_for(&self, row: &Collective) -> Option<&Collective> {
        Some(&self.waits.get(row.wait? as usize)?.call)
    }
}
