//! Stragglers: ranks that others wait for, how long, and why.

mod activity;
mod culprit;
mod doing;
mod late;
mod row;

use super::afar::Question;
use super::analysis::{Analysis, Answer, Plot, Run};
use super::collective::{Clocks, Meeting, holds, meetings};
use super::job::Job;
use super::options::{OptionDoc, OptionKind, Options};
use crate::sort;
use doing::Did;
pub(super) use doing::{Doing, Way, doings};
use late::{Late, LateArrival};
pub(super) use row::StragglerRow;

/// Who comes late.
pub(super) static STRAGGLERS: Analysis = Analysis {
    name: "stragglers",
    doc: "ranks that others wait for: how often they come last, how long others wait, and why they come late",
    options: &[
        OptionDoc {
            name: "longest",
            doc: "how many of the late arrivals that others waited for the longest are listed",
            kind: OptionKind::Count(20),
        },
    ],
    run: Run::Ranks(stragglers, Some(questions)),
};

/// Ranks that others wait for, those waited for the longest first.
pub(super) fn waited_for(job: &Job<'_>) -> Vec<StragglerRow> {
    measured(job, 0).0
}

fn stragglers(job: &Job<'_>, options: &Options) -> Answer {
    let (rows, late) = measured(job, options.count("longest") as usize);
    Answer::of(&row::TABLE, rows, "no two ranks have a communication in common")
        .and(&late::TABLE, late)
        .drawn(Plot::Bars { label: "rank", parts: &["caused_wait_ns"] })
}

fn measured(job: &Job<'_>, longest: usize) -> (Vec<StragglerRow>, Vec<LateArrival>) {
    let did = Did::of(job);
    let all = meetings(&job.ranks, Clocks::AlignedWhereKnown, |_, _| true);
    let wanted = wanted(job, &all);
    let mut late = late_ones(&all, &wanted, &did);
    let arrivals: Vec<LateArrival> = late.iter().map(|late| late.arrival.clone()).collect();
    let met: Vec<_> = wanted.iter().map(|at| &all[*at]).collect();
    let rows = row::rows(&job.ranks, &met, &arrivals);
    sort_by_cost(&mut late);
    late.truncate(longest);
    (rows, late.into_iter().map(|late| late.named(&did)).collect())
}

fn questions(job: &Job<'_>, options: &Options) -> Vec<Vec<Question>> {
    if job.is_told() {
        return Vec::new();
    }
    let question = |ways: Vec<Way>| if ways.is_empty() { Vec::new() } else { vec![Question::Ways(ways)] };
    ways(job, options.count("longest") as usize).into_iter().map(question).collect()
}

/// What has to be known of each trace, besides its communications, for who came late to be told why; of the `longest` waits
/// by name.
pub(super) fn ways(job: &Job<'_>, longest: usize) -> Vec<Vec<Way>> {
    let mut ways = vec![Vec::new(); job.parts.len()];
    let all = meetings(&job.ranks, Clocks::AlignedWhereKnown, |_, _| true);
    let mut late = late_ones(&all, &wanted(job, &all), &Did::Told(Vec::new()));
    sort_by_cost(&mut late);
    for (member, way) in late.iter().enumerate().flat_map(|(at, late)| late.ways(at < longest)) {
        ways[member as usize].push(way);
    }
    ways
}

/// Places of the communications that are looked at.
fn wanted(job: &Job<'_>, all: &[Meeting<'_>]) -> Vec<usize> {
    let is_wanted = |at: &usize| all[*at].first().is_some_and(|part| holds(&job.parts[part.member as usize], part.one));
    (0..all.len()).filter(is_wanted).collect()
}

fn late_ones<'a, 'b>(all: &'b [Meeting<'a>], wanted: &[usize], did: &Did<'_>) -> Vec<Late<'a, 'b>> {
    let before = late::previous(all);
    wanted.iter().filter_map(|at| Late::of(&all[*at], before[*at].map(|at| &all[at]), did)).collect()
}

fn sort_by_cost(late: &mut [Late<'_, '_>]) {
    sort::by_key(late, |late| (std::cmp::Reverse(late.arrival.caused_wait_ns), late::came(&late.arrival)));
}
