//! Tests that an event of Perfetto becomes the same row whatever stood before it.

use kinetoscope::trace::args::ArgsRef;
use kinetoscope::{Input, Limits, Trace, read};

use crate::perfetto_packets::{Wire, file, thread, wire};

/// Numbers that repeat, of all sizes.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn number(&mut self) -> u64 {
        match self.roll(6) {
            0 => 0,
            1 => self.roll(1000),
            2 => (self.roll(1000) as i64).wrapping_neg() as u64,
            3 => 10_u64.pow(self.roll(20) as u32) - 1,
            4 => i64::MIN as u64,
            _ => self.roll(u64::MAX),
        }
    }

    fn double(&mut self) -> u64 {
        let doubles = [0.0, -0.0, 0.1, 12.5, 1e300, 1e-9, f64::NAN, -7.0, 123_456_789.125];
        f64::to_bits(doubles[self.roll(9) as usize] * self.roll(3) as f64)
    }
}

/// An annotation of one of many kinds, well or badly made.
fn annotation(dice: &mut Dice) -> Wire {
    let named = if dice.roll(2) == 0 { wire().number(1, 1 + dice.roll(3)) } else { wire().bytes(10, "own") };
    let number = dice.number();
    match dice.roll(13) {
        0 | 1 => named.number(4, number),
        2 => named.number(3, number),
        3 => named.fixed(5, dice.double()),
        4 => named.bytes(6, number.to_string()),
        5 => named.bytes(9, number.to_string()),
        6 => named.number(17, 1 + dice.roll(3)),
        7 => named.message(12, wire().number(4, number)).message(12, wire().fixed(5, dice.double())),
        8 => named.number(4, number).bytes(9, "7"),
        9 => named.bytes(9, "7").number(4, number),
        10 => wire().number(4, number).number(1, 1),
        11 => named.number(2, number),
        _ => named.bytes(6, "a\"b\u{1}"),
    }
}

fn slice(dice: &mut Dice, kind: u64) -> Wire {
    let event = wire().number(9, kind).number(11, 1 + dice.roll(2));
    let event = if dice.roll(2) == 0 { event.number(10, 1 + dice.roll(3)) } else { event.bytes(23, "own") };
    let event = if dice.roll(2) == 0 { event.number(3, 1 + dice.roll(2)) } else { event };
    (0..dice.roll(5)).fold(event, |event, _| event.message(4, annotation(dice)))
}

fn stage(dice: &mut Dice) -> Wire {
    let stage = wire().number(2, dice.roll(5000)).number(11, dice.roll(2)).number(13, 1 + dice.roll(2));
    let stage = stage.number(14, 3).number(20, 1 + dice.roll(3));
    let texts = ["7", "007", "1.50", "-0", "[1, 2]", "{", "text", "1e5", "9", "-12"];
    let keys = ["stream id", "device id", "bytes", "bandwidth"];
    let extra = |dice: &mut Dice| {
        let text = texts[dice.roll(10) as usize];
        wire().bytes(1, keys[dice.roll(4) as usize]).bytes(2, text)
    };
    let stage = (0..dice.roll(4)).fold(stage, |stage, _| stage.message(6, extra(dice)));
    let grid = wire().number(1, dice.roll(3)).number(2, 1).number(3, 1);
    let argument = |dice: &mut Dice| {
        let named = if dice.roll(2) == 0 { wire().number(1, 1 + dice.roll(2)) } else { wire().bytes(2, "own") };
        match dice.roll(4) {
            0 => named.number(3, dice.number()),
            1 => named.number(4, dice.number()),
            2 => named.fixed(5, dice.double()),
            _ => named.bytes(6, "text"),
        }
    };
    let launch = (0..dice.roll(3)).fold(wire().message(1, grid), |launch, _| launch.message(3, argument(dice)));
    stage.message(21, launch)
}

/// All that the numbers in events stand for. The texts of an edition differ from those before it.
fn interned(edition: usize) -> Wire {
    let entry = |iid: u64, name: String| wire().number(1, iid).bytes(2, name);
    let mut data = wire();
    for iid in 1..=3 {
        for field in [2, 3, 29] {
            data = data.message(field, entry(iid, format!("text {iid} {}", edition * usize::from(iid == 3))));
        }
    }
    for (iid, name) in [(1, "cpu_op"), (2, "user_annotation")] {
        data = data.message(1, entry(iid, name.to_owned()));
    }
    for (iid, name) in [(1, "[07] stream 7"), (2, "side"), (3, "Kernel")] {
        data = data.message(24, entry(iid, name.to_owned()).number(4, u64::from(iid == 3)));
    }
    for (iid, name) in [(1, "registers_per_thread"), (2, "thread_count")] {
        data = data.message(1001, entry(iid, name.to_owned()));
    }
    data
}

/// The same events, written by one writer or by a writer each.
fn recorded(seed: u64, is_one_writer: bool) -> Trace {
    let mut dice = Dice(seed);
    let mut packets: Vec<Wire> =
        [1, 2].into_iter().map(|uuid| thread(uuid, [10, 10 + uuid], "main").number(10, 1)).collect();
    for at in 0..600_usize {
        let writer = if is_one_writer { 1 } else { 2 + at as u64 };
        let packet = |time: u64| {
            let data = interned(at / 250);
            wire().number(8, time).number(10, writer).message(12, data).number(13, u64::from(at == 0 || writer > 1))
        };
        let time = 10_000 * at as u64 + dice.roll(2) * 500;
        match dice.roll(4) {
            0 => packets.push(packet(time).message(53, stage(&mut dice))),
            1 => packets.push(packet(time).message(11, slice(&mut dice, 3))),
            _ => {
                let begin = slice(&mut dice, 1);
                // An end that is on the track of its begin.
                let track = begin.0[3];
                let end = wire().number(9, 2).number(11, u64::from(track));
                let end = (0..dice.roll(3) / 2).fold(end, |end, _| end.message(4, annotation(&mut dice)));
                packets.push(packet(time).message(11, begin));
                packets.push(wire().number(8, time + dice.roll(5000)).number(10, writer).message(11, end));
            }
        }
    }
    read([Input::new(&file(packets))], Limits::default()).unwrap()
}

/// All rows as text, and the counts of all warnings.
fn told(trace: &Trace) -> Vec<String> {
    let args = |args: ArgsRef| {
        let mut text = String::new();
        trace.args.write_json(&trace.strings, args, &mut text);
        text
    };
    let text = |id| trace.strings.text(id);
    let events = (0..trace.events.len()).map(|row| {
        let (events, track) = (&trace.events, trace.track(trace.events.track.at(row)));
        let place = (text(track.process), text(track.thread));
        let (name, category) = (text(events.name.at(row)), text(events.category.at(row)));
        let times = (events.position.at(row), events.start.at(row), events.dur.at(row));
        format!("{name} {category} {place:?} {times:?} {}", args(events.args(row)))
    });
    let instants = trace.instants.iter().map(|row| format!("{} {:?} {}", text(row.name), row.time, args(row.args)));
    let warnings = trace.warnings.iter().map(|warning| format!("{} {}", warning.kind.name(), warning.count));
    events.chain(instants).chain(warnings).collect()
}

#[test]
fn an_event_says_the_same_whatever_stood_before_it() {
    for seed in 0..30 {
        let (one, each) = (told(&recorded(seed, true)), told(&recorded(seed, false)));
        assert!(one.len() > 500, "{}", one.len());
        for (found, expected) in one.iter().zip(&each) {
            assert_eq!(found, expected, "seed {seed}");
        }
        assert_eq!(one.len(), each.len());
    }
}
