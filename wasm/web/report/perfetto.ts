const PERFETTO = "https://ui.perfetto.dev";
const ASK_AGAIN_MS = 100;
const GIVE_UP_MS = 60_000;

/** Whether a page may hand a trace to Perfetto: it takes none from a file. */
export function mayOpenPerfetto(): boolean {
  return location.protocol === "http:" || location.protocol === "https:";
}

/** Opens Perfetto in another tab and hands it a trace, once it answers. */
export function openPerfetto(
  trace: Promise<Uint8Array<ArrayBuffer>>,
  title: string,
  fail: (error: unknown) => void,
): void {
  const tab = open(PERFETTO);
  if (!tab) throw new Error("expected a new tab, found that this browser allows none");
  const asking = setInterval(() => tab.postMessage("PING", PERFETTO), ASK_AGAIN_MS);
  const end = () => {
    clearInterval(asking);
    removeEventListener("message", answered);
  };
  const answered = ({ data, origin }: MessageEvent) => {
    if (data !== "PONG" || origin !== PERFETTO) return;
    end();
    // The tab must be opened while the click is handled, before the trace is there.
    trace.then(({ buffer }) => tab.postMessage({ perfetto: { buffer, title } }, PERFETTO)).catch(fail);
  };
  addEventListener("message", answered);
  setTimeout(end, GIVE_UP_MS);
}
