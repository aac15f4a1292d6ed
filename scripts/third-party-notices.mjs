// Writes the notices of the packages that the service is delivered with: `npm run notices [-- FILE]`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const output = resolve(process.argv[2] ?? join(ROOT, 'THIRD-PARTY-NOTICES.md'));

/** Development packages whose code is part of the build. */
const BUNDLED = ['node_modules/preact'];
/** A licence that is not listed needs a decision: its terms may demand more than a notice. */
const ACCEPTED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'Python-2.0',
];
const LEGAL_FILE = /^(licen[cs]e|notice|copying|copyright)/i;

const readJson = (...path) => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'));

/** The container image installs no optional packages. */
const isDelivered = ([path, { dev, devOptional, optional }]) =>
  BUNDLED.includes(path) || (path !== '' && !dev && !devOptional && !optional);

function packageAt([path]) {
  const { name, version, license, licenses, repository, homepage } = readJson(path, 'package.json');
  const terms = license ?? licenses?.[0]?.type;
  if (!ACCEPTED.includes(terms))
    throw new Error(`${name} ${version} has the licence ${terms}, which ACCEPTED does not list`);
  const files = readdirSync(join(ROOT, path)).filter((file) => LEGAL_FILE.test(file));
  const texts = files.sort().map((file) =>
    readFileSync(join(ROOT, path, file), 'utf8')
      .replaceAll('\r\n', '\n')
      .trim(),
  );
  return { title: `${name} ${version}`, terms, source: sourceOf(repository) ?? homepage ?? '', texts };
}

function sourceOf(repository) {
  const url = typeof repository === 'string' ? repository : repository?.url;
  const [, path] = /github(?:\.com)?[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?(?:#.*)?$/.exec(url ?? '') ?? [];
  if (path !== undefined) return `https://github.com/${path}`;
  return /^[\w.-]+\/[\w.-]+$/.test(url ?? '') ? `https://github.com/${url}` : url?.replace(/^git\+/, '');
}

/** Packages with the same text, whatever its line breaks, share one copy. */
function sectionsOf(packages) {
  const sections = new Map();
  for (const { title, texts } of packages) {
    for (const text of texts) {
      const key = text.replace(/\s+/g, ' ');
      const section = sections.get(key) ?? { text, titles: new Set() };
      section.titles.add(title);
      sections.set(key, section);
    }
  }
  return [...sections.values()].map(({ text, titles }) => `### ${[...titles].join(', ')}\n\n~~~text\n${text}\n~~~\n`);
}

const packages = Object.entries(readJson('package-lock.json').packages).filter(isDelivered).map(packageAt);
const unique = [...new Map(packages.map((each) => [each.title, each])).values()];
const rows = unique.map(({ title, terms, source }) => `| ${title} | ${terms} | ${source} |`);

writeFileSync(
  output,
  `# Third-party notices

haulbridge is delivered with the packages below, unchanged, each under its own licence. The source code of a package is at the address in
its row, and in \`node_modules\` of an installation; that of a package under the MPL-2.0 is available there under the terms of that licence
(section 3.2). Written by \`npm run notices\`; do not edit.

| package | licence | source |
| --- | --- | --- |
${rows.join('\n')}

## Texts

${sectionsOf(unique).join('\n')}`,
);
