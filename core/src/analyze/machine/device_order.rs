//! Ranks that are numbered by the devices of their machines.

use std::collections::BTreeSet;

use crate::link::rank::{JobMember, JobRanks};

/// How many ranks a machine has, as the traces' devices show; an error says why they do not.
///
/// A trace lists the devices that its process sees. Ranks that are numbered machine by machine have
/// `rank % devices` as their device. A process that sees one device may share its machine.
pub(super) fn ranks_per_machine(job: &JobRanks) -> Result<i64, &'static str> {
    let members = || job.members.iter().filter(|member| member.rank.is_some_and(|rank| rank >= 0));
    let listed = members().map(|member| member.linked.trace.device_properties().len() as i64);
    let listed: BTreeSet<i64> = listed.filter(|num| *num > 0).collect();
    let mut listed = listed.into_iter();
    let num = listed.next().ok_or("no host name, and no list of devices")?;
    if listed.next().is_some() {
        return Err("no host name, and traces list unequal numbers of devices");
    }
    if num == 1 {
        return Err("no host name, and the traces list one device each, which may not be all of its machine");
    }
    let mut is_seen = false;
    for member in members() {
        let devices = devices(member);
        if devices.len() > 1 {
            return Err("no host name, and a rank communicates on several devices");
        }
        if let Some((device, rank)) = devices.first().zip(member.rank) {
            is_seen = true;
            if rank % num != *device {
                return Err("no host name, and ranks are not numbered by device");
            }
        }
    }
    if is_seen { Ok(num) } else { Err("no host name, and no communication on a device") }
}

/// The devices on which a rank communicates: a coordinator has no other kernels.
fn devices(member: &JobMember) -> BTreeSet<i64> {
    let trace = &member.linked.trace;
    let rows = member.collectives().rows.iter().flat_map(|one| &one.device_events);
    rows.filter_map(|row| trace.track(trace.events.track.at(*row as usize)).stream?.device).collect()
}
