//! Writes Chrome's JSON as Kineto does, for other viewers.

use std::io;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::micros::write_micros;
use crate::id::StrId;
use crate::json::write_string;
use crate::link::LinkedTrace;
use crate::link::rank::JobRanks;
use crate::sort;
use crate::time::{Dur, Ts};
use crate::trace::Trace;
use crate::trace::args::{ArgsRef, FieldValue};
use crate::trace::flow::{FlowId, GAP};
use crate::trace::group::{DISTRIBUTED, DISTRIBUTED_OF_RANKS};
use crate::trace::kept_defects;
use crate::trace::track::process_label;

/// Writes the trace as JSON that reads back to an equal trace: the same tables with the same ids.
///
/// Elements are in the order of the file. A pair of begin and end is written as one complete
/// element; where the file had an element that is not kept, a metadata element without meaning
/// stands.
///
/// # Errors
/// Those of `out`.
///
/// ```
/// use kinetoscope::{Input, Limits, read, write::chrome::write_chrome};
/// let json = br#"[{"ph": "X", "name": "aten::add", "pid": 1, "tid": 2, "ts": 5.1, "dur": 2}]"#;
/// let mut out = Vec::new();
/// write_chrome(&read([Input::new(json)], Limits::default())?, &mut out).unwrap();
/// assert_eq!(read([Input::new(&out)], Limits::default())?.events.start.at(0).0, 5_100);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn write_chrome(trace: &Trace, out: &mut dyn io::Write) -> io::Result<()> {
    let mut text = String::from("{");
    write_header(&mut text, trace, |_| true);
    write_entry(&mut text, kept_defects::KEY, kept_defects::counts(trace).map(|counts| counts.to_string()).as_deref());
    text.push_str("\"traceEvents\":[\n");
    out.write_all(text.as_bytes())?;
    let base_ns = trace.base_ns;
    let mut writer = ChromeWriter { trace, text, base_ns, label: String::new(), shift_ns: 0, first_flow: 0 };
    writer.elements(in_order(trace), true, out)?;
    out.write_all(b"\n]}\n")?;
    out.flush()
}

/// Writes the traces of a job as one file for other viewers. A process is named by its rank and its
/// number, as `rank 3: 4242`, so that [`MergedRanks`](crate::link::MergedRanks) finds the ranks.
/// With `is_aligned`, times are those of the clock of the first trace, as far as communications
/// tell; else they are as recorded.
///
/// The header is that of the first trace, with the process groups of each rank in place of its own.
/// Elements that were not kept have no place, so ids are other ones.
///
/// # Errors
/// Those of `out`.
pub fn write_chrome_of_job(
    traces: &[(Option<i64>, Arc<LinkedTrace>)],
    is_aligned: bool,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let ranks = JobRanks::new(traces.to_vec(), is_aligned);
    let first = traces.first().map(|(_, linked)| &linked.trace);
    let mut text = String::from("{");
    if let Some(trace) = first {
        write_header(&mut text, trace, |key| !OF_RANK.contains(&key));
    }
    write_entry(&mut text, kept_defects::KEY_OF_RANKS, by_rank(traces, kept_defects::counts).as_deref());
    let groups = by_rank(traces, |trace| trace.header_value(DISTRIBUTED));
    write_entry(&mut text, DISTRIBUTED_OF_RANKS, groups.as_deref());
    text.push_str("\"traceEvents\":[\n");
    out.write_all(text.as_bytes())?;
    let (mut is_first, mut first_flow) = (true, 0_u64);
    for (at, member) in ranks.members.iter().enumerate() {
        let trace = &member.linked.trace;
        let shift_ns = member.clock.filter(|_| is_aligned).map_or(0, |clock| clock.offset_ns);
        let base_ns = first.map_or(0, |trace| trace.base_ns);
        let label = process_label(member.rank, at);
        let mut writer = ChromeWriter { trace, text: std::mem::take(&mut text), base_ns, label, shift_ns, first_flow };
        let kept = in_order(trace).filter(|element| !matches!(element, ChromeElement::Gap));
        is_first = writer.elements(kept, is_first, out)?;
        let last = trace.flows.iter().filter_map(|flow| if let FlowId::Number(id) = flow.id { Some(id) } else { None });
        first_flow = first_flow.saturating_add(last.max().map_or(0, |last| last.saturating_add(1)));
        text = writer.text;
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}

/// Keys of a header that tell of one rank alone.
const OF_RANK: [&str; 4] = [DISTRIBUTED, "traceName", "trace_id", "kinetoscope_edits"];

/// Writes some keys of the header.
fn write_header(text: &mut String, trace: &Trace, is_wanted: impl Fn(&str) -> bool) {
    for (key, value) in trace.header.iter().filter(|(key, _)| is_wanted(trace.strings.text(*key))) {
        write_string(text, trace.strings.text(*key));
        text.push(':');
        text.push_str(trace.strings.text(*value));
        text.push_str(",\n");
    }
}

fn write_entry(text: &mut String, key: &str, json: Option<&str>) {
    if let Some(json) = json {
        write_string(text, key);
        text.push(':');
        text.push_str(json);
        text.push_str(",\n");
    }
}

/// A fact of each trace by its rank, or by its place where no rank is known.
fn by_rank(traces: &[(Option<i64>, Arc<LinkedTrace>)], fact: fn(&Trace) -> Option<Value>) -> Option<String> {
    let places = (0..).zip(traces);
    let of_rank = |(at, (rank, linked)): (i64, &(Option<i64>, Arc<LinkedTrace>))| {
        Some((rank.unwrap_or(at).to_string(), fact(&linked.trace)?))
    };
    let all: Map<String, Value> = places.filter_map(of_rank).collect();
    (!all.is_empty()).then(|| Value::Object(all).to_string())
}

/// An element of `traceEvents`: a row of one of the tables.
#[derive(Debug, Clone, Copy)]
enum ChromeElement {
    Event(usize),
    Instant(usize),
    Counter(usize),
    Flow(usize),
    Metadata(usize),
    Gap,
}

/// All elements, in the order of the file.
fn in_order(trace: &Trace) -> impl Iterator<Item = ChromeElement> + '_ {
    let events = trace.events.position.iter().zip((0..).map(ChromeElement::Event));
    let instants = trace.instants.iter().map(|row| row.position).zip((0..).map(ChromeElement::Instant));
    let counters = trace.counters.iter().map(|row| row.position).zip((0..).map(ChromeElement::Counter));
    let flows = trace.flows.iter().map(|row| row.position).zip((0..).map(ChromeElement::Flow));
    let metadata = trace.metadata.iter().map(|row| row.position).zip((0..).map(ChromeElement::Metadata));
    let mut all: Vec<_> = events.chain(instants).chain(counters).chain(flows).chain(metadata).collect();
    sort::by_key(&mut all, |(position, _)| *position);
    // Several counters may be series of one element.
    all.dedup_by_key(|(position, _)| *position);
    let mut next = 0;
    all.into_iter().flat_map(move |(position, element)| {
        let num_gaps = position - next;
        next = position + 1;
        std::iter::repeat_n(ChromeElement::Gap, num_gaps as usize).chain([element])
    })
}

struct ChromeWriter<'a> {
    trace: &'a Trace,
    text: String,
    base_ns: i64,
    /// Text before the numbers of processes, to tell those of several traces apart.
    label: String,
    /// Time by which the clock of the trace is ahead.
    shift_ns: i64,
    /// Number that is added to those of flows, likewise.
    first_flow: u64,
}

impl ChromeWriter<'_> {
    /// Writes elements; `is_first` tells whether none was written before, and so does the result.
    fn elements(
        &mut self,
        elements: impl Iterator<Item = ChromeElement>,
        mut is_first: bool,
        out: &mut dyn io::Write,
    ) -> io::Result<bool> {
        for element in elements {
            self.text.clear();
            self.text.push_str(if std::mem::take(&mut is_first) { "" } else { ",\n" });
            self.element(element);
            out.write_all(self.text.as_bytes())?;
        }
        self.text.clear();
        Ok(is_first)
    }

    fn element(&mut self, element: ChromeElement) {
        let trace = self.trace;
        match element {
            ChromeElement::Event(row) => self.event(row),
            ChromeElement::Instant(row) => {
                let row = &trace.instants[row];
                self.open("i", row.name, row.category);
                self.place(trace.track(row.track).process, trace.track(row.track).thread);
                self.time(row.time);
                self.close(row.args);
            }
            ChromeElement::Counter(row) => {
                let row = &trace.counters[row];
                self.open("C", row.name, StrId::EMPTY);
                self.place(trace.track(row.track).process, trace.track(row.track).thread);
                self.time(row.time);
                self.close(row.args);
            }
            ChromeElement::Flow(row) => self.flow(row),
            ChromeElement::Metadata(row) => {
                let row = &trace.metadata[row];
                self.open("M", row.name, StrId::EMPTY);
                self.place(row.process, row.thread);
                if let Some(time) = row.time {
                    self.time(time);
                }
                self.close(row.args);
            }
            ChromeElement::Gap => {
                self.text.push_str("{\"ph\":\"M\",\"name\":\"");
                self.text.push_str(GAP);
                self.text.push_str("\",\"pid\":0,\"tid\":0}");
            }
        }
    }

    fn event(&mut self, row: usize) {
        let (trace, events) = (self.trace, &self.trace.events);
        self.open("X", events.name.at(row), events.category.at(row));
        let track = trace.track(events.track.at(row));
        self.place(track.process, track.thread);
        self.time(events.start.at(row));
        self.text.push_str(",\"dur\":");
        let Dur(dur) = events.impossible_dur(row).unwrap_or(events.dur.at(row));
        write_micros(&mut self.text, dur, dur % 1000 != 0);
        self.close(events.args(row));
    }

    fn flow(&mut self, row: usize) {
        let flow = &self.trace.flows[row];
        let track = self.trace.track(flow.track);
        self.open(flow.phase.letter(), flow.name, flow.category);
        self.text.push_str(",\"id\":");
        match flow.id {
            FlowId::Number(id) => self.text.push_str(&id.saturating_add(self.first_flow).to_string()),
            FlowId::Text(id) => {
                let text = [&self.label, self.trace.strings.text(id)].concat();
                write_string(&mut self.text, &text);
            }
        }
        self.place(track.process, track.thread);
        self.time(flow.time);
        self.close(flow.args);
    }

    fn open(&mut self, phase: &str, name: StrId, category: StrId) {
        self.text.push_str("{\"ph\":\"");
        self.text.push_str(phase);
        self.text.push('"');
        if category != StrId::EMPTY {
            self.text.push_str(",\"cat\":");
            write_string(&mut self.text, self.trace.strings.text(category));
        }
        self.text.push_str(",\"name\":");
        write_string(&mut self.text, self.trace.strings.text(name));
    }

    fn place(&mut self, process: StrId, thread: StrId) {
        for (key, value, is_labelled) in [(",\"pid\":", process, !self.label.is_empty()), (",\"tid\":", thread, false)]
        {
            if value == StrId::EMPTY && !is_labelled {
                continue;
            }
            self.text.push_str(key);
            let text = self.trace.strings.text(value);
            if is_labelled {
                let text = [&self.label, text].concat();
                write_string(&mut self.text, text.trim_end());
            } else if text.parse::<i64>().is_ok_and(|number| number.to_string() == text) {
                self.text.push_str(text);
            } else {
                write_string(&mut self.text, text);
            }
        }
    }

    fn time(&mut self, time: Ts) {
        self.text.push_str(",\"ts\":");
        let ns = time.0.wrapping_sub(self.shift_ns).wrapping_sub(self.base_ns);
        write_micros(&mut self.text, ns, !self.trace.has_coarse_times || ns % 1000 != 0);
    }

    /// Writes the keys beside `args`, then `args`, then the closing bracket.
    fn close(&mut self, args: ArgsRef) {
        let (trace, template) = (self.trace, self.trace.args.template(args));
        for field in template.fields().iter().filter(|field| field.is_outer) {
            if let FieldValue::Json(value) = field.value {
                self.text.push(',');
                write_string(&mut self.text, trace.strings.text(field.key));
                self.text.push(':');
                self.text.push_str(trace.strings.text(value));
            }
        }
        let pairs = template.fields().iter().zip(trace.args.pairs(&trace.strings, args));
        for (at, (_, (key, value))) in pairs.filter(|(field, _)| !field.is_outer).enumerate() {
            self.text.push_str(if at == 0 { ",\"args\":{" } else { "," });
            write_string(&mut self.text, key);
            self.text.push(':');
            self.text.push_str(&value);
        }
        if template.fields().iter().any(|field| !field.is_outer) {
            self.text.push('}');
        }
        self.text.push('}');
    }
}
