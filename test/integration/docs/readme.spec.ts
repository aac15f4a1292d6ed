import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';

const ROOT = join(import.meta.dirname, '../../..');
const PICTURES = join(ROOT, 'docs/pictures');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

let service: TestApp;
beforeAll(async () => void (service = await startTestApp()));
afterAll(() => service.close());

test('the README shows the answer that the service gives to its example of wrong input', async () => {
  const [, request = '', answer = ''] =
    /\*\*Wrong input\.\*\*[\s\S]*?-d '([^']+)'\n```[^`]*```json\n([\s\S]*?)```/.exec(README) ?? [];
  const { key } = await issueKey(service, ['account']);
  const { status, body } = await service.call('POST', '/platform-api/v1/accounts', {
    headers: { 'PLATFORM-API-KEY': key },
    body: JSON.parse(request) as object,
  });
  expect(status).toBe(400);
  expect(JSON.parse(answer)).toEqual(body);
});

test('the README has at most 150 lines, and begins with who pushes what and what goes wrong', () => {
  expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  expect(README.split('\n\n')[1]).toMatch(/pushes a ticket[\s\S]*Without/);
  expect(README).toContain('](docs/pictures/home.png)');
});

test('the pictures are PNG files of 1280 pixels and less than 150 KB, and documents show each', () => {
  const pictures = globSync('*.png', { cwd: PICTURES }).sort();
  expect(pictures).toEqual(
    ['exchange', 'held-run', 'home', 'kit-report', 'player', 'truck'].map((name) => `${name}.png`),
  );
  const pages = globSync(['README.md', 'docs/**/*.md'], { cwd: ROOT }).map((page) =>
    readFileSync(join(ROOT, page), 'utf8'),
  );
  for (const name of pictures) {
    const bytes = readFileSync(join(PICTURES, name));
    expect([name, bytes.toString('latin1', 1, 4), bytes.readUInt32BE(16)]).toEqual([name, 'PNG', 1280]);
    expect([name, bytes.length < 150_000]).toEqual([name, true]);
    expect([name, pages.some((page) => page.includes(`pictures/${name}`))]).toEqual([name, true]);
  }
});
