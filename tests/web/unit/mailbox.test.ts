import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import type { Channel, Incoming, Outgoing, Receive } from "../../../wasm/web/host/channel";
import { viewerOf } from "../../../wasm/web/host/load";
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

test("a request whose answer was lost is sent again, after ever longer", async () => {
  const channel = new FakeChannel();
  const mailbox = new Mailbox(channel, 20);
  const file = mailbox.get("snapshot");
  await new Promise((waited) => setTimeout(waited, 200));
  assert.ok(channel.sent.length >= 3 && channel.sent.length <= 5, `${channel.sent.length}`);
  for (const asked of channel.sent) assert.deepEqual(asked, channel.sent[0]);
  const [asked] = channel.sent;
  for (const value of [1, 2]) channel.answer(asked?.type === "get" ? asked.id : "", bytes(value));
  assert.deepEqual(await file, bytes(1));
  const { length } = channel.sent;
  await new Promise((waited) => setTimeout(waited, 200));
  assert.equal(channel.sent.length, length, "what was answered is not asked again");
});

test("a channel that throws is silent, and its requests are sent again", async () => {
  const channel = new FakeChannel();
  const send = channel.send.bind(channel);
  channel.send = () => {
    throw new Error("Cannot send");
  };
  const mailbox = new Mailbox(channel, 5);
  const file = mailbox.get("snapshot");
  await new Promise<void>((silent) => {
    mailbox.isSilent.subscribe(silent);
  });
  channel.send = send;
  await new Promise((waited) => setTimeout(waited, 100));
  const [asked] = channel.sent;
  channel.answer(asked?.type === "get" ? asked.id : "", bytes(1));
  assert.deepEqual(await file, bytes(1));
});

test("a widget asks for the viewer where the one that asked first is silent or closed", async () => {
  const channels = [new FakeChannel(), new FakeChannel(), new FakeChannel()];
  const [first, second, third] = channels.map((channel, at) => new Mailbox(channel, at === 0 ? 20 : 1000)) as [
    Mailbox,
    Mailbox,
    Mailbox,
  ];
  const asked = () => channels.map(({ sent }) => sent.length > 0);
  const viewers = Promise.allSettled([first, second].map((mailbox) => viewerOf("code", mailbox)));
  assert.deepEqual(asked(), [true, false, false]);
  await new Promise((waited) => setTimeout(waited, 50));
  assert.deepEqual(asked(), [true, true, false]);
  const last = viewerOf("code", third);
  second.close();
  await new Promise((waited) => setTimeout(waited));
  assert.deepEqual(asked(), [true, true, true]);
  third.close();
  await assert.rejects(last, /closed/);
  first.close();
  await viewers;
});

test("a closed mailbox ignores messages and rejects pending requests", async () => {
  const channel = new FakeChannel();
  const mailbox = new Mailbox(channel, 1000);
  const file = mailbox.get("snapshot");
  mailbox.close();
  assert.equal(channel.listeners.size, 0);
  await assert.rejects(file, /closed/);
  assert.equal(channel.sent.length, 1);
});
