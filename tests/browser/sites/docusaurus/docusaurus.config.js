// A small Docusaurus site with the plugin, two versions and two locales. CITEWELL_SERVER is the server that the test plays.
module.exports = {
  title: "Robots",
  url: "https://docs.example.com",
  baseUrl: "/",
  onBrokenLinks: "ignore", // the site has no front page
  i18n: { defaultLocale: "en", locales: ["en", "de"] },
  plugins: [
    ["@docusaurus/plugin-content-docs", { routeBasePath: "docs", sidebarPath: undefined }],
    ["docusaurus-plugin-citewell", { server: process.env.CITEWELL_SERVER, title: "Robots" }],
  ],
  themes: ["@docusaurus/theme-classic"],
  themeConfig: { navbar: { title: "Robots", items: [{ type: "docsVersionDropdown" }, { type: "localeDropdown" }] } },
};
