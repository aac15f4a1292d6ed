// Builds what the service serves under /docs: `build-docs.mjs BUILD` writes `BUILD/docs` from the compiled contracts of that build. A file is
// served at its path, a page without its `.html`. Pages are rendered from Markdown here, so that the service needs no renderer.
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, join, posix, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Marked } from 'marked';

/** Pages in the order of the navigation: file, title, address. */
const SHELF = {
  Guides: [
    ['docs/guides/partner-calling.md', 'Call Scale and Account'],
    ['docs/guides/partner-hosting.md', 'Host Site and Vision'],
    ['docs/guides/webhooks.md', 'Receive webhooks'],
    ['docs/guides/sandbox.md', 'Sandbox'],
    ['docs/guides/admin.md', 'Administer'],
    ['docs/guides/holds.md', 'Hold and erase'],
    ['docs/guides/operator.md', 'Operate'],
    ['docs/guides/backup.md', 'Back up and recover'],
    ['docs/guides/disputes.md', 'Settle a dispute'],
    ['docs/guides/cells.md', 'Cells'],
    ['docs/guides/spreadsheets.md', 'Lists in a spreadsheet'],
    ['docs/guides/failover.md', 'Fail over'],
    ['docs/guides/people.md', 'People and roles'],
  ],
  Reference: [
    ['docs/interfaces.md', 'The four interfaces'],
    ['docs/errors.md', 'Errors'],
    ['docs/limits.md', 'Limits'],
    ['docs/webhooks.md', 'Topics of webhooks'],
    ['docs/rules.md', 'Rules of the conformance kit'],
    ['docs/performance.md', 'Performance'],
    ['docs/reliability.md', 'Reliability'],
    ['CHANGELOG.md', 'Changelog'],
  ],
  Downloads: [['clients/README.md', 'Clients for Python and TypeScript']],
};
/** Links of the navigation that are no pages. */
const LINKS = {
  Reference: [['/docs', 'OpenAPI documents (Swagger UI)']],
  Downloads: [
    ['/docs/conformance.mjs', 'Conformance kit'],
    ['/docs/guides/sample-server.mjs', 'Sample server'],
    ['/docs/partner.json', 'OpenAPI of the partner API'],
  ],
};
const FILES = [
  'docs/guides/sample-server.mjs',
  'docs/alerts.yml',
  'docs/grafana-dashboard.json',
  'docs/pages/page.css',
  'docs/pages/page.mjs',
  'docs/pages/swagger-ui.js',
  ...globSync(['clients/python/*.py', 'clients/typescript/*.ts']).sort(),
];
/** The files of `swagger-ui-dist` that the page of @nestjs/swagger loads. */
const SWAGGER_UI = [
  'swagger-ui.css',
  'favicon-16x16.png',
  'favicon-32x32.png',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
];

const PAGES = Object.values(SHELF).flat();
const addresses = new Map([...PAGES.map(([file]) => file), ...FILES].map((file) => [file, addressOf(file)]));
const template = readFileSync('docs/pages/page.html', 'utf8');
const build = process.argv[2];
const folder = join(build, 'docs');
const swagger = findPackageJSON('@nestjs/swagger', import.meta.url);

rmSync(folder, { recursive: true, force: true });
for (const [file, title] of PAGES) addPage(addresses.get(file), title, readFileSync(file, 'utf8'), file);
addPage('/docs/guides', 'Documents', listOfDocuments(), 'docs/guides/README.md');
for (const file of FILES) add(addresses.get(file), readFileSync(file));
for (const name of SWAGGER_UI)
  copyFileSync(join(dirname(findPackageJSON('swagger-ui-dist', swagger)), name), join(folder, name));
copyFileSync(join(build, 'conformance/haulbridge-conformance.mjs'), join(folder, 'conformance.mjs'));
await addOpenApi();

/** The OpenAPI document of each contract, as JSON and as YAML. */
async function addOpenApi() {
  const compiled = (name) => import(pathToFileURL(resolve(build, 'compiled/src/admin/documents', name)));
  const { PUBLICATIONS } = await compiled('publications.js');
  const { openApiOf } = await compiled('openapi.js');
  const { dump } = createRequire(swagger)('js-yaml');
  for (const { api } of PUBLICATIONS) {
    const document = openApiOf(api, readFileSync(`docs/openapi/${api.name}.md`, 'utf8'));
    add(`/docs/${api.name}.json`, JSON.stringify(document));
    add(`/docs/${api.name}.yaml`, dump(document, { skipInvalid: true, noRefs: true }));
  }
}

/** Where a file of the repository is served. */
function addressOf(file) {
  if (file === 'CHANGELOG.md') return '/docs/changelog';
  if (file === 'clients/README.md') return '/docs/clients';
  const path = file.replace(/^docs\/(pages\/)?/, '').replace(/\.md$/, '');
  return `/docs/${path}`;
}

function add(address, content) {
  const file = join(folder, address.replace(/^\/docs\//, ''));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

function addPage(address, title, markdown, file) {
  const headings = [];
  const body = renderer(file, headings).parse(markdown);
  const values = { title: escape(title), nav: navigation(address, headings), body };
  add(
    `${address}.html`,
    template.replace(/\{\{(\w+)\}\}/g, (_, name) => values[name]),
  );
}

function renderer(file, headings) {
  const ids = new Set();
  return new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = idOf(text, ids);
        const html = this.parser.parseInline(tokens);
        if (depth === 2) headings.push([id, html.replace(/<[^>]+>/g, '')]);
        return `<h${depth} id="${id}">${html}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const address = resolved(href, file);
        return address === undefined ? text : `<a href="${escape(address)}">${text}</a>`;
      },
      code({ text, lang }) {
        if (lang === 'mermaid' && text.startsWith('sequenceDiagram')) return sequence(text);
        const language = lang ? ` class="language-${escape(lang)}"` : '';
        return `<div class="code"><pre tabindex="0"><code${language}>${escape(text)}</code></pre></div>\n`;
      },
      checkbox: () => '<span class="box" aria-hidden="true"></span> ',
      html: ({ text }) => (text.startsWith('<!--') ? '' : escape(text)),
    },
    hooks: {
      postprocess: (html) =>
        html
          .replaceAll('<table>', '<div class="scroll" tabindex="0"><table>')
          .replaceAll('</table>', '</table></div>')
          // The name in the first cell of a row can be linked to.
          .replace(/<tr>\n<td>(<code>[\w-]+<\/code>|[A-Z]+-\d+)<\/td>/g, (row, cell) => {
            const name = cell.replace(/<\/?code>/g, '');
            if (ids.has(name)) return row;
            ids.add(name);
            return row.replace('<td>', `<td id="${name}" class="name">`);
          }),
    },
  });
}

/** As GitHub names it; a heading that is one name keeps its case. */
function idOf(text, ids) {
  const plain = text.replaceAll('`', '');
  const base = /^\w+$/.test(plain) && text.startsWith('`') ? plain : slug(plain);
  let id = base;
  for (let count = 1; ids.has(id); count++) id = `${base}-${count}`;
  ids.add(id);
  return id;
}

function slug(text) {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/**
 * A link of a document as one of the service; undefined if it names a file for developers of haulbridge. That the file exists is
 * checked by a test, because the build of the image has not all of them.
 */
function resolved(href, file) {
  if (/^(#|[a-z]+:)/.test(href)) return href;
  const [path, anchor] = href.split('#');
  const target = posix.join(posix.dirname(file), path);
  const address = href.startsWith('/') ? path : addresses.get(target);
  if (address === undefined) return undefined;
  return anchor === undefined ? address : `${address}#${anchor}`;
}

/** A sequence diagram as a list of its messages. */
function sequence(text) {
  const names = new Map();
  const nameOf = (id) => `<b>${escape(names.get(id) ?? id)}</b>`;
  const lines = text.split('\n').map((line) => {
    const [, id, name = id] = /^\s*participant (\w+)(?: as (.*))?$/.exec(line) ?? [];
    if (id !== undefined) names.set(id, name);
    const [, start] = /^\s*loop (.*)$/.exec(line) ?? [];
    if (start !== undefined) return `<li>${escape(start)}:<ul>`;
    if (line.trim() === 'end') return '</ul></li>';
    const [, from, arrow, to, message] = /^\s*(\w+?)(--?>>|--?x)(\w+): (.*)$/.exec(line) ?? [];
    if (from === undefined) return '';
    if (from === to) return `<li>${nameOf(from)} ${escape(message)}</li>`;
    const lost = arrow.endsWith('x') ? ' (lost)' : '';
    return `<li>${nameOf(from)} to ${nameOf(to)}${lost}: ${escape(message)}</li>`;
  });
  return `<ul class="steps">${lines.join('')}</ul>\n`;
}

/** The groups of the navigation, each with the addresses and titles of its documents. */
function groups() {
  return Object.entries(SHELF).map(([group, pages]) => [
    group,
    [...pages.map(([file, title]) => [addresses.get(file), title]), ...(LINKS[group] ?? [])],
  ]);
}

function navigation(current, headings) {
  const contents = headings.map(([id, title]) => `<li><a href="#${id}">${title}</a></li>`).join('');
  const item = ([address, title]) => {
    const isCurrent = address === current;
    const inner = isCurrent && contents !== '' ? `<ul>${contents}</ul>` : '';
    return `<li><a href="${address}"${isCurrent ? ' aria-current="page"' : ''}>${escape(title)}</a>${inner}</li>`;
  };
  return groups()
    .map(([group, all]) => `<h2>${group}</h2><ul>${all.map(item).join('')}</ul>`)
    .join('');
}

function listOfDocuments() {
  const lists = groups().map(
    ([group, all]) => `## ${group}\n\n${all.map(([address, title]) => `- [${title}](${address})`).join('\n')}`,
  );
  return `# Documents\n\n${lists.join('\n\n')}\n`;
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
