import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { requirePrograms } from '../support/programs.js';
import { testServer } from '../support/test-run.js';

const RULES = join(import.meta.dirname, '../../docs/alerts.yml');
const alerts = [...readFileSync(RULES, 'utf8').matchAll(/- alert: (\w+)$/gm)].map(([, name = '']) => name);

/** Series by name, with their values as promtool writes them: `1+2x30` begins with 1 and adds 2, 30 times. */
interface Case {
  readonly what: string;
  readonly series: Readonly<Record<string, string>>;
  /** What has fired until then. */
  readonly until: string;
  readonly fires: readonly string[];
}

const REQUESTS = 'http_request_duration_seconds_count';
const quiet = (what: string, series: Record<string, string>, until: string): Case => ({
  what,
  series,
  until,
  fires: [],
});
const fires = (alert: string, what: string, series: Record<string, string>, until: string): Case => ({
  what,
  series,
  until,
  fires: [`Haulbridge${alert}`],
});

const CASES: readonly Case[] = [
  fires('AnswersFail', 'one answer in fifty is 503', requests('0+98x60', '0+2x60'), '20m'),
  quiet('one answer in a thousand is 503', requests('0+999x60', '0+1x60'), '20m'),
  quiet('a failover of half a minute', requests('0+6000x60', '0x9 1500 3000x50'), '30m'),
  fires('InstanceDown', 'one of two instances does not answer', up('1x9 0x50'), '14m'),
  quiet('an instance was restarted', up('1x9 0 1x50'), '11m'),
  fires('DatabaseTakesNoWrites', 'the database is full', unavailable('full', '0x9 1+50x50'), '15m'),
  fires('DatabaseTakesNoWrites', 'the address leads to a standby', unavailable('read-only', '0x9 1+50x50'), '15m'),
  quiet('the primary was replaced', unavailable('read-only', '0x9 400 1200x50'), '20m'),
  fires('StorageFails', 'the storage is full', unavailable('storage', '0x9 3x50'), '15m'),
  fires('TicketsRefused', 'one push in four is refused', tickets('0+75x90', '0+25x90'), '80m'),
  quiet('one push in twenty is refused', tickets('0+95x90', '0+5x90'), '80m'),
  fires('NeedsAttention', 'a link is about to expire', attention('downloads-at-risk', 'now', '0x9 1x30'), '25m'),
  quiet('a partner refused a key once', attention('refused-keys', 'now', '0x9 1x4 0x30'), '25m'),
  fires('NeedsAttention', 'work has waited for hours', attention('late-work', 'soon', '0x9 1x500'), '7h'),
  quiet(
    'a synchronisation failed, and the next one succeeded',
    attention('failing-runs', 'soon', '0x9 1x60 0x500'),
    '7h',
  ),
  quiet('a key expires in 13 days', attention('expiring-keys', 'watch', '1x900'), '14h'),
  fires('RefusesByOverload', 'pushes are refused', { 'overload_refusals_total{reason="tickets"}': '0+60x60' }, '20m'),
  fires(
    'AnswersUndeclared',
    'an answer is not in the document',
    { 'undeclared_answers_total{operation="pushTicket", status="418"}': '1x60' },
    '5m',
  ),
  fires('TicketsQueue', 'pushes wait', { 'tickets_waiting{unit="pushes"}': '1500x60' }, '10m'),
  fires('HotPathWaits', 'pushes wait for connections', { 'hot_path_pool_connections{state="waiting"}': '2x60' }, '10m'),
  fires('BodiesUnfinished', 'bodies do not arrive', { request_bodies_receiving_bytes: '60000000x60' }, '10m'),
  fires('WaitsForConnections', 'requests wait', { 'database_pool_connections{state="waiting"}': '40x60' }, '10m'),
  fires('ExchangesLost', 'a queue was full', { 'exchanges_lost_total{reason="queue-full"}': '0x9 7x60' }, '15m'),
  quiet('a caller without a key', { 'exchanges_lost_total{reason="no-key"}': '0x9 7x60' }, '15m'),
  fires(
    'ExchangesNearDayLimit',
    'most of the day is used',
    { exchanges_bytes_today: '8x60', exchanges_bytes_per_day_limit: '10x60' },
    '10m',
  ),
  fires(
    'ExchangesFlooded',
    'many callers without a key',
    { 'exchanges_lost_total{reason="no-key"}': '0+120x60' },
    '50m',
  ),
];

function requests(good: string, bad: string) {
  return { [`${REQUESTS}{status="200"}`]: good, [`${REQUESTS}{status="503"}`]: bad };
}
function up(values: string) {
  return { 'up{job="haulbridge", instance="a"}': '1x60', 'up{job="haulbridge", instance="b"}': values };
}
function attention(kind: string, severity: string, values: string) {
  return { [`attention_items{kind="${kind}", severity="${severity}"}`]: values };
}
function unavailable(cause: string, values: string) {
  return { [`unavailable_answers_total{cause="${cause}"}`]: values };
}
function tickets(created: string, refused: string) {
  return { 'tickets_total{result="created"}': created, 'tickets_total{result="refused"}': refused };
}

/** JSON is YAML. */
const testFile = (): string =>
  JSON.stringify({
    rule_files: [RULES],
    evaluation_interval: '1m',
    tests: CASES.map(({ what, series, until, fires: names }) => ({
      name: what,
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          expr: 'max by (alertname) (max_over_time(ALERTS{alertstate="firing"}[10d]))',
          eval_time: until,
          exp_samples: names.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
        },
      ],
    })),
  });

test('each alert has a case in which it fires', () => {
  expect(alerts).toHaveLength(15);
  expect(alerts.filter((name) => !CASES.some((one) => one.fires.includes(name)))).toEqual([]);
});

describe('promtool', () => {
  beforeAll(() => requirePrograms('promtool'));

  const promtool = (command: string, file: string) => {
    const { status, stdout, stderr } = spawnSync('promtool', [...command.split(' '), file], { encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };

  test('accepts the rules', () => {
    expect(promtool('check rules', RULES)).toEqual({ status: 0, output: expect.stringContaining('rules found') });
  });

  test('finds that exactly the alerts of each case fire', () => {
    const file = join(mkdtempSync(join(testServer().folder, 'promtool-')), 'cases.yml');
    writeFileSync(file, testFile());
    expect(promtool('test rules', file)).toEqual({ status: 0, output: expect.stringContaining('SUCCESS') });
  });
});
