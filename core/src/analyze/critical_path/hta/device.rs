//! Adds streams to the graph: the order of work, and the cause of each delay.

use rustc_hash::FxHashMap;

use super::frame::HtaFrame;
use super::graph::HtaGraph;
use super::name_facts::HtaWait;
use super::queue::queue;
use crate::analyze::critical_path::graph::PathKind;
use crate::sort;
use crate::trace::args::plain_text;
use crate::trace::kind::EventKind;

/// A gap of this or more, in microseconds, is not taken for time between two kernels.
const MAX_GAP: i64 = 1_500;

/// Among how many streams a wait for a device looks for work; a hostile file may have one for each
/// event.
const MAX_STREAMS: usize = 64;

/// Adds the device's work and waits for it, in the order of time; waits by their ends.
pub(super) fn add(graph: &mut HtaGraph<'_>) {
    let frame = graph.frame;
    let is_device = |at: &usize| {
        let row = &frame.rows[*at];
        row.is_looked_at() && frame.is_on_device(*at) && row.correlation >= 0
    };
    let rows: Vec<usize> = (0..frame.rows.len()).filter(is_device).collect();
    let is_sync = |at: usize| frame.kind(at) == EventKind::Sync;
    let time = |at: &usize| if is_sync(*at) { frame.rows[*at].end } else { frame.rows[*at].start };
    let times: Vec<i64> = rows.iter().map(time).collect();
    let lengths = queue(frame);
    let mut streams =
        LastStreamWork { queues: StreamQueues::of(frame), last: Vec::new(), places: FxHashMap::default() };
    let mut held: FxHashMap<usize, usize> = FxHashMap::default();
    for at in sort::places(&times).into_iter().map(|place| rows[place as usize]) {
        if is_sync(at) {
            streams.wait(graph, at, &mut held);
        } else {
            let sync = held.get(&at).and_then(|source| graph.ends.get(*source));
            streams.work(graph, at, sync, &lengths);
        }
    }
}

/// The last work of each stream.
struct LastStreamWork {
    queues: StreamQueues,
    /// Streams in the order in which they first did something, each with the end of its last work.
    last: Vec<(i64, u32)>,
    places: FxHashMap<i64, usize>,
}

impl LastStreamWork {
    fn wait(&self, graph: &mut HtaGraph<'_>, at: usize, held: &mut FxHashMap<usize, usize>) {
        let row = graph.frame.rows[at];
        if row.name.wait == Some(HtaWait::StreamForEvent) {
            let launch = row.partner.map(|launch| graph.frame.rows[launch as usize].start);
            let target = launch.and_then(|time| self.queues.next(row.stream, time));
            if let Some((source, target)) = self.queues.recorded(graph.frame, at).zip(target) {
                held.insert(target, source);
            }
            return;
        }
        let Some(call) = row.partner.and_then(|launch| graph.ends.get(launch as usize)) else { return };
        let sources: Vec<u32> = match row.name.wait {
            Some(HtaWait::Event) => {
                let source = self.queues.recorded(graph.frame, at).and_then(|source| graph.ends.get(source));
                source.into_iter().collect()
            }
            Some(HtaWait::Stream) => self.last_of(row.stream).into_iter().collect(),
            Some(HtaWait::Context) => self.last.iter().take(MAX_STREAMS).map(|(_, node)| *node).collect(),
            _ => return,
        };
        for source in sources {
            graph.edges.add(source, call, 0, PathKind::Sync, graph.row(call).event);
        }
    }

    fn last_of(&self, stream: i64) -> Option<u32> {
        self.places.get(&stream).map(|place| self.last[*place].1)
    }

    fn work(&mut self, graph: &mut HtaGraph<'_>, at: usize, sync: Option<u32>, lengths: &[Option<i64>]) {
        let row = graph.frame.rows[at];
        let (Some(start), Some(end)) = (graph.starts.get(at), graph.ends.get(at)) else { return };
        let dur = graph.gap(start, end);
        graph.edges.add(start, end, dur, PathKind::Kernel, row.event);
        if let Some(sync) = sync {
            graph.edges.add(sync, start, 0, PathKind::Sync, row.event);
        }
        let launch = row.partner.map(|launch| launch as usize);
        let was_idle = lengths[at] == Some(0) && launch.is_some_and(|launch| lengths[launch] == Some(1));
        let launch = launch.filter(|_| was_idle).and_then(|launch| graph.starts.get(launch));
        let last = self.last_of(row.stream);
        let is_after = |node: Option<u32>, time: i64| node.is_none_or(|node| graph.time(node) < time);
        let launch = launch.filter(|launch| is_after(last, graph.time(*launch)) && is_after(sync, graph.time(*launch)));
        let near = last.filter(|last| graph.gap(*last, start) < MAX_GAP && is_after(sync, graph.time(*last)));
        if let Some(launch) = launch {
            let gap = graph.gap(launch, start);
            graph.edges.add(launch, start, gap, PathKind::Launch, row.event);
        } else if let Some(last) = near {
            let gap = graph.gap(last, start);
            graph.edges.add(last, start, gap, PathKind::KernelKernel, row.event);
        }
        let place = *self.places.entry(row.stream).or_insert(self.last.len());
        match self.last.get_mut(place) {
            Some(known) => known.1 = end,
            None => self.last.push((row.stream, end)),
        }
    }
}

/// Work of each stream by the time of its launch, and records of events.
struct StreamQueues {
    streams: FxHashMap<i64, Vec<(i64, usize)>>,
    records: FxHashMap<i64, i64>,
}

impl StreamQueues {
    fn of(frame: &HtaFrame<'_>) -> Self {
        let (mut streams, mut records): (FxHashMap<i64, Vec<(i64, usize)>>, _) =
            (FxHashMap::default(), FxHashMap::default());
        for (at, row) in frame.rows.iter().enumerate() {
            let launch = row.partner.filter(|_| row.stream != -1 && frame.kind(at) != EventKind::Sync);
            if let Some(launch) = launch {
                streams.entry(row.stream).or_default().push((frame.rows[launch as usize].start, at));
            } else if row.name.is_record {
                records.insert(row.correlation, row.start);
            }
        }
        streams.values_mut().for_each(|queue| sort::by_key(queue, |(time, _)| *time));
        Self { streams, records }
    }

    /// The last work enqueued before the event of a wait was recorded.
    fn recorded(&self, frame: &HtaFrame<'_>, at: usize) -> Option<usize> {
        let time = self.records.get(&integer(frame, at, "wait_on_cuda_event_record_corr_id")?)?;
        let queue = self.streams.get(&integer(frame, at, "wait_on_stream")?)?;
        let end = queue.partition_point(|(enqueued, _)| enqueued < time);
        queue[..end].last().map(|(_, work)| *work)
    }

    /// The first work enqueued on a stream after a time.
    fn next(&self, stream: i64, time: i64) -> Option<usize> {
        let queue = self.streams.get(&stream)?;
        let start = queue.partition_point(|(enqueued, _)| *enqueued <= time);
        queue.get(start).map(|(_, work)| *work)
    }
}

fn integer(frame: &HtaFrame<'_>, at: usize, key: &str) -> Option<i64> {
    let (trace, event) = (frame.trace, frame.rows[at].event as usize);
    let mut pairs = trace.args.pairs(&trace.strings, trace.events.args(event));
    pairs.find(|(other, _)| *other == key).and_then(|(_, json)| plain_text(&json).parse().ok())
}
