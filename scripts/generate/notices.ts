import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Generator } from './generator.js';

const ROOT = join(import.meta.dirname, '../..');

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

type Repository = string | { readonly url?: string };

/** What is read of a package.json, also of old forms. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly licenses?: readonly { readonly type: string }[];
  readonly repository?: Repository;
  readonly homepage?: string;
}

interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
}

interface Notice {
  readonly title: string;
  readonly terms: string;
  readonly source: string;
  readonly texts: readonly string[];
}

const readJson = (...path: string[]): unknown => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'));

/** The container image installs no optional packages. */
const isDelivered = ([path, { dev, devOptional, optional }]: [string, Locked]) =>
  BUNDLED.includes(path) || (path !== '' && !dev && !devOptional && !optional);

function packageAt([path]: [string, Locked]): Notice {
  const manifest = readJson(path, 'package.json') as Manifest;
  const { name, version, license, licenses, repository, homepage } = manifest;
  const terms = license ?? licenses?.[0]?.type;
  if (terms === undefined || !ACCEPTED.includes(terms))
    throw new Error(`${name} ${version} has the licence ${terms}, which ACCEPTED does not list`);
  const files = readdirSync(join(ROOT, path)).filter((file) => LEGAL_FILE.test(file));
  const texts = files.sort().map((file) =>
    readFileSync(join(ROOT, path, file), 'utf8')
      .replaceAll('\r\n', '\n')
      .trim(),
  );
  return { title: `${name} ${version}`, terms, source: sourceOf(repository) ?? homepage ?? '', texts };
}

function sourceOf(repository: Repository | undefined): string | undefined {
  const url = typeof repository === 'string' ? repository : repository?.url;
  const [, path] = /github(?:\.com)?[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?(?:#.*)?$/.exec(url ?? '') ?? [];
  if (path !== undefined) return `https://github.com/${path}`;
  return /^[\w.-]+\/[\w.-]+$/.test(url ?? '') ? `https://github.com/${url}` : url?.replace(/^git\+/, '');
}

/** Packages with the same text, whatever its line breaks, share one copy. */
function sectionsOf(packages: readonly Notice[]): string[] {
  const sections = new Map<string, { readonly text: string; readonly titles: Set<string> }>();
  for (const { title, texts } of packages) {
    for (const text of texts) {
      const key = text.replace(/\s+/g, ' ');
      const section = sections.get(key) ?? { text, titles: new Set<string>() };
      section.titles.add(title);
      sections.set(key, section);
    }
  }
  return [...sections.values()].map(({ text, titles }) => `### ${[...titles].join(', ')}\n\n~~~text\n${text}\n~~~\n`);
}

/** The notices of the packages that the service is delivered with. */
export const notices: Generator = () => {
  const { packages: locked } = readJson('package-lock.json') as { readonly packages: Record<string, Locked> };
  const packages = Object.entries(locked).filter(isDelivered).map(packageAt);
  const unique = [...new Map(packages.map((each) => [each.title, each])).values()];
  const rows = unique.map(({ title, terms, source }) => `| ${title} | ${terms} | ${source} |`);
  const text = `# Third-party notices

haulbridge is delivered with the packages below, unchanged, each under its own licence. The source code of a package is at the address in
its row, and in \`node_modules\` of an installation; that of a package under the MPL-2.0 is available there under the terms of that licence
(section 3.2). Written by \`npm run generate -- notices\`; do not edit.

| package | licence | source |
| --- | --- | --- |
${rows.join('\n')}

## Texts

${sectionsOf(unique).join('\n')}`;
  return { 'THIRD-PARTY-NOTICES.md': text };
};
