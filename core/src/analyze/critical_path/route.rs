//! The path through ranks whose traces are elsewhere: where legs begin is told first, then those that it consists of.

use rustc_hash::FxHashMap;

use super::leg::{LegBounds, Stops, graphs};
use super::row::PathRow;
use super::walk::{Place, crossings};
use crate::analyze::afar::{Question, Told};
use crate::analyze::job::Job;
use crate::analyze::options::Options;
use crate::sort;

/// A leg of the path: whose it is, and the id of the event in whose start it ends; none at the end of the job.
type Leg = (usize, Option<u32>);

/// What is known of a job by its communications.
struct Map {
    bounds: Vec<LegBounds>,
    /// Ids of the events of each member whose starts others waited for.
    starts: Vec<Vec<u32>>,
    /// From the end of an event, by its id, to the start of one that it waited for.
    crossings: FxHashMap<Place, Place>,
}

impl Map {
    fn of(job: &Job<'_>) -> Self {
        let graphs = graphs(job);
        let id = |(member, node): Place| {
            let event = graphs[member].graph.nodes[node as usize].event as usize;
            (member, job.parts[member].linked.trace.events.position[event])
        };
        let mut found: Vec<_> = crossings(job, &graphs).into_iter().collect();
        sort::ascending(&mut found);
        let mut bounds: Vec<_> =
            graphs.iter().map(|behind| LegBounds { ahead_ns: behind.ahead_ns, held: Vec::new() }).collect();
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
    fn legs(mut self, stops: &[Option<&Stops>]) -> Vec<Leg> {
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

/// What is asked of each rank.
pub(super) fn questions(job: &Job<'_>, _: &Options) -> Vec<Vec<Question>> {
    let map = Map::of(job);
    let Some(stops) = stops(job).filter(|_| job.is_told()) else {
        let asked = map.bounds.into_iter().zip(map.starts);
        return asked.map(|(bounds, starts)| vec![Question::Stops(bounds, starts)]).collect();
    };
    if told(job).is_some_and(|told| told.iter().any(Option::is_some)) {
        return Vec::new();
    }
    let mut bounds = map.bounds.clone();
    let mut ends = vec![Vec::new(); bounds.len()];
    map.legs(&stops).into_iter().for_each(|(member, end)| ends[member].push(end));
    let of_member = |(member, ends): (usize, Vec<_>)| {
        let is_asked = !ends.is_empty();
        is_asked.then(|| Question::Legs(std::mem::take(&mut bounds[member]), ends)).into_iter().collect()
    };
    ends.into_iter().enumerate().map(of_member).collect()
}

/// The steps of the path of what was told, each with its member, from the last to the first; none where nothing was.
pub(super) fn rows(job: &Job<'_>) -> Option<Vec<(usize, PathRow)>> {
    let (stops, told) = (stops(job)?, told(job)?);
    let mut told: Vec<_> = told.into_iter().map(|legs| legs.into_iter().flatten()).collect();
    let legs = Map::of(job).legs(&stops).into_iter();
    Some(
        legs.flat_map(|(member, _)| told[member].next().into_iter().flatten().map(move |row| (member, row.clone())))
            .collect(),
    )
}

fn stops<'a>(job: &'a Job<'_>) -> Option<Vec<Option<&'a Stops>>> {
    job.told(|told| if let Told::Stops(stops) = told { Some(stops) } else { None })
}

fn told<'a>(job: &'a Job<'_>) -> Option<Vec<Option<&'a Vec<Vec<PathRow>>>>> {
    job.told(|told| if let Told::Legs(legs) = told { Some(legs) } else { None })
}
