import { fromBase85, gunzip } from "../base/bytes";
import { markPage } from "./page-mark";

// The script of a page travels compressed, and the policy of the page allows it by its hash.
async function run(): Promise<void> {
  const packed = document.querySelector(".ks-script")?.textContent ?? "";
  markPage();
  const script = document.createElement("script");
  script.type = "module";
  script.textContent = new TextDecoder().decode(await gunzip(fromBase85(packed)));
  document.body.append(script);
}

run().catch((error: unknown) => {
  const note = document.createElement("p");
  note.className = "ks-note ks-error-note";
  note.setAttribute("role", "alert");
  note.textContent = `Cannot run the page's script: ${error instanceof Error ? error.message : error}`;
  document.querySelector("main")?.prepend(note);
});
