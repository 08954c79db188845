const PERFETTO = "https://ui.perfetto.dev";
const ASK_AGAIN_MS = 100;
const GIVE_UP_MS = 60_000;

/** Whether a page may hand a trace to Perfetto: it takes none from a file. */
export function mayOpenPerfetto(): boolean {
  return location.protocol === "http:" || location.protocol === "https:";
}

/** Opens Perfetto in another tab, makes a trace meanwhile, and hands it over once both are there. */
export function openPerfetto(
  make: () => Promise<Uint8Array<ArrayBuffer>>,
  title: string,
  fail: (error: unknown) => void,
): void {
  // What comes of a click may open a tab only while the click is young: before the trace is made.
  const tab = open(PERFETTO);
  if (!tab) throw new Error("expected a new tab, found that this browser allows none");
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
