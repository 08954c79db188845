// Puts together pages around the built scripts. Python and the extension of JupyterLab fill them.
import { createHash } from "node:crypto";
import { packed } from "./bundle.mjs";

/** Stands where the title, the body and the data of a page go. */
const SLOT = "<!-- kinetoscope -->";

// As in the core.
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";

/** A page of tables and pictures. */
export const staticPage = (style) => page({ kind: "ks-page ks-static", style, scripts: [], end: "" });

/** A page that runs: `viewer` is its script, which `unpack` unpacks. */
export async function livePage({ style, unpack, viewer }) {
  const starter = escaped(unpack);
  const end = `${embedded("ks-script", await packed(viewer))}<script>${starter}</script>`;
  return page({ kind: "ks-page", style, scripts: [starter, viewer], end });
}

/** The live page that reads files. */
export function emptyPage(live, core) {
  const body = "<noscript><p>Scripts are off: this page needs them to read traces.</p></noscript>";
  const parts = live.split(SLOT);
  return [parts[0], "Kinetoscope", parts[1], body, parts[2], embedded("ks-wasm", core), parts[3]].join("");
}

function page({ kind, style, scripts, end }) {
  return (
    `<!doctype html><html lang='en'><head><meta charset='utf-8'>` +
    `<meta http-equiv="Content-Security-Policy" content="${policy(scripts, style)}">` +
    `<meta name='viewport' content='width=device-width'><meta name='referrer' content='no-referrer'>` +
    `<title>${SLOT}</title><style>${style}</style></head><body>` +
    `<main class='${kind}'>${SLOT}</main>${SLOT}${end}</body></html>\n`
  );
}

/** Content security policy: no network; only these scripts and the WebAssembly of the page. */
function policy(scripts, style) {
  const digests = scripts.map((script) => `'${digest(script)}'`).join(" ");
  const allowed = scripts.length > 0 ? `script-src ${digests} 'wasm-unsafe-eval'; ` : "";
  return (
    `default-src 'none'; ${allowed}` +
    `style-src '${digest(style)}'; img-src data: blob:; base-uri 'none'; form-action 'none'`
  );
}

const digest = (content) => `sha256-${createHash("sha256").update(content).digest("base64")}`;

/** Escapes sequences that end a script element, or keep it open. Strings keep their meaning. */
const escaped = (code) =>
  code.replaceAll("\r\n", "\n").replaceAll("</script", "\\x3C/script").replaceAll("<!--", "\\x3C!--");

const embedded = (kind, bytes) =>
  `<script type="application/octet-stream;base85" class="${kind}">${base85(bytes)}</script>`;

function base85(bytes) {
  const letters = [];
  for (let at = 0; at < bytes.length; at += 4) {
    const length = Math.min(4, bytes.length - at);
    let rest = Buffer.concat([bytes.subarray(at, at + length), Buffer.alloc(4 - length)]).readUInt32BE();
    const group = Array.from({ length: 5 }, () => {
      const letter = ALPHABET[rest % 85];
      rest = Math.floor(rest / 85);
      return letter;
    });
    letters.push(...group.reverse().slice(0, length + 1));
  }
  return letters.join("");
}
