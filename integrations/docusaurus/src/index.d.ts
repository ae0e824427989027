export interface CitewellOptions {
  /** The address of your Citewell server. */
  server: string;
  key?: string;
  title?: string;
  /** Where the book's relative addresses live; by default this site. */
  base?: string;
  lang?: string;
  theme?: "light" | "dark";
  position?: "start" | "end";
  button?: string;
  shortcut?: string;
  selection?: string;
  questions?: string;
  placeholder?: string;
  /** Answer from the version of the page that is shown; on by default for sites with several. */
  filterVersion?: boolean;
  /** Answer in the language of the page that is shown; on by default for sites with several. */
  filterLocale?: boolean;
}
