/** Messages from the page around this one, such as JupyterLab's. */
export type ToPage =
  | { readonly type: "open"; readonly files: readonly File[] }
  | { readonly type: "say"; readonly text: string }
  | { readonly type: "fail"; readonly text: string };

/** Hears the page around this one, if it comes from the same server. */
export function hearEmbedder(take: (message: ToPage) => void, signal: AbortSignal): void {
  if (parent === window || !location.origin.startsWith("http")) return;
  addEventListener(
    "message",
    ({ source, origin, data }: MessageEvent<ToPage>) => {
      if (source === parent && origin === location.origin) take(data);
    },
    { signal },
  );
  parent.postMessage("kinetoscope-ready", location.origin);
}
