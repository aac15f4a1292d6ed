import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import 'reflect-metadata';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { delimiter, join } from 'node:path';
import { type KitAnswer, type KitRequest, NoAnswerError } from '../../../src/conformance/exchange.js';
import { httpTransport, type Transport } from '../../../src/conformance/http-transport.js';
import { runKit } from '../../../src/conformance/kit.js';
import type { Report } from '../../../src/conformance/report/report.js';
import { SERVER_ROLES } from '../../../src/conformance/roles.js';
import type { ServerRole } from '../../../src/conformance/rule.js';
import { type RuleResult, runServerRole } from '../../../src/conformance/run.js';
import { testServer } from '../../support/test-run.js';
import type { Mutant } from './mutant.js';
import { mutantsOf } from './mutants.js';
import { type KitScene, startKitScene } from './scene.js';

let scene: KitScene;
let folder: string;
let fixtures: string;
beforeAll(async () => {
  scene = await startKitScene();
  folder = mkdtempSync(join(testServer().folder, 'kit-'));
  fixtures = join(folder, 'fixtures.json');
  writeFileSync(fixtures, JSON.stringify(scene.fixtures));
});
afterAll(() => scene.service.close());

const ROLES = ['site-server', 'vision-server'] as const;

async function kit(...words: string[]) {
  let out = '';
  let err = '';
  const code = await runKit(words, { out: (text) => void (out += text), err: (text) => void (err += text) });
  return { code, out, err };
}

const run = (role: string, ...words: string[]) =>
  kit('--role', role, '--url', scene.service.url, '--api-key', scene.partnerKey, '--fixtures', fixtures, ...words);

const WRONG_KEY = 'some-wrong-key';
const withWrongKey = (...words: string[]) => run('site-server', '--api-key', WRONG_KEY, ...words);

const jsonOf = async (role: string, ...words: string[]) => {
  const { code, out } = await run(role, '--format', 'json', ...words);
  return { code, report: JSON.parse(out) as Report };
};

describe('our own servers', () => {
  test.each(ROLES)(
    'pass every rule of %s',
    async (role) => {
      const { code, report } = await jsonOf(role, '--write');
      const others = report.rules.filter(({ outcome }) => outcome !== 'passed');
      expect(others.map(({ id, outcome, message }) => `${id} ${outcome}: ${message}`)).toEqual([]);
      expect(code).toBe(0);
      expect(report.summary.passed).toBe(report.rules.length);
    },
    60_000,
  );

  test.each(ROLES)('store nothing of a run of %s without --write', async (role) => {
    const requests = async () =>
      (await scene.service.admin<{ data: unknown[] }>('GET', '/hosted/video-requests?pageSize=100')).body.data.length;
    const before = await requests();
    const { code, report } = await jsonOf(role);
    expect(code).toBe(0);
    expect(await requests()).toBe(before);
    expect(report.summary.failed + report.summary.kitError).toBe(0);
    if (role !== 'site-server') expect(report.summary.notProven).toBeGreaterThan(0);
  });
});

describe('the report', () => {
  test('names the rule, the remedy, the answer and a curl that repeats the request, without the key', async () => {
    const { code, out } = await withWrongKey('--format', 'json');
    expect(code).toBe(1);
    expect(out).not.toContain(WRONG_KEY);
    const report = JSON.parse(out) as Report;
    expect(report.rules[0]).toMatchObject({
      id: 'SITE-001',
      outcome: 'failed',
      section: '4.3',
      response: { status: 401 },
    });
    expect(report.rules[0]?.request?.curl).toContain('-H "API-KEY: $API_KEY"');
    expect(report.rules.slice(1).every(({ outcome }) => outcome === 'not-proven')).toBe(true);
  });

  test('may be text, JUnit XML or HTML, on the standard output or in a file', async () => {
    const { out: text } = await run('site-server');
    expect(text).toMatch(/^pass {2}SITE-001/m);
    const { out: xml } = await run('site-server', '--format', 'junit');
    expect(xml).toContain('failures="0"');
    const file = join(folder, 'report.html');
    expect(await run('site-server', '--format', 'html', '--out', file)).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toContain('<h1>Conformance of site-server</h1>');
    expect(readFileSync(file, 'utf8')).toContain('<p class="verdict passed">Passed</p>');
  });
});

describe('a baseline of known failures', () => {
  test('excuses the failures that it names, from a list or from an earlier report', async () => {
    const list = join(folder, 'baseline.txt');
    writeFileSync(list, '# known\nSITE-001\n');
    expect((await withWrongKey('--baseline', list)).code).toBe(0);
    const report = join(folder, 'baseline.json');
    await withWrongKey('--format', 'json', '--out', report);
    expect((await withWrongKey('--baseline', report)).code).toBe(0);
  });
});

const PLAN_HEADER = 'X-Plan';
let transport: Transport;
beforeAll(async () => {
  transport = httpTransport(20_000);
});
afterAll(async () => {
  transport.close();
});

/** For a page that our own server was not asked for, because the list of a mutant is longer. */
const NO_PAGE: KitAnswer = { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') };

/** The role, whose requests name their plan in a header. */
const marked = (role: ServerRole): ServerRole => ({
  ...role,
  plans: Object.fromEntries(
    Object.entries(role.plans).map(([name, plan]) => [
      name,
      {
        ...plan,
        content: async (run, page) => {
          const content = await plan.content(run, page);
          return { ...content, headers: { ...content.headers, [PLAN_HEADER]: page === 1 ? name : `${name} ${page}` } };
        },
      },
    ]),
  ),
});

function runMutant(
  role: ServerRole,
  send: (request: KitRequest, plan: string) => Promise<KitAnswer>,
): Promise<RuleResult[]> {
  return runServerRole(marked(role), {
    baseUrl: scene.service.url,
    apiKey: scene.partnerKey,
    fixtures: scene.fixtures,
    runId: 'kit-mutants',
    pause: async () => undefined,
    refuse: () => undefined,
    send: (request) => send(request, request.headers[PLAN_HEADER] ?? ''),
  });
}

const faulty = (results: readonly RuleResult[]) =>
  results.filter(({ outcome }) => ['failed', 'warning', 'kit-error'].includes(outcome)).map(({ rule }) => rule.id);

describe.each(Object.values(SERVER_ROLES))('the rules of $name', (role) => {
  /** What our own server answered to each request. */
  const answers = new Map<string, KitAnswer>();
  beforeAll(async () => {
    const results = await runMutant(role, async (request, plan) => {
      const answer = await transport.send(request);
      answers.set(plan, answer);
      return answer;
    });
    expect(results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
  });

  const found = ({ on, change }: Mutant) =>
    runMutant(role, async ({ url }, plan) => {
      const answer = answers.get(plan);
      const isChanged = on instanceof RegExp ? on.test(plan) : on === plan || on === plan.replace(/ \d+$/, '');
      if (isChanged) return change(answer ?? NO_PAGE, answers, plan, url);
      if (answer === undefined) throw new NoAnswerError(`no answer of ${plan} was recorded`);
      return answer;
    });

  test('each find a server that breaks it, and no other rule does', async () => {
    const wrong: string[] = [];
    for (const mutant of mutantsOf(role)) {
      const ids = faulty(await found(mutant));
      if (ids.join() !== mutant.rule) wrong.push(`${mutant.rule} on ${mutant.on}: found by ${ids.join() || 'none'}`);
    }
    expect(wrong).toEqual([]);
  });

  test('all have a server that breaks them', () => {
    const broken = new Set(mutantsOf(role).flatMap(({ rule }) => rule));
    expect(role.rules.map(({ id }) => id).filter((id) => !broken.has(id))).toEqual([]);
  });
});

const BUNDLE = join(import.meta.dirname, '../../../dist/conformance/haulbridge-conformance.mjs');

/** This Node.js, and every other one on the path that is new enough for the kit. */
const NODES = [
  process.execPath,
  ...(process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .filter((file) => existsSync(file)),
];
const versionOf = (node: string) => execFileSync(node, ['--version']).toString().trim();
const BY_VERSION = new Map(NODES.map((node) => [versionOf(node), node]));

let bundleFolder: string;
beforeAll(() => {
  bundleFolder = mkdtempSync(join(testServer().folder, 'bundle-'));
  copyFileSync(BUNDLE, join(bundleFolder, 'kit.mjs'));
});

test('the kit is one file that imports nothing but Node.js', () => {
  const imports = [...readFileSync(BUNDLE, 'utf8').matchAll(/^import .*? from "([^"]+)";$|\bimport\("([^"]+)"\)/gm)];
  expect(imports.length).toBeGreaterThan(3);
  expect(imports.map(([, name, dynamic]) => name ?? dynamic ?? '').filter((name) => !isBuiltin(name))).toEqual([]);
});

test.each([...BY_VERSION].filter(([version]) => Number(/\d+/.exec(version)?.[0]) >= 20))(
  'it runs alone with Node.js %s, without an environment',
  (_, node) => {
    const run = (...words: string[]) =>
      spawnSync(node, ['kit.mjs', ...words], { cwd: bundleFolder, env: {}, encoding: 'utf8', timeout: 30_000 });
    const list = run('--list');
    expect([list.status, list.stderr]).toEqual([0, '']);
    expect(list.stdout.match(/^[A-Z]+-\d{3} /gm)?.length).toBeGreaterThan(350);
    const piped = spawnSync('sh', ['-c', '"$0" kit.mjs --list | head -n 1', node], {
      cwd: bundleFolder,
      encoding: 'utf8',
    });
    expect([piped.stdout.split('  ')[0], piped.stderr]).toEqual(['SITE-001', '']);
    expect(run('--role', 'truck')).toMatchObject({ status: 2, stdout: '' });
    const refused = run(...'--role vision-server --customer-id c --url http://127.0.0.1:1 --api-key k'.split(' '));
    expect(refused.status).toBe(1);
    expect(refused.stdout).toContain('connection refused by 127.0.0.1:1');
  },
  60_000,
);
