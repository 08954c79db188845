/** Hands a file to the reader. */
export function download(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Browsers take the bytes at once, but some only after the click has been handled.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A name of a file: what a title has of letters, digits and the like. */
export function fileName(title: string): string {
  return (
    title
      .replace(/(\.pt)?(\.trace)?\.json(\.gz)?$/, "")
      .replace(/[^\p{L}\p{N}._-]+/gu, "_")
      .slice(0, 100) || "trace"
  );
}
