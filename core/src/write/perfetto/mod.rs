//! Writes traces of Perfetto (`.pftrace`), with the work of devices as stages on their queues.

mod annotations;
mod flows;
mod lanes;
mod message;
mod packets;
mod stages;
mod tracks;

use std::io;

use self::annotations::write_annotation;
use self::flows::SliceFlows;
use self::lanes::lane_marks;
use self::message::WireMessage;
use self::packets::PacketWriter;
use self::stages::{StageWriter, are_stages, event_id};
use self::tracks::TrackIds;
use crate::id::{StrId, TrackId};
use crate::link::LinkedTrace;
use crate::perfetto::{FLOW_NAMES, interned, legacy, packet, track_event};
use crate::time::Ts;
use crate::trace::Trace;
use crate::trace::args::{ArgsRef, plain_text};
use crate::trace::kept_defects;

/// The year 2000: later times count from 1970.
const CENTURY: Ts = Ts(946_684_800_000_000_000);

/// Writes the trace in Perfetto's format. It reads back with the same events, arguments, counters,
/// instants and header; ids are other ones.
///
/// Slices of a thread that overlap become several tracks, so that Perfetto shows all of them. Each
/// launch refers to its device work, and work to the work that it waited for. Flows between threads
/// are kept where they start and end in a slice.
///
/// # Errors
/// Those of `out`.
///
/// ```
/// use kinetoscope::{Input, LinkedTrace, Limits, read, write::perfetto::write_perfetto};
/// let json = br#"[{"ph": "X", "name": "aten::add", "pid": 1, "tid": 2, "ts": 5.1, "dur": 2}]"#;
/// let mut out = Vec::new();
/// write_perfetto(&LinkedTrace::new(read([Input::new(json)], Limits::default())?), &mut out).unwrap();
/// assert_eq!(read([Input::new(&out)], Limits::default())?.events.start.at(0).0, 5_100);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn write_perfetto(linked: &LinkedTrace, out: &mut dyn io::Write) -> io::Result<()> {
    let trace = &linked.trace;
    let first = first_time(trace);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); trace.tracks.len()];
    for row in 0..trace.events.len() {
        rows[trace.events.track.at(row).index()].push(row);
    }
    let is_stage: Vec<bool> = rows.iter().zip(0..).map(|(rows, at)| are_stages(trace, TrackId(at), rows)).collect();
    let mut writer = PerfettoWriter {
        linked,
        trace,
        packets: PacketWriter::new(out, first.0.min(0)),
        tracks: TrackIds::new(trace),
        flows: SliceFlows::new(trace, |track| is_stage[track.index()]),
        is_stage,
    };
    writer.clocks(first)?;
    writer.header()?;
    writer.slices(rows)?;
    writer.instants()?;
    writer.counters()?;
    out.flush()
}

/// The first time of all rows.
fn first_time(trace: &Trace) -> Ts {
    let points = trace.instants.iter().map(|row| row.time).chain(trace.counters.iter().map(|row| row.time));
    trace.events.start.iter().chain(points).min().unwrap_or_default()
}

struct PerfettoWriter<'t, 'o> {
    linked: &'t LinkedTrace,
    trace: &'t Trace,
    packets: PacketWriter<'t, 'o>,
    tracks: TrackIds<'t>,
    flows: SliceFlows,
    /// Whether the rows of a track are stages, by track.
    is_stage: Vec<bool>,
}

impl PerfettoWriter<'_, '_> {
    /// Says that times count from 1970, if they do: the clock of the trace is the real one.
    fn clocks(&mut self, first: Ts) -> io::Result<()> {
        const BOOTTIME: u64 = 6;
        const REALTIME: u64 = 1;
        if first < CENTURY {
            return Ok(());
        }
        self.packets.packet(Some(first), packet::CLOCK_SNAPSHOT, |packets, snapshot| {
            for id in [BOOTTIME, REALTIME] {
                snapshot.message(1, |clock| {
                    clock.number(1, id);
                    clock.number(2, packets.timestamp(first));
                });
            }
        })
    }

    fn header(&mut self) -> io::Result<()> {
        let (trace, flows) = (self.trace, &self.flows);
        let text = |id: StrId| trace.strings.text(id);
        let own = (!flows.names.is_empty()).then_some((FLOW_NAMES, flows.names.as_str()));
        let defects = kept_defects::counts(trace).map(|counts| counts.to_string());
        let defects = defects.as_deref().map(|counts| (kept_defects::KEY, counts));
        let header = trace.header.iter().map(|(key, value)| (text(*key), text(*value))).chain(own).chain(defects);
        self.packets.packet(None, packet::CHROME_EVENTS, |_, bundle| {
            for (key, json) in header {
                bundle.message(2, |entry| {
                    entry.text(1, key.as_bytes());
                    entry.text(5, json.as_bytes());
                });
            }
        })
    }

    /// Writes the events, track by track.
    fn slices(&mut self, rows: Vec<Vec<usize>>) -> io::Result<()> {
        let trace = self.trace;
        let mut stages = StageWriter::new(trace);
        for process in &trace.processes {
            self.tracks.process(&mut self.packets, process.process)?;
        }
        for (at, rows) in rows.into_iter().enumerate() {
            let track = TrackId(at as u32);
            if self.is_stage[at] {
                rows.into_iter().try_for_each(|row| stages.write(&mut self.packets, row, &self.flows))?;
            } else {
                self.thread(track, rows)?;
            }
        }
        Ok(())
    }

    fn thread(&mut self, track: TrackId, rows: Vec<usize>) -> io::Result<()> {
        const BEGIN: u64 = 1;
        const END: u64 = 2;
        for mark in lane_marks(self.trace, rows) {
            let uuid = self.tracks.thread(&mut self.packets, track, mark.lane)?;
            let (trace, linked, flows, is_stage) = (self.trace, self.linked, &self.flows, &self.is_stage);
            self.packets.packet(Some(mark.time), packet::TRACK_EVENT, |packets, event| {
                event.number(track_event::TYPE, if mark.is_end { END } else { BEGIN });
                event.number(track_event::TRACK, uuid);
                if mark.is_end {
                    return;
                }
                let (events, row) = (&trace.events, mark.row);
                write_names(packets, event, trace, (events.name.at(row), events.category.at(row)));
                write_args(packets, event, trace, events.args(row));
                for flow in flows.by_row.get(&row).into_iter().flatten() {
                    event.fixed(if flow.is_last { track_event::LAST_FLOW } else { track_event::FLOW }, flow.number);
                }
                let is_work = |work: &usize| is_stage[events.track.at(*work).index()];
                let mut launched = linked.links.launched.of(row).filter(is_work).peekable();
                if launched.peek().is_some() {
                    event.message(track_event::LAUNCHED, |ids| launched.for_each(|work| ids.number(1, event_id(work))));
                }
            })?;
        }
        Ok(())
    }

    fn instants(&mut self) -> io::Result<()> {
        const INSTANT: u64 = 3;
        let trace = self.trace;
        for row in &trace.instants {
            let uuid = self.tracks.thread(&mut self.packets, row.track, 0)?;
            self.packets.packet(Some(row.time), packet::TRACK_EVENT, |packets, event| {
                event.number(track_event::TYPE, INSTANT);
                event.number(track_event::TRACK, uuid);
                write_names(packets, event, trace, (row.name, row.category));
                write_args(packets, event, trace, row.args);
                if let Some(scope) = scope_of(trace, row.args) {
                    event.message(track_event::LEGACY, |legacy| legacy.number(legacy::SCOPE, scope));
                }
            })?;
        }
        Ok(())
    }

    fn counters(&mut self) -> io::Result<()> {
        const COUNTER: u64 = 4;
        for row in &self.trace.counters {
            if row.value.is_nan() {
                continue;
            }
            let uuid = self.tracks.counter(&mut self.packets, row.track, (row.name, row.series))?;
            self.packets.packet(Some(row.time), packet::TRACK_EVENT, |_, event| {
                event.number(track_event::TYPE, COUNTER);
                event.number(track_event::TRACK, uuid);
                let is_whole = row.value.fract() == 0.0 && row.value.abs() < (1_u64 << 53) as f64;
                if is_whole {
                    event.signed(track_event::COUNTER_VALUE, row.value as i64);
                } else {
                    event.fixed(track_event::DOUBLE_COUNTER_VALUE, row.value.to_bits());
                }
            })?;
        }
        Ok(())
    }
}

fn write_names<'t>(
    packets: &mut PacketWriter<'t, '_>,
    event: &mut WireMessage,
    trace: &'t Trace,
    (name, category): (StrId, StrId),
) {
    let id = packets.id(interned::EVENT, trace.strings.text(name));
    event.number(track_event::NAME_IID, id);
    if category != StrId::EMPTY {
        let id = packets.id(interned::CATEGORY, trace.strings.text(category));
        event.number(track_event::CATEGORY_IID, id);
    }
}

/// The number of an instant's scope, the key `s` beside `args`.
fn scope_of(trace: &Trace, args: ArgsRef) -> Option<u64> {
    let fields = trace.args.template(args).fields().iter().zip(trace.args.pairs(&trace.strings, args));
    let (_, (_, json)) = fields.filter(|(field, _)| field.is_outer).find(|(_, (key, _))| *key == "s")?;
    let at = legacy::SCOPES.iter().position(|scope| plain_text(&json) == *scope)?;
    Some(at as u64 + 1)
}

/// Writes all arguments, also those that stand beside `args`.
fn write_args<'t>(packets: &mut PacketWriter<'t, '_>, event: &mut WireMessage, trace: &'t Trace, args: ArgsRef) {
    let template = trace.args.template(args);
    let pairs = template.fields().iter().zip(trace.args.pairs(&trace.strings, args));
    for (field, (key, json)) in pairs {
        if !field.is_outer || !IN_OTHER_FORM.contains(&key) {
            write_annotation(packets, event, key, &json);
        }
    }
}

/// Keys beside `args` that Perfetto has in another form, or not at all.
const IN_OTHER_FORM: [&str; 3] = ["s", "bp", "dur"];
