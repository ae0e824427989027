// The smallest Docusaurus site with the plugin. CITEWELL_SERVER is the server that the test plays.
module.exports = {
  title: "Robots",
  url: "https://docs.example.com",
  baseUrl: "/",
  onBrokenLinks: "ignore", // the site has no front page,
  i18n: { defaultLocale: "en", locales: ["en"] },
  plugins: [
    ["@docusaurus/plugin-content-docs", { routeBasePath: "docs", sidebarPath: undefined }],
    [require.resolve("../../../../integrations/docusaurus"), { server: process.env.CITEWELL_SERVER, title: "Robots" }],
  ],
  themes: ["@docusaurus/theme-classic"],
  themeConfig: { navbar: { title: "Robots", items: [{ to: "/docs/nodes", label: "Docs" }] } },
};
