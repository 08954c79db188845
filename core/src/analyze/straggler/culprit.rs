//! Finds the operator or kernel that took a rank longer than the others.

use std::borrow::Cow;

use super::activity::DelayCause;
use super::interval_activity::RankActivities;
use crate::analyze::collective::Participant;
use crate::analyze::statistics::median;
use crate::time::TimeRange;

/// The name that took the rank of `member` the most longer than the median of the others, and by
/// how much; each in its span. Of the thread that called the communication, or of the devices.
pub(super) fn culprit(
    cause: DelayCause,
    member: u32,
    (parts, spans): (&[Participant<'_>], &[TimeRange]),
    did: &RankActivities<'_>,
) -> Option<(String, i64)> {
    let all: Vec<_> =
        parts.iter().zip(spans).map(|(part, span)| (part.member, did.names(cause, part, *span))).collect();
    let (_, own) = all.iter().find(|(other, _)| *other == member)?;
    let mut worst: Option<(&Cow<'_, str>, i64)> = None;
    for (name, ns) in own {
        let others = all.iter().filter(|(other, _)| *other != member);
        let usual = median(others.map(|(_, names)| names.get(name).copied().unwrap_or(0)));
        let more = ns.saturating_sub(usual);
        if more > worst.map_or(0, |(_, most)| most) {
            worst = Some((name, more));
        }
    }
    worst.map(|(name, ns)| (name.clone().into_owned(), ns))
}
