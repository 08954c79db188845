// The bundler gives a style sheet as its text: it goes into a shadow root, not into the page.
declare module "*.css" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: this is how the bundler gives it
  export default text;
}
