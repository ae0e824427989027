// What the build puts in: whether this is the npm package, and the file and digest of the panel that the server offers.
declare const PACKAGED: boolean;
declare const PANEL: { readonly file: string; readonly integrity: string };

declare module "*.css" {
  const text: string;
  export default text;
}
