//! Finds the path through ranks whose traces are held by workers: first where legs start, then the
//! legs on the path.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::leg::{LegBounds, LegStarts, graphs};
use super::row::PathRow;
use super::walk::{MemberNode, crossings};
use crate::analyze::job::Job;
use crate::analyze::options::Options;
use crate::analyze::query::{Query, RankQuery};
use crate::analyze::selection::Selection;
use crate::error::Error;
use crate::sort;

/// A leg of the path: whose it is, and the id of the event in whose start it ends; none at the end
/// of the job.
type CriticalPathLeg = (usize, Option<u32>);

/// The route through a job, as far as its collectives tell.
struct JobRoute {
    bounds: Vec<LegBounds>,
    /// Per member: ids of events whose start other ranks awaited.
    starts: Vec<Vec<u32>>,
    /// From the end of an event, by its id, to the start of one that it waited for.
    crossings: FxHashMap<MemberNode, MemberNode>,
}

impl JobRoute {
    fn of(job: &Job<'_>) -> Self {
        let graphs = graphs(job);
        let id = |(member, node): MemberNode| {
            let event = graphs[member].graph.nodes[node as usize].event as usize;
            (member, job.parts[member].linked.trace.events.position.at(event))
        };
        let mut found: Vec<_> = crossings(job, &graphs).into_iter().collect();
        sort::ascending(&mut found);
        let mut bounds: Vec<_> =
            graphs.iter().map(|backward| LegBounds { ahead_ns: backward.ahead_ns, held: Vec::new() }).collect();
        let mut starts = vec![Vec::new(); graphs.len()];
        for (end, start) in &found {
            bounds[end.0].held.push((id(*end).1, graphs[start.0].time(start.1)));
            starts[start.0].push(id(*start).1);
        }
        for starts in &mut starts {
            sort::ascending(starts);
            starts.dedup();
        }
        Self { bounds, starts, crossings: found.into_iter().map(|(end, start)| (id(end), id(start))).collect() }
    }

    /// The legs of the path, from the last to the first.
    fn legs(mut self, stops: &[Option<&LegStarts>]) -> Vec<CriticalPathLeg> {
        let lasts = stops.iter().enumerate().filter_map(|(member, stops)| Some((member, (*stops)?.last?)));
        let mut at = lasts.max_by_key(|(_, last)| *last).map(|(member, _)| (member, None));
        let mut legs = Vec::new();
        while let Some((member, start)) = at {
            legs.push((member, start));
            let stop = stops[member].and_then(|stops| stops.of(start));
            // No end is waited in twice, whatever was told.
            let next = stop.and_then(|stop| self.crossings.remove(&(member, stop)));
            at = next.map(|(member, start)| (member, Some(start)));
        }
        legs
    }
}

/// Asks each rank where its legs start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LegStartsQuery(LegBounds, Vec<u32>);

impl RankQuery for LegStartsQuery {
    const NAME: &'static str = "leg_starts";

    type Reply = LegStarts;

    fn respond(self, selection: &Selection<'_>, _: &Options) -> LegStarts {
        let Self(bounds, starts) = self;
        bounds.legs(selection).stops(selection.linked, &starts)
    }
}

/// Asks a rank for its legs of the path, each from its end to its start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LegsQuery(LegBounds, Vec<Option<u32>>);

impl RankQuery for LegsQuery {
    const NAME: &'static str = "legs";

    type Reply = Vec<Vec<PathRow>>;

    fn respond(self, selection: &Selection<'_>, _: &Options) -> Vec<Vec<PathRow>> {
        let Self(bounds, ends) = self;
        bounds.legs(selection).rows(selection.linked, &ends)
    }
}

/// Asks all ranks where legs start, then those on the path for their legs.
pub(super) fn plan(job: &Job<'_>, _: &Options) -> Result<Vec<Vec<Query>>, Error> {
    let route = JobRoute::of(job);
    let Some(stops) = job.replies::<LegStartsQuery>().filter(|_| job.has_replies()) else {
        let queries = route.bounds.into_iter().zip(route.starts);
        return queries.map(|(bounds, starts)| Ok(vec![Query::of(&LegStartsQuery(bounds, starts))?])).collect();
    };
    if job.replies::<LegsQuery>().is_some_and(|replies| replies.iter().any(Option::is_some)) {
        return Ok(Vec::new());
    }
    let mut bounds = route.bounds.clone();
    let mut ends = vec![Vec::new(); bounds.len()];
    route.legs(&stops).into_iter().for_each(|(member, end)| ends[member].push(end));
    let of_member = |(member, ends): (usize, Vec<_>)| {
        let has_legs = !ends.is_empty();
        let query = |ends| Query::of(&LegsQuery(std::mem::take(&mut bounds[member]), ends));
        has_legs.then_some(ends).into_iter().map(query).collect()
    };
    ends.into_iter().enumerate().map(of_member).collect()
}

/// The steps of the path from the workers' replies, each with its member, from the last to the
/// first; `None` where the traces are local.
pub(super) fn rows(job: &Job<'_>) -> Option<Vec<(usize, PathRow)>> {
    let (stops, legs) = (job.replies::<LegStartsQuery>()?, job.replies::<LegsQuery>()?);
    let mut legs: Vec<_> = legs.into_iter().map(|legs| legs.into_iter().flatten()).collect();
    let route = JobRoute::of(job).legs(&stops).into_iter();
    Some(
        route
            .flat_map(|(member, _)| legs[member].next().into_iter().flatten().map(move |row| (member, row.clone())))
            .collect(),
    )
}
