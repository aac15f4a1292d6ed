import 'reflect-metadata';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { runKit } from '../../../src/conformance/kit.js';

interface ListedRule {
  readonly id: string;
  readonly role: string;
  readonly section: string;
  readonly severity: string;
  readonly operation: string;
  readonly title: string;
  readonly remedy: string;
}

async function list(...words: string[]) {
  let text = '';
  const out = (each: string) => void (text += each);
  expect(await runKit(['--list', ...words], { out, err: out })).toBe(0);
  return text;
}

const rules = JSON.parse(await list('--format', 'json')) as ListedRule[];
const SERVERS = ['site-server', 'vision-server', 'scale-server', 'account-server'];

describe('--list', () => {
  test('has the rules of six roles, each with an id of its own, a title and a remedy', () => {
    expect([...new Set(rules.map(({ role }) => role))].sort()).toEqual(
      [...SERVERS, 'partner-client', 'platform-client'].sort(),
    );
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    const isWhole = ({ id, severity, title, remedy }: ListedRule) =>
      /^[A-Z]+-\d{3}$/.test(id) && ['must', 'should'].includes(severity) && title !== '' && remedy !== '';
    expect(rules.filter((rule) => !isWhole(rule))).toEqual([]);
  });

  test('shows one role as text', async () => {
    const text = await list('--role', 'partner-client');
    expect(text).toMatch(/^PARTNER-001 {2}must {4}section \d/m);
    expect(text).not.toContain('SITE-001');
  });
});

const PAGE = join(import.meta.dirname, '../../../docs/rules.md');
const INTRODUCTION = `# The rules of the conformance kit

<!-- Generated from the tables of src/conformance: \`npm run rules\` writes it. -->

The kit checks each statement of the specification that can be observed over HTTP. An id never changes: it may stand in a
baseline (\`--baseline\`). A \`must\` that is broken fails a run, a \`should\` is a warning. \`--list\` prints the same rules.
`;
const INTERFACES: Readonly<Record<string, string>> = {
  'site-server': 'Site: a partner that serves its sites',
  'vision-server': 'Vision: a partner that serves recordings and clips',
  'scale-server': 'Scale: a platform that receives tickets',
  'account-server': 'Account: a platform that creates accounts',
  'partner-client': 'Scale and Account: a partner that calls',
  'platform-client': 'Site and Vision: a platform that calls',
};

function rulesPage(): string {
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

test('docs/rules.md has these rules: UPDATE_RULES=1 writes it', () => {
  if (process.env['UPDATE_RULES'] === '1') writeFileSync(PAGE, rulesPage());
  expect(readFileSync(PAGE, 'utf8')).toBe(rulesPage());
});
