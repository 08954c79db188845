// The bundler imports a style sheet as text, for use in a shadow root.
declare module "*.css" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: the bundler exports it so
  export default text;
}
