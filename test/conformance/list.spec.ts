import 'reflect-metadata';
import { describe, expect, test } from '@jest/globals';
import { runKit } from '../../src/conformance/kit.js';

interface ListedRule {
  readonly id: string;
  readonly role: string;
  readonly section: string;
  readonly severity: string;
  readonly title: string;
  readonly remedy: string;
}

/** The sections of the specification, and whether a statement of it can be observed over HTTP. */
const SECTIONS: Readonly<Record<string, boolean>> = {
  // Purposes and workflows: the rules stand at the sections of the operations.
  '1': false,
  // The common error body is checked with the code of section 7.
  '2.1': false,
  '2.2': true,
  '2.3': true,
  '2.4': true,
  '2.5': true,
  '2.4a': true,
  '2.5a': true,
  '2.6': true,
  '3': true,
  '4': true,
  '4.1': true,
  '4.2': true,
  '4.3': true,
  '4.4': true,
  '4.5': true,
  '4.6': true,
  '5': true,
  '6': true,
  '7': true,
  '8': true,
  // The versions are parts of the paths, which the rules of the operations call.
  '9': false,
};

async function list(...words: string[]) {
  let text = '';
  const out = (each: string) => void (text += each);
  expect(await runKit(['--list', ...words], { out, err: out })).toBe(0);
  return text;
}

const rules = JSON.parse(await list('--format', 'json')) as ListedRule[];
const SERVERS = ['site-server', 'vision-server', 'scale-server', 'account-server'];

describe('--list', () => {
  test('has no rule of an unknown section', () => {
    expect(rules.filter(({ section }) => !(section in SECTIONS)).map(({ id, section }) => `${id} ${section}`)).toEqual(
      [],
    );
  });

  test.each(Object.keys(SECTIONS).filter((section) => SECTIONS[section] === true))(
    'has a rule of section %s',
    (section) => {
      expect(rules.some((rule) => rule.section === section)).toBe(true);
    },
  );

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
