/* global document */
// What a partner needs beside the documents of the interfaces, above Swagger UI.
const LINKS = {
  '/docs/guides': 'All documents',
  '/docs/guides/partner-calling': 'Call Scale and Account',
  '/docs/guides/partner-hosting': 'Host Site and Vision',
  '/docs/guides/sandbox': 'Sandbox',
  '/docs/guides/spreadsheets': 'Lists in a spreadsheet',
  '/docs/interfaces': 'The four interfaces',
  '/docs/errors': 'Errors',
  '/docs/clients': 'Clients',
  '/docs/conformance.mjs': 'Conformance kit',
  '/docs/partner.json': 'Partner API',
  '/docs/changelog': 'Changelog',
};
const nav = document.createElement('nav');
nav.className = 'documents';
nav.ariaLabel = 'Documents';
for (const [address, title] of Object.entries(LINKS)) {
  const link = document.createElement('a');
  link.href = address;
  link.textContent = title;
  nav.append(link, ' ');
}
document.body.prepend(nav);
