/** `text` as a field of a line of CSV: in quotes where it would be taken for more than one. */
export const csvField = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
