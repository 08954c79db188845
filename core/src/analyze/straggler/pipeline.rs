//! Tells a pipeline's schedule from a slow stage.
//!
//! A stage that receives waits for the stage that sends. That is the schedule's bubble where the
//! sender works as much as the other stages, and its fault only as far as it works longer.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::activity::DelayCause;
use super::interval_activity::RankActivities;
use super::stage_work::{IterationWork, StageWork, StageWorkQuery};
use crate::analyze::collective::{JobCollective, Participant};
use crate::analyze::job::Job;
use crate::analyze::statistics::median;
use crate::sort;
use crate::time::{TimeRange, Ts, add_ns};
use crate::trace::collective::CollectivePattern;

/// A stage that works longer than the others by less than this share is as fast as they are.
const SLACK: f64 = 0.05;

/// The stages of pipelines: ranks that send to each other.
#[derive(Debug, Default)]
pub(super) struct Pipelines {
    /// By member; `None` for those that send and receive nothing.
    stages: Vec<Option<PipelineStage>>,
}

/// A rank in a pipeline.
#[derive(Debug, Clone, Default)]
pub(super) struct PipelineStage {
    /// Ends of its communications, ascending, on its own clock. Messages that were there before it
    /// asked for them delay nothing: they are left out.
    ends: Vec<Ts>,
    /// Its share of each cause that exceeds the other stages'; `None` while the work is unknown.
    excess: Option<StageExcess>,
    /// Time of the pipeline in which it did nothing, and the whole time of the pipeline; `None`
    /// while the work of a stage is unknown.
    pub(super) idle: Option<(i64, i64)>,
}

/// The shares of a stage's time, from 0 to 1, that exceed what the others need.
#[derive(Debug, Clone, Copy, Default)]
struct StageExcess {
    compute: f64,
    host: f64,
    /// Whether the device tells what it did.
    has_device: bool,
}

/// Whether a communication is a message between two ranks.
pub(super) fn is_message(meeting: &JobCollective<'_>) -> bool {
    meeting.parts.len() == 2 && meeting.parts.iter().all(|part| part.one.pattern.is_some_and(CollectivePattern::is_p2p))
}

impl Pipelines {
    /// The stages, before the ranks have told their work.
    pub(super) fn planned(job: &Job<'_>, all: &[JobCollective<'_>]) -> Self {
        let mut stages = vec![None; job.parts.len()];
        for part in all.iter().filter(|meeting| is_message(meeting)).flat_map(|meeting| &meeting.parts) {
            stages[part.member as usize]
                .get_or_insert_with(|| PipelineStage { ends: ends(part), ..PipelineStage::default() });
        }
        let mut early: Vec<FxHashSet<Ts>> = vec![FxHashSet::default(); stages.len()];
        for part in all.iter().filter_map(late_receiver) {
            early[part.member as usize].extend(part.one.time(&part.linked.trace).map(|time| time.end));
        }
        for (stage, early) in stages.iter_mut().zip(&early) {
            stage.iter_mut().for_each(|stage: &mut PipelineStage| stage.ends.retain(|end| !early.contains(end)));
        }
        Self { stages }
    }

    /// The stages, with their work.
    pub(super) fn of(job: &Job<'_>, all: &[JobCollective<'_>]) -> Self {
        let mut found = Self::planned(job, all);
        if found.stages.iter().all(Option::is_none) {
            return found;
        }
        let work = job.replies_or::<StageWorkQuery>(StageWork::of);
        for members in components(all, found.stages.len()) {
            found.compare(job, all, &members, &work);
        }
        found
    }

    /// Whether a member is a stage.
    pub(super) fn has(&self, member: usize) -> bool {
        self.stage(member).is_some()
    }

    pub(super) fn stage(&self, member: usize) -> Option<&PipelineStage> {
        self.stages.get(member)?.as_ref()
    }

    /// Compares the stages of one pipeline.
    fn compare(&mut self, job: &Job<'_>, all: &[JobCollective<'_>], members: &[usize], work: &[Cow<'_, StageWork>]) {
        let numbers = common_numbers(members, work);
        let those = |member: usize| {
            let iterations = work[member].iterations.iter();
            iterations.filter(|one| numbers.contains(&one.number)).copied().collect::<Vec<IterationWork>>()
        };
        let works: Vec<_> = members.iter().map(|member| those(*member)).collect();
        let total = |at: usize, get: fn(&IterationWork) -> i64| {
            works[at].iter().fold(0_i64, |sum, one| sum.saturating_add(get(one)))
        };
        let others = |at: usize, get: fn(&IterationWork) -> i64| {
            median((0..members.len()).filter(|other| *other != at).map(|other| total(other, get)))
        };
        let clocks = clock_offsets(job, members);
        let do_clocks_agree = clocks.is_some() || !all.iter().any(|one| is_received_early(one, members));
        let offsets = clocks.unwrap_or_else(|| vec![0; members.len()]);
        let spans: Vec<TimeRange> = numbers.iter().filter_map(|number| span(*number, &works, &offsets)).collect();
        let span_ns = spans.iter().fold(0_i64, |sum, span| sum.saturating_add(span.dur().0));
        let has_device = members.iter().any(|member| work[*member].has_device);
        let is_complete = |member: &usize| !work[*member].has_lost_work && work[*member].has_device == has_device;
        let is_known = span_ns > 0 && do_clocks_agree && members.iter().all(is_complete);
        for (at, member) in members.iter().enumerate() {
            let Some(stage) = self.stages[*member].as_mut() else { continue };
            let usual_ns = others(at, |one| one.compute_ns);
            let share = |get: fn(&IterationWork) -> i64| {
                let (own, usual) = (total(at, get), others(at, get));
                let more = own.saturating_sub(usual);
                if more as f64 > SLACK * usual_ns as f64 && own > 0 { more as f64 / own as f64 } else { 0.0 }
            };
            let (compute, host) = (share(|one| one.compute_ns), share(|one| one.host_ns));
            stage.excess = Some(StageExcess { compute, host, has_device: work[*member].has_device });
            let busy_ns = total(at, |one| one.busy_ns);
            stage.idle = is_known.then(|| (span_ns.saturating_sub(busy_ns).max(0), span_ns));
        }
    }

    /// The time in which a sender worked for a message: since its communication before, unless that
    /// was a message that waited for it.
    pub(super) fn work_span(&self, sender: &Participant<'_>) -> Option<TimeRange> {
        let (came, stage) = (sender.came?, self.stage(sender.member as usize)?);
        let before = stage.ends[..stage.ends.partition_point(|end| *end <= came)].last().copied();
        let iteration = || {
            let links = &sender.linked.links;
            let at = links.iteration.get(sender.one.first_event()? as usize)?;
            Some(links.iterations[at as usize].start)
        };
        Some(TimeRange { start: before.or_else(iteration).unwrap_or(came).min(came), end: came })
    }

    /// How much of a wait for a message is the sender's fault, and by what; `None` while that is
    /// not known.
    pub(super) fn fault(
        &self,
        sender: &Participant<'_>,
        span: TimeRange,
        did: &RankActivities<'_>,
    ) -> Option<(i64, DelayCause)> {
        let excess = self.stage(sender.member as usize)?.excess?;
        let during = did.during(sender, span)?;
        let share = |ns: i64, share: f64| (ns as f64 * share).round() as i64;
        let own = |cause: DelayCause| during[cause as usize];
        let (compute, host) = if excess.has_device {
            let compute_ns = own(DelayCause::Compute).saturating_add(own(DelayCause::Copy));
            (share(compute_ns, excess.compute), share(own(DelayCause::Host), excess.host))
        } else {
            (0, share(span.dur().0, excess.compute))
        };
        let cause = if host > compute { DelayCause::Host } else { DelayCause::Compute };
        Some((compute.saturating_add(host), cause))
    }
}

/// The receiver of a message, if it came no earlier than its sender.
fn late_receiver<'a, 'b>(meeting: &'b JobCollective<'a>) -> Option<&'b Participant<'a>> {
    let of = |pattern| meeting.parts.iter().find(|part| part.one.pattern == Some(pattern));
    let (sender, receiver) = (of(CollectivePattern::Send)?, of(CollectivePattern::Recv)?);
    let is_late = is_message(meeting) && receiver.start? >= sender.start?;
    is_late.then_some(receiver)
}

/// Ends of all communications of a participant's trace.
fn ends(part: &Participant<'_>) -> Vec<Ts> {
    let rows = part.linked.collectives().rows.iter();
    let mut ends: Vec<Ts> = rows.filter_map(|row| row.time(&part.linked.trace)).map(|time| time.end).collect();
    sort::ascending(&mut ends);
    ends
}

/// The first member of those that a member is connected with.
fn find(leader: &mut [usize], mut at: usize) -> usize {
    while leader[at] != at {
        leader[at] = leader[leader[at]];
        at = leader[at];
    }
    at
}

/// Members that messages connect, directly or through others.
fn components(all: &[JobCollective<'_>], num_members: usize) -> Vec<Vec<usize>> {
    let mut leader: Vec<usize> = (0..num_members).collect();
    let mut seen = BTreeSet::new();
    for meeting in all.iter().filter(|meeting| is_message(meeting)) {
        let [a, b] = [0, 1].map(|at| find(&mut leader, meeting.parts[at].member as usize));
        leader[a.max(b)] = a.min(b);
        seen.extend(meeting.parts.iter().map(|part| part.member as usize));
    }
    let mut found: Vec<Vec<usize>> = vec![Vec::new(); num_members];
    for member in seen {
        let first = find(&mut leader, member);
        found[first].push(member);
    }
    found.retain(|members| members.len() > 1);
    found
}

/// The iterations that all members have; without any, the work outside of iterations.
fn common_numbers(members: &[usize], work: &[Cow<'_, StageWork>]) -> Vec<Option<i64>> {
    let numbers = |member: &usize| {
        sort::distinct(work[*member].iterations.iter().filter(|one| one.number.is_some()).map(|one| one.number))
    };
    let common = members.iter().map(numbers).reduce(|mut common, those| {
        common.retain(|number| those.binary_search(number).is_ok());
        common
    });
    common.filter(|common| !common.is_empty()).unwrap_or_else(|| vec![None])
}

/// Whether a message between the members was received before it was sent: their clocks differ.
fn is_received_early(meeting: &JobCollective<'_>, members: &[usize]) -> bool {
    let time = |pattern| {
        let part = meeting.parts.iter().find(|part| part.one.pattern == Some(pattern))?;
        part.one.time(&part.linked.trace).filter(|_| members.contains(&(part.member as usize)))
    };
    let times = time(CollectivePattern::Send).zip(time(CollectivePattern::Recv));
    is_message(meeting) && times.is_some_and(|(sent, received)| received.end < sent.start)
}

/// How far the members' clocks are ahead of a common one; `None` where that is not known of all.
fn clock_offsets(job: &Job<'_>, members: &[usize]) -> Option<Vec<i64>> {
    let clock = |member: &usize| job.ranks.members[*member].clock;
    let clocks: Option<Vec<_>> = members.iter().map(clock).collect();
    let group = |clocks: &Vec<crate::link::rank::ClockOffset>| clocks.first().map(|clock| clock.group);
    let one_group = clocks.filter(|clocks| clocks.iter().all(|clock| Some(clock.group) == group(clocks)));
    one_group.map(|clocks| clocks.iter().map(|clock| clock.offset_ns).collect())
}

/// From the first work to the last of all members in an iteration; `None` where one has none.
fn span(number: Option<i64>, works: &[Vec<IterationWork>], clocks: &[i64]) -> Option<TimeRange> {
    let of_member =
        |(work, clock): (&Vec<IterationWork>, &i64)| Some(work.iter().find(|one| one.number == number)?.span(*clock));
    let spans: Option<Vec<TimeRange>> = works.iter().zip(clocks).map(of_member).collect();
    let wider = |a: TimeRange, b: TimeRange| TimeRange { start: a.start.min(b.start), end: a.end.max(b.end) };
    spans?.into_iter().reduce(wider)
}

/// Takes what stragglers caused from the idle time of a stage: the rest is the bubble.
pub(super) fn bubble(idle: (i64, i64), caused_ns: i64) -> (i64, i64) {
    let mut bubble_ns = idle.0;
    add_ns(&mut bubble_ns, -caused_ns);
    (bubble_ns.max(0), idle.1)
}
