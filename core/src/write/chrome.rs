//! Writes Chrome's JSON as Kineto does, for other viewers.

use std::io;

use super::micros::write_micros;
use crate::id::StrId;
use crate::json::write_string;
use crate::sort;
use crate::time::{Dur, Ts};
use crate::trace::Trace;
use crate::trace::args::{ArgsRef, FieldValue};
use crate::trace::flow::{FlowId, GAP};

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
/// assert_eq!(read([Input::new(&out)], Limits::default())?.events.start[0].0, 5_100);
/// # Ok::<(), kinetoscope::Error>(())
/// ```
pub fn write_chrome(trace: &Trace, out: &mut dyn io::Write) -> io::Result<()> {
    let mut text = String::from("{");
    for (key, value) in &trace.header {
        write_string(&mut text, trace.strings.text(*key));
        text.push(':');
        text.push_str(trace.strings.text(*value));
        text.push_str(",\n");
    }
    text.push_str("\"traceEvents\":[\n");
    out.write_all(text.as_bytes())?;
    let mut writer = ChromeWriter { trace, text, base_ns: trace.base_ns };
    for (at, element) in in_order(trace).enumerate() {
        writer.text.clear();
        writer.text.push_str(if at == 0 { "" } else { ",\n" });
        writer.element(element);
        out.write_all(writer.text.as_bytes())?;
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
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
    let events = trace.events.position.iter().copied().zip((0..).map(ChromeElement::Event));
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
}

impl ChromeWriter<'_> {
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
        self.open("X", events.name[row], events.category[row]);
        let track = trace.track(events.track[row]);
        self.place(track.process, track.thread);
        self.time(events.start[row]);
        self.text.push_str(",\"dur\":");
        let Dur(dur) = events.impossible_dur(row).unwrap_or(events.dur[row]);
        write_micros(&mut self.text, dur, dur % 1000 != 0);
        self.close(events.args(row));
    }

    fn flow(&mut self, row: usize) {
        let flow = &self.trace.flows[row];
        let track = self.trace.track(flow.track);
        self.open(flow.phase.letter(), flow.name, flow.category);
        self.text.push_str(",\"id\":");
        match flow.id {
            FlowId::Number(id) => self.text.push_str(&id.to_string()),
            FlowId::Text(id) => write_string(&mut self.text, self.trace.strings.text(id)),
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
        for (key, value) in [(",\"pid\":", process), (",\"tid\":", thread)] {
            if value == StrId::EMPTY {
                continue;
            }
            self.text.push_str(key);
            let text = self.trace.strings.text(value);
            if text.parse::<i64>().is_ok_and(|number| number.to_string() == text) {
                self.text.push_str(text);
            } else {
                write_string(&mut self.text, text);
            }
        }
    }

    fn time(&mut self, time: Ts) {
        self.text.push_str(",\"ts\":");
        write_micros(&mut self.text, time.0.wrapping_sub(self.base_ns), !self.trace.has_coarse_times);
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
