import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { type StaticFile, staticFile } from '../http/static-files.js';

const TITLE = 'haulbridge interfaces';

/** What a partner needs beside the documents of the interfaces. */
const LINKS = [
  ['/docs/guides', 'All documents'],
  ['/docs/guides/partner-calling', 'Call Scale and Account'],
  ['/docs/guides/partner-hosting', 'Host Site and Vision'],
  ['/docs/guides/sandbox', 'Sandbox'],
  ['/docs/guides/spreadsheets', 'Lists in a spreadsheet'],
  ['/docs/interfaces', 'The four interfaces'],
  ['/docs/errors', 'Errors'],
  ['/docs/clients', 'Clients'],
  ['/docs/conformance.mjs', 'Conformance kit'],
  ['/docs/partner.json', 'Partner API'],
  ['/docs/changelog', 'Changelog'],
] as const;

const PAGE = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="UTF-8" />
    <title>${TITLE}</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="stylesheet" href="/docs/index.css" />
    <link rel="stylesheet" href="/docs/page.css" />
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" sizes="32x32" />
    <link rel="icon" type="image/png" href="/docs/favicon-16x16.png" sizes="16x16" />
  </head>
  <body>
    <nav class="documents" aria-label="Documents">
      ${LINKS.map(([address, title]) => `<a href="${address}">${title}</a>`).join('\n      ')}
    </nav>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/swagger-ui-standalone-preset.js"></script>
    <script src="/docs/swagger-ui-init.js"></script>
  </body>
</html>
`;

/** The files that the page loads of `swagger-ui-dist`, which `@nestjs/swagger` brings. */
const PACKAGED = [
  'swagger-ui.css',
  'index.css',
  'favicon-16x16.png',
  'favicon-32x32.png',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
];

export const SWAGGER_FILES = ['index.html', 'swagger-ui-init.js', ...PACKAGED] as const;

const HEADERS = { 'Cache-Control': 'no-cache' };

export interface SelectableDocument {
  readonly name: string;
  readonly url: string;
}

const initialisation = (urls: readonly SelectableDocument[]) => `window.ui = SwaggerUIBundle({
  ...${JSON.stringify({ dom_id: '#swagger-ui', urls, layout: 'StandaloneLayout', deepLinking: true, displayRequestDuration: true }, null, 2)},
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  plugins: [SwaggerUIBundle.plugins.DownloadUrl],
});
`;

/** The page of Swagger UI as `index.html`, and the files that it loads, under 2 MB in all, by name. */
export async function readSwaggerPage(urls: readonly SelectableDocument[]): Promise<ReadonlyMap<string, StaticFile>> {
  const folder = dirname(findPackageJSON('swagger-ui-dist', findPackageJSON('@nestjs/swagger', import.meta.url)) ?? '');
  const contents = new Map([
    ['index.html', Buffer.from(PAGE)],
    ['swagger-ui-init.js', Buffer.from(initialisation(urls))],
  ]);
  for (const name of PACKAGED) contents.set(name, await readFile(join(folder, name)));
  const entries = [...contents].map(async ([name, bytes]) => [name, await staticFile(name, bytes, HEADERS)] as const);
  return new Map(await Promise.all(entries));
}
