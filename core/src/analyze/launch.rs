//! Says how the launch and the operator of a device event were found, or why not.

use super::unlinked_reason::UnlinkedReason;
use crate::link::{FirstLaunch, LinkMethod, LinkedTrace};
use crate::trace::arg_key::ArgKey;

/// The reason for a missing launch, in words; `None` where it is known, and for events that need
/// none.
pub(crate) fn why_unlaunched(linked: &LinkedTrace, row: usize) -> Option<&'static str> {
    let is_work = linked.trace.events.kind[row].is_device_work();
    let is_unknown = is_work && linked.links.launch.get(row).is_none();
    is_unknown.then(|| reason(linked, &first_launch(linked), row).message())
}

pub(super) fn first_launch(linked: &LinkedTrace) -> FirstLaunch {
    FirstLaunch::of(&linked.trace, &linked.links.launch)
}

/// How the launch of a device event was found, or why not.
pub(super) fn launch_method(
    linked: &LinkedTrace,
    first: &FirstLaunch,
    row: usize,
) -> Result<LinkMethod, UnlinkedReason> {
    let launch = linked.links.launch.get(row).map(|_| linked.links.launched.how(row as u32));
    launch.ok_or_else(|| reason(linked, first, row))
}

fn reason(linked: &LinkedTrace, first: &FirstLaunch, row: usize) -> UnlinkedReason {
    if linked.links.launched.is_ambiguous(row as u32) {
        return UnlinkedReason::AmbiguousLaunch;
    }
    first.reason(&linked.trace, row).into()
}

/// How the operator of a device event was found, or why not.
pub(super) fn owner_method(
    linked: &LinkedTrace,
    first: &FirstLaunch,
    row: usize,
) -> Result<LinkMethod, UnlinkedReason> {
    let links = &linked.links;
    if links.operator.get(row).is_some() {
        let named = links.named.binary_search_by_key(&(row as u32), |named| named.device);
        return Ok(named.map_or(LinkMethod::Enclosure, |at| links.named[at].how));
    }
    launch_method(linked, first, row).and(Err(UnlinkedReason::OperatorMissing))
}

/// How the origin of the work of a graph was found, or why not.
pub(super) fn capture_method(
    linked: &LinkedTrace,
    (has_captures, is_in_order): (bool, bool),
    row: usize,
) -> Result<LinkMethod, UnlinkedReason> {
    if let Some(captured) = linked.captured(row) {
        return Ok(captured.how);
    }
    let trace = &linked.trace;
    let mut how = String::new();
    if trace.args.write_text(&trace.strings, trace.events.args(row), ArgKey::CapturedBy, &mut how) {
        return Ok(LinkMethod::of_capture(&how));
    }
    match () {
        () if trace.stated_module(row).or_else(|| trace.stated_annotation(row)).is_some() => Ok(LinkMethod::GraphLabel),
        () if !has_captures => Err(UnlinkedReason::NoCapture),
        () if !is_in_order => Err(UnlinkedReason::UnknownOrder),
        () => Err(UnlinkedReason::OtherCapture),
    }
}
