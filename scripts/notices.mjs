// Prints the licences of the installed packages as Markdown. The build of the container runs it where the delivered packages alone are.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LEGAL_FILE = /^(licen[cs]e|notice|copying|copyright)/i;

const rows = [];
/** Packages with the same text, whatever its line breaks, share one copy. */
const texts = new Map();
for (const folder of Object.keys(JSON.parse(readFileSync('node_modules/.package-lock.json', 'utf8')).packages)) {
  const { name, version, license, licenses, repository } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  rows.push(`| ${name} ${version} | ${license ?? licenses[0].type} | ${repository?.url ?? repository ?? ''} |`);
  for (const file of readdirSync(folder).filter((each) => LEGAL_FILE.test(each))) {
    const text = readFileSync(join(folder, file), 'utf8').trim();
    const key = text.replace(/\s+/g, ' ');
    const { owners = [] } = texts.get(key) ?? {};
    texts.set(key, { text, owners: [...owners, `${name} ${version}`] });
  }
}

process.stdout.write(`# Third-party notices

haulbridge is delivered with the packages below, unchanged, each under its own licence. The source code of a package is at the address in
its row, and in \`node_modules\` of an installation; that of a package under the MPL-2.0 is available there under the terms of that licence
(section 3.2).

| package | licence | source |
| --- | --- | --- |
${[...new Set(rows)].join('\n')}

## Texts

${[...texts.values()].map(({ text, owners }) => `### ${owners.join(', ')}\n\n~~~text\n${text}\n~~~\n`).join('\n')}`);
