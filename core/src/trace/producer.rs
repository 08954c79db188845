//! Gives events of other tools than Kineto their kinds, and their rows the side of a device.

use rustc_hash::FxHashMap;

use super::Trace;
use super::arg_key::ArgKey;
use super::args::ArgsRef;
use super::kind::EventKind;
use super::track::Stream;
use crate::id::{StrId, TemplateId, TrackId};
use crate::sort;
use crate::vendor::{self, EventNames, Producer, ToolName, TrackNames, TrackRole, Vendor};

impl Trace {
    /// The tool that wrote the trace; `None` for Kineto and for tools that are not known.
    pub fn producer(&self) -> Option<&'static Producer> {
        let text = |id: StrId| self.strings.text(id);
        let keys = self.header.iter().map(|(key, _)| ToolName::HeaderKey(text(*key)));
        let processes = self.processes.iter().map(|process| ToolName::Process(text(process.name)));
        let threads = self.tracks.iter().map(|track| ToolName::Thread(text(track.name)));
        let found = keys.chain(processes).chain(threads).find_map(vendor::producer);
        found.or_else(|| self.producer_of_events()).or_else(|| self.producer_of_arguments())
    }

    fn producer_of_events(&self) -> Option<&'static Producer> {
        let text = |id: StrId| self.strings.text(id);
        // All events of such a tool have one of its few categories.
        let first = self.events.category.iter().next()?;
        if first != StrId::EMPTY {
            return vendor::producer(ToolName::Category(text(first)));
        }
        let mut names = self.events.name.iter().take(MAX_NAMED).map(text);
        names.find_map(|name| vendor::producer(ToolName::Event(name)))
    }

    fn producer_of_arguments(&self) -> Option<&'static Producer> {
        let keys: Vec<_> = vendor::telling_arguments().filter_map(|key| self.strings.get(key.as_bytes())).collect();
        if keys.is_empty() {
            return None;
        }
        let rows = 0..self.events.len().min(MAX_NAMED);
        let is_telling = |key: StrId| keys.contains(&key);
        let mut pairs = rows.flat_map(|row| self.args.pairs_of(&self.strings, self.events.args(row), is_telling));
        pairs.find_map(|(key, json)| vendor::producer(ToolName::Argument(key, &json)))
    }

    /// The known tool that recorded the trace, if `PyTorch`'s profiler did not.
    ///
    /// ```
    /// use kinetoscope::{Input, Limits, read};
    /// let tool = |json: &str| Ok::<_, kinetoscope::Error>(read([Input::new(json.as_bytes())], Limits::default())?.other_tool());
    /// assert_eq!(tool(r#"[{"ph": "X", "cat": "FEE", "name": "f (a.py:1)", "ts": 1, "dur": 2}]"#)?, Some("VizTracer"));
    /// assert_eq!(tool(r#"[{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2}]"#)?, None);
    /// # Ok::<(), kinetoscope::Error>(())
    /// ```
    pub fn other_tool(&self) -> Option<&'static str> {
        let keys = || self.header.iter().map(|(key, _)| self.strings.text(*key));
        if let Some(title) = keys().find_map(vendor::database_title) {
            return Some(title);
        }
        self.producer().filter(|producer| !producer.records_pytorch).map(|producer| producer.title)
    }

    /// Whether `PyTorch` left its marks: operators, nodes, or keys of the header.
    pub fn is_of_pytorch(&self) -> bool {
        let mut keys = self.header.iter().map(|(key, _)| self.strings.text(*key));
        let has_marks = keys.any(|key| PYTORCH_KEYS.contains(&key))
            || !self.nodes.is_empty()
            || !self.execution_header.is_empty()
            || self.events.has(EventKind::Operator);
        has_marks && self.other_tool().is_none()
    }

    /// The tool in words.
    pub fn tool(&self) -> &'static str {
        let unknown = if self.is_of_pytorch() { "PyTorch" } else { "another tool" };
        self.other_tool().unwrap_or(unknown)
    }

    /// The vendor of the devices, where the file tells it: by its tool, by names of devices, or by
    /// calls.
    pub fn vendor(&self) -> Option<&'static Vendor> {
        let of_tool = self.producer().and_then(|producer| producer.vendor);
        let of_name = || self.device_names().iter().find_map(|name| vendor::of_device(name));
        let of_call = || {
            let launches = self.events.rows_of(|kind| kind == EventKind::Launch);
            launches.take(MAX_CALLS).find_map(|row| vendor::of_call(self.event_name(row)))
        };
        of_tool.or_else(of_name).or_else(of_call)
    }

    /// Whether a tool says that work on a row exchanges data with other ranks.
    pub(crate) fn communicates(&self, producer: &Producer, track: TrackId, lower: &str) -> bool {
        let track = self.track(track);
        let process = self.processes.iter().find(|process| process.process == track.process);
        let process = process.map_or("", |process| self.strings.text(process.name));
        producer.communicates(&TrackNames { process, ..TrackNames::default() }, lower)
    }

    /// Derives sides and kinds that categories do not tell, from names of processes and threads.
    pub(crate) fn settle_foreign_rows(&mut self) {
        let Some(producer) = self.producer() else { return };
        let roles = self.roles(producer);
        for (track, role) in self.tracks.iter_mut().zip(&roles) {
            if let Some((device, stream)) = role.stream {
                track.stream = Some(Stream { device, stream });
            }
        }
        self.number_devices(&roles);
        for row in 0..self.events.len() {
            let role = &roles[self.events.track.at(row).index()];
            let rule = match self.events.kind[row] {
                EventKind::Other => role.kind,
                kind if kind.is_device_work() => role.narrower,
                _ => continue,
            };
            if let Some(kind) = self.foreign_kind(rule, row) {
                self.events.kind[row] = kind;
            }
        }
        self.join_lists(producer.split_lists);
        if roles.iter().any(|role| role.repeats > 0) {
            self.settle_repeats(&roles);
        }
        if roles.iter().any(|role| role.nests) {
            self.settle_containers(&roles);
        }
    }

    fn roles(&self, producer: &Producer) -> Vec<TrackRole> {
        let text = |id: StrId| self.strings.text(id);
        let processes: FxHashMap<StrId, _> = self.processes.iter().map(|process| (process.process, process)).collect();
        let mut first_events: FxHashMap<usize, StrId> = FxHashMap::default();
        for (track, name) in self.events.track.iter().zip(self.events.name.iter()) {
            first_events.entry(track.index()).or_insert(name);
        }
        let mut with_streams: FxHashMap<StrId, bool> = FxHashMap::default();
        for track in &self.tracks {
            *with_streams.entry(track.process).or_default() |= text(track.name).starts_with("Stream");
        }
        let role = |(at, track): (usize, &super::track::Track)| {
            let process = processes.get(&track.process);
            producer.role(&TrackNames {
                process: process.map_or("", |process| text(process.name)),
                labels: process.map_or("", |process| text(process.labels)),
                thread: text(track.name),
                number: text(track.thread),
                event: first_events.get(&at).map_or("", |name| text(*name)),
                is_stream: track.stream.is_some(),
                has_streams: with_streams.get(&track.process).copied().unwrap_or_default(),
            })
        };
        self.tracks.iter().enumerate().map(role).collect()
    }

    /// Numbers devices without one in the order of the file, if there are several: work of two must
    /// not seem to be that of one.
    fn number_devices(&mut self, roles: &[TrackRole]) {
        let mut numbers: FxHashMap<StrId, i64> = FxHashMap::default();
        let is_unnumbered = |role: &TrackRole| matches!(role.stream, Some((None, Some(_))));
        for (track, _) in self.tracks.iter().zip(roles).filter(|(_, role)| is_unnumbered(role)) {
            let next = numbers.len() as i64;
            numbers.entry(track.process).or_insert(next);
        }
        if numbers.len() < 2 {
            return;
        }
        for track in &mut self.tracks {
            if let (Some(stream), Some(number)) = (&mut track.stream, numbers.get(&track.process)) {
                stream.device = Some(*number);
            }
        }
    }

    fn foreign_kind(&self, rule: fn(&EventNames<'_>) -> Option<EventKind>, row: usize) -> Option<EventKind> {
        let mut task = String::new();
        self.args.write_text(&self.strings, self.events.args(row), ArgKey::TaskType, &mut task);
        let (name, category) = (self.event_name(row), self.strings.text(self.events.category.at(row)));
        rule(&EventNames { name, category, task: &task })
    }

    /// Adds lists whose elements the tool wrote as single arguments. A list without one of its
    /// elements, or with one that is no count, stays unknown.
    fn join_lists(&mut self, lists: &[(&str, [&str; 3])]) {
        let known = |key: &str| self.strings.get(key.as_bytes());
        let lists: Vec<_> =
            lists.iter().filter_map(|(list, [x, y, z])| Some((*list, [known(x)?, known(y)?, known(z)?]))).collect();
        let lists: Vec<_> = lists.into_iter().map(|(list, parts)| (self.strings.intern(list), parts)).collect();
        let mut joined: FxHashMap<(TemplateId, Vec<(StrId, StrId)>), TemplateId> = FxHashMap::default();
        for row in 0..if lists.is_empty() { 0 } else { self.events.len() } {
            let args = self.events.args(row);
            let has = |key: StrId| self.args.template(args).fields().iter().any(|field| field.key == key);
            let missing: Vec<_> = lists.iter().filter(|(list, _)| !has(*list)).collect();
            let texts = missing.iter().filter_map(|(list, parts)| Some((*list, self.joined(args, parts)?)));
            let texts: Vec<(StrId, String)> = texts.collect();
            if texts.is_empty() {
                continue;
            }
            let more: Vec<_> = texts.iter().map(|(list, text)| (*list, self.strings.intern(text))).collect();
            let (own, strings) = (&mut self.args, &self.strings);
            let template = *joined
                .entry((args.template, more))
                .or_insert_with_key(|(_, more)| own.extended(strings, args, more).template);
            self.events.template.set(row, template);
        }
    }

    /// The JSON text of a list with these arguments, if all are counts.
    fn joined(&self, args: ArgsRef, parts: &[StrId; 3]) -> Option<String> {
        let mut counts = [None; 3];
        for (field, (_, json)) in self.args.template(args).fields().iter().zip(self.args.pairs(&self.strings, args)) {
            if let Some(at) = parts.iter().position(|part| *part == field.key) {
                counts[at] = json.trim_matches('"').parse::<u32>().ok().filter(|count| *count > 0);
            }
        }
        let [x, y, z] = counts;
        Some(format!("[{},{},{}]", x?, y?, z?))
    }

    /// Work that several rows of a device have counts once, on the row that is nearest to its
    /// stream.
    fn settle_repeats(&mut self, roles: &[TrackRole]) {
        let rows = self.events.device_work();
        let mut rows: Vec<usize> = rows.collect();
        let work = |row: usize| {
            (self.device(row), self.events.start.at(row), self.events.dur.at(row), self.events.name.at(row))
        };
        let distance = |row: usize| roles[self.events.track.at(row).index()].repeats;
        sort::by_key(&mut rows, |row| (work(*row), distance(*row), *row));
        let mut repeats: Vec<usize> = Vec::new();
        for same in rows.chunk_by(|row, next| work(*row) == work(*next)) {
            // How often it was found so far, at the distance that has it most often.
            let mut num_kept = 0;
            for alike in same.chunk_by(|row, next| distance(*row) == distance(*next)) {
                repeats.extend(alike.iter().take(num_kept));
                num_kept = num_kept.max(alike.len());
            }
        }
        repeats.into_iter().for_each(|row| self.events.kind[row] = EventKind::Annotation);
    }

    /// Work that contains other work of its row is no work of its own.
    fn settle_containers(&mut self, roles: &[TrackRole]) {
        let events = &mut self.events;
        let is_nested = |row: &usize| roles[events.track.at(*row).index()].nests && events.kind[*row].is_device_work();
        let mut rows: Vec<usize> = (0..events.len()).filter(is_nested).collect();
        sort::by_key(&mut rows, |row| {
            (events.track.at(*row).index(), events.start.at(*row), std::cmp::Reverse(events.dur.at(*row)), *row)
        });
        for pair in rows.windows(2) {
            let [outer, inner] = [pair[0], pair[1]];
            let is_inside = events.track.at(outer) == events.track.at(inner)
                && events.start.at(inner) < events.end(outer)
                && events.end(inner) <= events.end(outer);
            if is_inside {
                events.kind[outer] = EventKind::Other;
            }
        }
    }
}

/// Events that are looked at for their tool.
const MAX_NAMED: usize = 100;

/// Keys of the header that Kineto alone writes.
const PYTORCH_KEYS: [&str; 3] = ["schemaVersion", "deviceProperties", "distributedInfo"];

/// Calls that are looked at for their vendor.
const MAX_CALLS: usize = 1000;
