import type { JSX } from "preact";

const IS_MAC = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

/** Key names as on the reader's platform. */
export function Keys({ keys }: { keys: readonly string[] }): JSX.Element {
  return (
    <>
      {keys.map((key) => (
        <kbd key={key}>{nameOf(key)}</kbd>
      ))}
    </>
  );
}

function nameOf(key: string): string {
  if (key.length === 1) return key.toUpperCase();
  return key.replace("Arrow", "").replace("Mod+", IS_MAC ? "⌘ " : "Ctrl+");
}
