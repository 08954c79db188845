const PERFETTO = "https://ui.perfetto.dev";
const ASK_AGAIN_MS = 100;
const GIVE_UP_MS = 60_000;

/** Whether Perfetto accepts a trace from this page: it accepts none from a local file. */
export function mayOpenPerfetto(): boolean {
  return location.protocol === "http:" || location.protocol === "https:";
}

/** Opens Perfetto in a new tab, and sends it the trace once both are ready. */
export function openPerfetto(
  make: () => Promise<Uint8Array<ArrayBuffer>>,
  title: string,
  fail: (error: unknown) => void,
): void {
  // Browsers open a tab only right after a click, so the tab comes before the trace.
  const tab = open(PERFETTO);
  if (!tab) throw new Error("cannot open a new tab: allow pop-ups for this page");
  const asking = setInterval(() => tab.postMessage("PING", PERFETTO), ASK_AGAIN_MS);
  const end = () => {
    clearInterval(asking);
    removeEventListener("message", hear);
  };
  let ready = () => {};
  const answered = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const hear = ({ data, origin }: MessageEvent) => {
    if (data !== "PONG" || origin !== PERFETTO) return;
    end();
    ready();
  };
  addEventListener("message", hear);
  setTimeout(end, GIVE_UP_MS);
  Promise.all([make(), answered])
    .then(([{ buffer }]) => tab.postMessage({ perfetto: { buffer, title } }, PERFETTO))
    .catch(fail)
    .finally(end);
}
