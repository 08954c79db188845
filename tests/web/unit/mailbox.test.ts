import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import type { Channel, Incoming, Outgoing, Receive } from "../../../wasm/web/host/channel";
import { Mailbox } from "../../../wasm/web/host/mailbox";

const bytes = (...values: number[]) => Uint8Array.from(values);
const text = (content: Uint8Array) => new TextDecoder().decode(content);

class FakeChannel implements Channel {
  readonly sent: Outgoing[] = [];
  readonly listeners = new Set<Receive>();

  send(message: Outgoing): void {
    this.sent.push(message);
  }

  listen(receive: Receive): () => void {
    this.listeners.add(receive);
    return () => this.listeners.delete(receive);
  }

  give(message: Incoming, ...buffers: Uint8Array[]): void {
    const views = buffers.map((buffer) => new DataView(buffer.slice().buffer));
    for (const receive of this.listeners) receive(message, views);
  }

  /** Answers what was asked under `id`. */
  answer(id: string, content: Uint8Array, packed = false): void {
    this.give({ type: "answers", parts: [{ id, chunk: 0, num_chunks: 1, packed }] }, content);
  }
}

test("a file comes in pieces, packed or not", async () => {
  const channel = new FakeChannel();
  const file = new Mailbox(channel, 1000).get("snapshot");
  const [asked] = channel.sent;
  assert.ok(asked?.type === "get" && asked.what === "snapshot");
  const packed = deflateSync(Buffer.from("kinetoscope"));
  const parts = [packed.subarray(0, 5), packed.subarray(5)];
  for (const [chunk, part] of parts.entries()) {
    channel.give({ type: "answers", parts: [{ id: asked.id, chunk, num_chunks: 2, packed: true }] }, part);
  }
  assert.equal(text(await file), "kinetoscope");
});

test("what is asked together goes in one message and is answered in any order", async () => {
  const channel = new FakeChannel();
  const mailbox = new Mailbox(channel, 1000);
  const answers = mailbox.query(["a", "b"]);
  assert.equal(channel.sent.length, 1);
  const [asked] = channel.sent;
  assert.ok(asked?.type === "query");
  const [a, b] = asked.asks;
  assert.deepEqual([a?.request, b?.request], ["a", "b"]);
  const whole = { chunk: 0, num_chunks: 1, packed: false };
  channel.give(
    {
      type: "answers",
      parts: [
        { ...whole, id: b?.id ?? "" },
        { ...whole, id: a?.id ?? "" },
      ],
    },
    bytes(2),
    bytes(1),
  );
  assert.deepEqual(await Promise.all(answers), [bytes(1), bytes(2)]);
});

test("two that listen to one channel take no answer of each other", async () => {
  const channel = new FakeChannel();
  const [one, other] = [new Mailbox(channel, 1000), new Mailbox(channel, 1000)];
  const [mine, theirs] = [one.get("snapshot"), other.get("snapshot")];
  const ids = channel.sent.map((message) => (message.type === "get" ? message.id : ""));
  assert.equal(new Set(ids).size, 2);
  channel.answer(ids[1] ?? "", bytes(2));
  channel.answer(ids[0] ?? "", bytes(1));
  assert.deepEqual([await mine, await theirs], [bytes(1), bytes(2)]);
});

test("what Python says went wrong is what is thrown", async () => {
  const channel = new FakeChannel();
  const file = new Mailbox(channel, 1000).get("snapshot");
  const [asked] = channel.sent;
  channel.give({ type: "failed", id: asked?.type === "get" ? asked.id : "", message: "expected a trace, found a cat" });
  await assert.rejects(file, /expected a trace, found a cat/);
});

test("silence is told, and taken back with the first word", async () => {
  const channel = new FakeChannel();
  const mailbox = new Mailbox(channel, 1);
  const file = mailbox.get("snapshot");
  await new Promise<void>((silent) => {
    mailbox.isSilent.subscribe(silent);
  });
  assert.equal(mailbox.isSilent.value, true);
  const [asked] = channel.sent;
  channel.answer(asked?.type === "get" ? asked.id : "", bytes(1));
  assert.equal(mailbox.isSilent.value, false);
  assert.deepEqual(await file, bytes(1));
});

test("a closed mailbox listens to nobody and leaves nobody waiting", async () => {
  const channel = new FakeChannel();
  const mailbox = new Mailbox(channel, 1000);
  const file = mailbox.get("snapshot");
  mailbox.close();
  assert.equal(channel.listeners.size, 0);
  await assert.rejects(file, /closed/);
});
