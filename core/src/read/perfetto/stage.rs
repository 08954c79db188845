//! Stages of rendering: kernels, copies and ranges on the streams of devices.

use super::arrow::DeviceWork;
use super::intern::{PerfettoSequence, PerfettoTexts};
use super::packet_key::PacketKey;
use super::part::PacketPart;
use super::render_stage::{RenderStage, STREAM, named_text, whole, write_argument, write_launch_key};
use super::stream::stream_of;
use super::target::PerfettoTarget;
use super::thread_count::THREAD_COUNT;
use crate::json::{Scanner, canonical};
use crate::perfetto::{RECORDED_STREAM, stage};
use crate::read::element_shape::OwnValues;
use crate::read::event_text::write_shape;
use crate::read::json_object::{JsonObject, push_double, push_integer, push_text, push_unsigned};
use crate::read::wire::{WireFields, WireValue, all_bytes_in, bytes_in, number_in, numbers_of, values_in};
use crate::time::Ts;
use crate::trace::kind::category_kind;

/// The kind of a stage that computes.
const COMPUTE: u64 = 2;

/// A stage in the bytes of its packet.
#[derive(Clone, Copy)]
struct PacketStage<'p> {
    stage: &'p RenderStage,
    message: &'p [u8],
    name: Option<&'p [u8]>,
    launch: Option<&'p [u8]>,
}

impl<'p> PacketStage<'p> {
    fn name<'n>(&self, texts: &'n PerfettoTexts) -> Option<&'n [u8]>
    where
        'p: 'n,
    {
        let RenderStage { name_iid, kernel_iid, .. } = *self.stage;
        self.name.or_else(|| texts.names.text(name_iid).or_else(|| texts.kernels.text(kernel_iid)))
    }

    /// Names of the queue and of the stage, and the kind of the stage.
    fn names<'n>(&self, sequence: &'n PerfettoSequence) -> (&'n [u8], &'n [u8], u64) {
        let queues = &sequence.texts.queues;
        let [by_queue, by_stage] = &sequence.specifications;
        let at = |names: &'n Vec<Vec<u8>>, at: u64| {
            usize::try_from(at).ok().and_then(|at| names.get(at)).map(Vec::as_slice).unwrap_or_default()
        };
        let queue = match self.stage.queue_iid {
            Some(iid) => queues.get(iid).map(|(name, _)| name.as_slice()).unwrap_or_default(),
            None => at(by_queue, self.stage.queue),
        };
        match queues.get(self.stage.stage_iid) {
            Some((name, kind)) => (queue, name, *kind),
            None => (queue, at(by_stage, self.stage.stage), 0),
        }
    }

    /// Adds all but the arguments to the key. These are written again where the stream is another
    /// than the one that they tell.
    fn finish_key(&self, key: &mut PacketKey, sequence: &PerfettoSequence, stream: i64) {
        let stage = self.stage;
        if stage.tells_stream && stage.told_stream != Some(stream) {
            key.clear();
            let extras = all_bytes_in(self.message, stage::EXTRA).map(named_text);
            extras.for_each(|extra| write_argument(key, extra, Some(stream)));
            write_launch_key(key, self.launch, &|argument| argument_name(argument, sequence) == Some(THREAD_COUNT));
        }
        key.kind([b'S', 0, 0], sequence.id, sequence.edition);
        key.number(Some(stage.device as u64));
        // Where its queue has no number, the stream is the number of the queue itself.
        key.number(stage.queue_iid);
        [stage.queue, stage.stage, stage.stage_iid].into_iter().for_each(|number| key.number(Some(number)));
        key.text_or_number(self.name, Some(stage.name_iid));
        key.number(Some(stage.kernel_iid));
    }
}

/// Kineto's category for a stage. A stage may have its name.
fn category(stage: &[u8], kind: u64) -> &[u8] {
    let is_category = |stage: &[u8]| std::str::from_utf8(stage).is_ok_and(|name| category_kind(name).1);
    match stage {
        b"Kernel" => b"kernel",
        b"Memcpy" => b"gpu_memcpy",
        b"Memset" => b"gpu_memset",
        b"Annotation" => b"gpu_user_annotation",
        b"EventRecord" => b"graph_event_node",
        b"HostNode" => b"graph_host_node",
        _ if is_category(stage) => stage,
        _ if kind == COMPUTE => b"kernel",
        _ => b"gpu_render_stage",
    }
}

/// Kineto's words for arguments, by those in stages.
const WORDS: [(&str, &str); 3] = [("device id", "device"), ("context id", "context"), (RECORDED_STREAM, "stream")];

/// Takes the names of queues and stages that a packet describes itself.
fn take_specifications(sequence: &mut PerfettoSequence, specifications: &[u8]) {
    let named = |wanted: u32| {
        let name = |value: WireValue<'_>| Some(bytes_in(value.bytes()?, 1)?.to_vec());
        values_in(specifications, wanted).map(|value| name(value).unwrap_or_default()).collect()
    };
    let named = [named(2), named(3)];
    if sequence.specifications != named {
        sequence.specifications = named;
        sequence.edition += 1;
    }
}

/// Writes work of a device.
pub(super) fn write_stage(
    target: &mut PerfettoTarget<'_>,
    sequence: &mut PerfettoSequence,
    start: i64,
    stage: &RenderStage,
    [bytes, message]: [&[u8]; 2],
) {
    let part = |part: Option<PacketPart>| part.map(|part| part.of(bytes));
    if let Some(specifications) = part(stage.specifications) {
        take_specifications(sequence, specifications);
    }
    let own = PacketStage { stage, message, name: part(stage.name), launch: part(stage.launch) };
    let (queue, stage_name, kind) = own.names(sequence);
    let (number, queue_name) = stream_of(queue);
    let stream = number.unwrap_or_else(|| i64::try_from(stage.queue_iid.unwrap_or(stage.queue)).unwrap_or(i64::MAX));
    let PerfettoTarget { events, key, streams, tracks, .. } = target;
    streams.name((stage.device, stream), queue_name, tracks, events);
    own.finish_key(key, sequence, stream);
    let dur = i64::try_from(stage.dur).unwrap_or(i64::MAX);
    target.put(None, OwnValues::exact(start, dur), |event, _| {
        event.text("ph", b"X");
        event.text("cat", category(stage_name, kind));
        event.text("name", own.name(&sequence.texts).unwrap_or(stage_name));
        event.integer("pid", stage.device);
        event.integer("tid", stream);
        event.plain_micros("ts", Ts(start));
        event.plain_micros("dur", Ts(dur));
        event.object("args", |args| {
            write_extra(args, message, stream);
            if let Some(launch) = own.launch {
                write_launch(args, launch, sequence);
            }
        });
    });
    if stage.id == 0 {
        return;
    }
    let end = start.saturating_add(dur);
    let arrows = &mut target.arrows;
    arrows.works.push(DeviceWork { id: stage.id, start, end, device: stage.device, stream });
    if stage.has_waits {
        for value in values_in(message, stage::WAITS_FOR) {
            numbers_of(value, false, |earlier| arrows.waits.push((stage.id, earlier)));
        }
    }
}

/// Writes the arguments beside the launch. All are texts: numbers, lists and objects among them
/// are those again.
fn write_extra(args: &mut JsonObject<'_>, message: &[u8], stream: i64) {
    for (key, value) in all_bytes_in(message, stage::EXTRA).map(named_text) {
        // Work of graphs may be shown in other rows than those of its stream.
        if key == STREAM {
            args.integer("stream", stream);
            if whole(value) != Some(stream) {
                push_json_or_text(args.field("original_stream"), value);
            }
            continue;
        }
        let word = WORDS.iter().find(|(own, _)| own.as_bytes() == key).map_or(key, |(_, word)| word.as_bytes());
        push_json_or_text(args.field_of(word), value);
    }
}

/// Appends a text that is a JSON value as that, and any other as a text.
fn push_json_or_text(out: &mut Vec<u8>, text: &[u8]) {
    let is_value = match text {
        [b'0'..=b'9' | b'-', ..] => is_number(text),
        [b'[' | b'{' | b'"', ..] | b"true" | b"false" | b"null" => {
            let mut scanner = Scanner::new(text);
            scanner.skip_value().is_ok_and(|value| value.len() == text.len()) && canonical(text).is_strict
        }
        _ => false,
    };
    if is_value { out.extend_from_slice(text) } else { push_text(out, text) }
}

/// Whether a text is a number as JSON writes it: `007` is none.
fn is_number(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_padded = matches!(digits, [b'0', b'0'..=b'9', ..]);
    !is_padded
        && digits.first().is_some_and(u8::is_ascii_digit)
        && canonical(text).is_strict
        && canonical(text).text.as_bytes() == text
}

fn argument_name<'n>(argument: &'n [u8], sequence: &'n PerfettoSequence) -> Option<&'n [u8]> {
    bytes_in(argument, 2).or_else(|| sequence.texts.arguments.text(number_in(argument, 1)?))
}

/// Writes the shape of a launch, and its other arguments.
fn write_launch(args: &mut JsonObject<'_>, launch: &[u8], sequence: &PerfettoSequence) {
    for (field, key) in [(1, "grid"), (2, "block")] {
        if let Some(sides) = bytes_in(launch, field) {
            let side = |field: u32| Some(number_in(sides, field).map_or(0, |side| side as i64));
            write_shape(args, key, [side(1), side(2), side(3)]);
        }
    }
    for argument in all_bytes_in(launch, 3) {
        let Some(name) = argument_name(argument, sequence) else { continue };
        let key = match name {
            b"registers_per_thread" => &b"registers per thread"[..],
            b"shared_mem_dynamic" => b"dynamic shared memory",
            THREAD_COUNT => continue,
            other => other,
        };
        let value = WireFields::new(argument).find(|(field, _)| (3..=6).contains(field));
        match value {
            Some((5, WireValue::Number(bits))) => {
                push_double(args.field_of(key), f64::from_bits(bits));
            }
            Some((4, WireValue::Number(number))) => push_unsigned(args.field_of(key), number),
            Some((3, WireValue::Number(number))) => push_integer(args.field_of(key), number as i64),
            Some((6, WireValue::Bytes(text))) => push_text(args.field_of(key), text),
            _ => {}
        }
    }
}
