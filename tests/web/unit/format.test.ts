import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatCount,
  formatDuration,
  formatDurationBeside,
  formatExact,
  formatPlural,
  formatShare,
  formatTick,
} from "../../../wasm/web/base/format";

test("a duration has four digits and the unit that fits", () => {
  const cases: [number, string][] = [
    [0, "0 ns"],
    [1, "1 ns"],
    [999, "999 ns"],
    [1000, "1 µs"],
    [12_345, "12.35 µs"],
    [999_949, "999.9 µs"],
    [999_960, "1 ms"],
    [1_234_567, "1.235 ms"],
    [59_900_000_000, "59.9 s"],
    [-1500, "−1.5 µs"],
  ];
  for (const [ns, text] of cases) assert.equal(formatDuration(ns), text);
});

test("durations of a row share the unit of the longest, while three digits fit", () => {
  const cases: [number, number, string][] = [
    [932_456, 14_100_000, "0.932 ms"],
    [14_100_000, 14_100_000, "14.1 ms"],
    [-300_000, 1_200_000, "−0.3 ms"],
    [12_345, 1_200_000, "0.0123 ms"],
    [900, 14_100_000, "900 ns"],
    [3_210, 493_000_000, "3.21 µs"],
    [7, 1_200, "0.007 µs"],
    [0, 1_200, "0 ns"],
  ];
  for (const [ns, largest, text] of cases) assert.equal(formatDurationBeside(ns, largest), text);
});

test("an exact time has every digit", () => {
  assert.equal(formatExact(1_234_567), "1.234 567 ms");
  assert.equal(formatExact(18_050), "18.05 µs");
  assert.equal(formatExact(7), "7 ns");
  assert.equal(formatExact(2_000_000_001), "2.000 000 001 s");
});

test("a tick has the digits that its step needs", () => {
  assert.equal(formatTick(0, 1000), "0");
  assert.equal(formatTick(1_500_000, 500_000), "1.5 ms");
  assert.equal(formatTick(2_000_000, 500_000), "2.0 ms");
  assert.equal(formatTick(20, 20), "20 ns");
  assert.equal(formatTick(1_000_200_000, 200_000), "1.0002 s");
});

test("counts and shares", () => {
  assert.equal(formatCount(132_152), "132,152");
  assert.equal(formatPlural(1, "event"), "1 event");
  assert.equal(formatPlural(2, "event"), "2 events");
  assert.equal(formatShare(1, 3), "33 %");
  assert.equal(formatShare(1, 30), "3.3 %");
  assert.equal(formatShare(1, 30_000), "< 0.1 %");
  assert.equal(formatShare(1, 0), "–");
});
