/**
 * Hides the static summary that Python adds below a widget, until the returned function runs. It
 * stays in the notebook's file, for readers without the widget.
 */
export function hideSaved(key: string): () => void {
  const sheet = new CSSStyleSheet();
  const saved = `[data-ks-saved="${CSS.escape(key)}"]`;
  sheet.insertRule(`${saved}{display:none!important}`);
  // The cell of the output has a margin.
  sheet.insertRule(`.jp-OutputArea-child:has(${saved}){display:none!important}`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  return () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
  };
}
