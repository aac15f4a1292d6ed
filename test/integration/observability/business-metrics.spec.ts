import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Metrics } from '../../../src/core/observability/metrics.js';
import { eventually } from '../../support/eventually.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { refuses } from '../../support/scripted-partner.js';
import { site } from '../../support/site-data.js';
import { SITES_ROUTE, SiteScene } from '../../support/site-scene.js';

let scene: SiteScene;
beforeAll(async () => {
  scene = await SiteScene.start();
});
afterAll(() => scene.stop());

async function scrape({ service } = scene): Promise<string> {
  const headers = { Authorization: `Bearer ${service.env.ADMIN_TOKEN}` };
  return (await service.call('GET', '/metrics', { headers })).text;
}

/** The series of a metric in the text. */
const series = async (name: string, of = scene) =>
  (await scrape(of)).split('\n').filter((line) => line.startsWith(`${name}{`));

describe('business metrics', () => {
  test('count tickets by their result', async () => {
    const house = await ScaleHouse.open(scene.service);
    const flow = (second: number) => ({ ticketNumber: '1', updatedAt: `2026-01-01T00:00:0${second}Z` });
    const push = (second: number, quantity: number) =>
      house.push(house.ticket({ inboundFlow: flow(second), materials: [house.material({ quantity })] }));
    await push(2, 1);
    await push(3, 2);
    await push(3, 2);
    await push(1, 3);
    await house.push(house.ticket({ siteId: randomUUID() }));
    const key = { 'Idempotency-Key': 'once' };
    for (let time = 1; time <= 3; time++) await house.push(house.ticket({ customFields: { a: 'b' } }), key);
    await house.push({});
    // Some of these pushes are in one batch.
    await Promise.all(Array.from({ length: 20 }, () => house.push(house.ticket())));
    expect((await series('tickets_total')).sort()).toEqual([
      'tickets_total{result="created"} 22',
      'tickets_total{result="refused"} 1',
      'tickets_total{result="replayed"} 2',
      'tickets_total{result="stale"} 1',
      'tickets_total{result="unchanged"} 1',
      'tickets_total{result="updated"} 1',
    ]);
  });

  test('count synchronisations by their status, and calls of partners by their outcome', async () => {
    await scene.renew();
    expect((await scene.sync({ sites: [site('a')] })).status).toBe('succeeded');
    scene.partner.on(SITES_ROUTE, refuses(401, 'UNAUTHORIZED'));
    expect((await scene.sync()).status).toBe('failed');
    await eventually(async () =>
      expect((await series('sync_runs_total')).sort()).toEqual([
        'sync_runs_total{status="failed"} 1',
        'sync_runs_total{status="held"} 0',
        'sync_runs_total{status="succeeded"} 1',
      ]),
    );
    expect((await series('partner_calls_total')).sort()).toEqual([
      'partner_calls_total{interface="site",outcome="ok"} 1',
      'partner_calls_total{interface="site",outcome="unauthorized"} 1',
      'partner_calls_total{interface="vision",outcome="unauthorized"} 0',
    ]);
  });
});

test('a scrape does not count its own queries as requests that wait', async () => {
  await eventually(async () => {
    expect(await series('database_pool_connections')).toContain('database_pool_connections{state="waiting"} 0');
  });
});

describe('docs/grafana-dashboard.json', () => {
  test('uses the metrics of a scrape only', async () => {
    const text = readFileSync(join(import.meta.dirname, '../../../docs/grafana-dashboard.json'), 'utf8');
    const { panels } = JSON.parse(text) as { panels: { targets: { expr: string }[] }[] };
    const known = new Set([...(await scrape()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    for (const { expr } of panels.flatMap(({ targets }) => targets)) {
      const bare = expr.replaceAll(/\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)/g, '');
      const names = [...bare.matchAll(/[a-z_]+(?![a-z_]*\()/g)]
        .map(([word]) => word)
        .filter((word) => word.includes('_'));
      expect(names).toHaveLength(1);
      expect(known).toContain(names[0]?.replace(/_(?:count|bucket)$/, ''));
    }
  });
});

describe('docs/alerts.yml', () => {
  const rules = readFileSync(join(import.meta.dirname, '../../../docs/alerts.yml'), 'utf8');
  const expressions = [...rules.matchAll(/^ +expr: (?:\|\n((?: {10}.+\n)+)|(.+)$)/gm)].map(
    ([, block, line]) => block ?? line ?? '',
  );
  const WORDS = new Set([
    'absent',
    'time',
    'sum',
    'min',
    'max',
    'rate',
    'increase',
    'by',
    'kind',
    'interface',
    'table',
    'severity',
    'or',
    'min_over_time',
  ]);

  test('uses the metrics of a scrape only', async () => {
    expect(expressions.length).toBe([...rules.matchAll(/- alert: /g)].length);
    expect(expressions.length).toBe([...rules.matchAll(/^ {10}severity: .*(critical|warning)/gm)].length);
    const scraped = [...(await scrape()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    // `up` is of Prometheus itself.
    const known = new Set([...scraped, 'up']);
    for (const expression of expressions) {
      const bare = expression.replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, '');
      const names = [...bare.matchAll(/[a-z_]+/g)].map(([word]) => word).filter((word) => !WORDS.has(word));
      expect(names.length).toBeGreaterThan(0);
      for (const name of names) expect(known).toContain(name.replace(/_count$/, ''));
    }
  });

  test('uses no increase of a series that starts with its first count, which would not be seen', async () => {
    const fresh = (await new Metrics().registry.metrics()).split('\n');
    const asked = expressions.flatMap((expression) => [
      ...expression.matchAll(/increase\((\w+)\{(\w+)=~?"([\w|-]+)"\}/g),
    ]);
    expect(asked.length).toBe([...rules.matchAll(/increase\(/g)].length);
    for (const [, name = '', label, values = ''] of asked) {
      for (const value of values.split('|')) {
        const begun = fresh.filter((line) => line.startsWith(`${name}{`) && line.includes(`${label}="${value}"`));
        expect(begun.map((line) => line.split(' ').at(-1))).toEqual(
          name === 'partner_calls_total' ? ['0', '0'] : ['0'],
        );
      }
    }
  });
});
