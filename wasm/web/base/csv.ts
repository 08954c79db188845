const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * Quotes `text` for CSV where it contains a quote, a comma or a line break. A text that a
 * spreadsheet would run as a formula gets an apostrophe in front: names in traces come from
 * strangers.
 */
export const csvField = (text: string): string => {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
