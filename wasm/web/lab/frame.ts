import { Cell } from "../base/cell";
import { Cleanup } from "../base/cleanup";
import { watchTheme } from "../host/theme";
import type { ToPage } from "../report/embedded";

/** The empty page in a frame, so that the styles and the keys of both sides stay apart. */
export class PageFrame {
  /** Has the class that keeps the pointer out of the frame while a panel is dragged. */
  readonly node = document.createElement("div");
  readonly #frame = document.createElement("iframe");
  readonly #cleanup = new Cleanup();

  /** `address` is that of the page, and `onReady` runs whenever it is empty. */
  constructor(address: string, title: string, onReady: (frame: PageFrame) => void) {
    this.node.className = "jp-IFrame";
    this.node.style.cssText = "overflow:hidden";
    this.#frame.src = address;
    // Traces come from strangers: what the page runs reaches neither the host nor its server.
    this.#frame.sandbox.value =
      "allow-scripts allow-downloads allow-modals allow-popups allow-popups-to-escape-sandbox";
    this.#frame.allow = "fullscreen; clipboard-write";
    this.#frame.title = title;
    this.#frame.style.cssText = "width:100%;height:100%;border:0;display:block";
    this.node.append(this.#frame);
    const theme = watchTheme(new Cell("auto"), this.#cleanup);
    const paint = () => {
      // The page sees this as the reader's preference.
      this.#frame.style.colorScheme = theme.value;
    };
    this.#cleanup.add(theme.subscribe(paint));
    paint();
    const hear = ({ source, data }: MessageEvent) => {
      if (source === this.#frame.contentWindow && data === "kinetoscope-ready") onReady(this);
    };
    addEventListener("message", hear);
    this.#cleanup.add(() => removeEventListener("message", hear));
  }

  /** Sends a message to the page, which hears it once it was ready. */
  tell(message: ToPage): void {
    this.#frame.contentWindow?.postMessage(message, "*");
  }

  /** Empties the page. */
  reload(): void {
    const { src } = this.#frame;
    this.#frame.src = src;
  }

  close(): void {
    this.#cleanup.run();
  }
}
