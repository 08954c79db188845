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

  /** Answers the request `id`. */
  answer(id: string, content: Uint8Array, packed = false): void {
    this.give({ type: "answers", parts: [{ id, chunk: 0, num_chunks: 1, packed }] }, content);
  }
}

test("a file arrives in pieces, compressed or not", async () => {
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

test("requests of one call share a message and are answered in any order", async () => {
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

test("two mailboxes on one channel ignore each other's answers", async () => {
  const channel = new FakeChannel();
  const [one, other] = [new Mailbox(channel, 1000), new Mailbox(channel, 1000)];
  const [mine, theirs] = [one.get("snapshot"), other.get("snapshot")];
  const ids = channel.sent.map((message) => (message.type === "get" ? message.id : ""));
  assert.equal(new Set(ids).size, 2);
  channel.answer(ids[1] ?? "", bytes(2));
  channel.answer(ids[0] ?? "", bytes(1));
  assert.deepEqual([await mine, await theirs], [bytes(1), bytes(2)]);
});

test("an error in Python is thrown with its message", async () => {
  const channel = new FakeChannel();
  const file = new Mailbox(channel, 1000).get("snapshot");
  const [asked] = channel.sent;
  channel.give({ type: "failed", id: asked?.type === "get" ? asked.id : "", message: "expected a trace, found a cat" });
  await assert.rejects(file, /expected a trace, found a cat/);
});

test("silence is reported until the first answer", async () => {
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

test("a closed mailbox ignores messages and rejects pending requests", async () => {
  const channel = new FakeChannel();
  const mailbox = new Mailbox(channel, 1000);
  const file = mailbox.get("snapshot");
  mailbox.close();
  assert.equal(channel.listeners.size, 0);
  await assert.rejects(file, /closed/);
});
