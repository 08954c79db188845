/** A choice that the browser keeps for this page's origin; null where there is none. */
export function kept(key: string): string | null {
  return storage()?.getItem(`kinetoscope-${key}`) ?? null;
}

/** Keeps a choice, where the browser can. */
export function keep(key: string, value: string): void {
  try {
    storage()?.setItem(`kinetoscope-${key}`, value);
  } catch {
    // Full, or forbidden: the choice holds until the page is closed.
  }
}

// Frames without an origin, and browsers that block cookies, throw.
function storage(): Storage | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}
