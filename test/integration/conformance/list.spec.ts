import 'reflect-metadata';
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
