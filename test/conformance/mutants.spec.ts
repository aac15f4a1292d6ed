import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type KitAnswer, type KitRequest, NoAnswerError } from '../../src/conformance/exchange.js';
import { httpTransport, type Transport } from '../../src/conformance/http-transport.js';
import { SERVER_ROLES } from '../../src/conformance/roles.js';
import type { ServerRole } from '../../src/conformance/rule.js';
import { type RuleResult, runServerRole } from '../../src/conformance/run.js';
import { type Mutant, mutantsOf } from './mutants.js';
import { type KitScene, startKitScene } from './scene.js';

const PLAN_HEADER = 'X-Plan';

let scene: KitScene;
let transport: Transport;
beforeAll(async () => {
  scene = await startKitScene();
  transport = httpTransport(20_000);
}, 60_000);
afterAll(async () => {
  transport.close();
  await scene.service.close();
});

/** The role, whose requests name their plan in a header. */
const marked = (role: ServerRole): ServerRole => ({
  ...role,
  plans: Object.fromEntries(
    Object.entries(role.plans).map(([name, plan]) => [
      name,
      {
        ...plan,
        draft: async (run) => {
          const draft = await plan.draft(run);
          return { ...draft, headers: { ...draft.headers, [PLAN_HEADER]: name } };
        },
      },
    ]),
  ),
});

function run(role: ServerRole, send: (request: KitRequest, plan: string) => Promise<KitAnswer>): Promise<RuleResult[]> {
  return runServerRole(marked(role), {
    baseUrl: scene.service.url,
    apiKey: role.keyHeader === 'API-KEY' ? scene.partnerKey : scene.platformKey,
    fixtures: scene.fixtures,
    runId: 'kit-mutants',
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
    const results = await run(role, async (request, plan) => {
      const answer = await transport.send(request);
      answers.set(plan, answer);
      return answer;
    });
    expect(results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
  }, 60_000);

  const found = ({ on, change }: Mutant) =>
    run(role, async (_, plan) => {
      const answer = answers.get(plan);
      if (answer === undefined) throw new NoAnswerError(`no answer of ${plan} was recorded`);
      return plan === on ? change(answer, answers) : answer;
    });

  test('each find a server that breaks it, and no other rule does', async () => {
    const wrong: string[] = [];
    for (const mutant of mutantsOf(role)) {
      const ids = faulty(await found(mutant));
      if (ids.join() !== mutant.rule) wrong.push(`${mutant.rule} on ${mutant.on}: found by ${ids.join() || 'none'}`);
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  test('all have a server that breaks them', () => {
    const broken = new Set(mutantsOf(role).map(({ rule }) => rule));
    expect(role.rules.map(({ id }) => id).filter((id) => !broken.has(id))).toEqual([]);
  });
});
