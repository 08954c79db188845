/** Saves a file on the reader's machine. */
export function download(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Some browsers take the bytes only after the click has been handled.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Makes a file name from a title: without the trace's suffix, other characters replaced by `_`. */
export function fileName(title: string): string {
  return (
    title
      .replace(/(\.pt)?(\.trace)?\.json(\.gz)?$/, "")
      .replace(/[^\p{L}\p{N}._-]+/gu, "_")
      .slice(0, 100) || "trace"
  );
}
