/** Quotes `text` for CSV where it contains a quote, a comma or a line break. */
export const csvField = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
