import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runKit } from '../../src/conformance/kit.js';
import type { Generator } from './generator.js';

interface ListedRule {
  readonly id: string;
  readonly role: string;
  readonly section: string;
  readonly severity: string;
  readonly operation: string;
  readonly title: string;
  readonly remedy: string;
}

const INTRODUCTION = `# The rules of the conformance kit

<!-- Generated from the rules of src/conformance: \`npm run generate -- rules\` writes it. -->

The kit checks each statement of the specification that can be observed over HTTP. An id never changes: it may stand in a
baseline (\`--baseline\`). A \`must\` that is broken fails a run, a \`should\` is a warning. \`--list\` prints the same rules.
`;
const INTERFACES: Readonly<Record<string, string>> = {
  'site-server': 'Site: a partner that serves its sites',
  'vision-server': 'Vision: a partner that serves recordings and clips',
  'partner-client': 'Scale and Account: a partner that calls',
};

function rulesPage(rules: readonly ListedRule[]): string {
  const cells = (row: readonly string[]) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const tables = Object.entries(INTERFACES).map(([role, words]) =>
    [
      `\n## ${words} (\`${role}\`)\n`,
      cells(['Rule', 'Operation', 'Section', 'Level', 'What is checked', 'What to change']),
      cells(['---', '---', '---', '---', '---', '---']),
      ...rules
        .filter((rule) => rule.role === role)
        .map(({ id, operation, section, severity, title, remedy }) =>
          cells([id, operation === 'every' ? 'every' : `\`${operation}\``, section, severity, title, remedy]),
        ),
      '',
    ].join('\n'),
  );
  return [INTRODUCTION, ...tables].join('');
}

/** The page of the rules of the kit, from the list that it prints. */
export const rules: Generator = async () => {
  let text = '';
  await runKit(['--list', '--format', 'json'], {
    out: (each) => void (text += each),
    err: (each) => void process.stderr.write(each),
  });
  const listed = JSON.parse(text) as ListedRule[];
  const page = readFileSync(join(import.meta.dirname, '../../docs/interfaces.md'), 'utf8');
  const sections = new Set([...page.matchAll(/^#{2,3} (\d[\d.]*[a-z]?) /gm)].map(([, section]) => section));
  const wrong = listed.filter(({ section }) => !sections.has(section)).map(({ id, section }) => `${id}: ${section}`);
  if (wrong.length > 0) throw new Error(`docs/interfaces.md has no such section: ${wrong.join(', ')}`);
  return { 'docs/rules.md': rulesPage(listed) };
};
