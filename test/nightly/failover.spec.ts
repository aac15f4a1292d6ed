import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Attention } from '../../src/contracts/admin/attention.routes.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { Cluster } from './failover/cluster.js';
import { MACHINES } from './failover/configuration.js';
import { type Fault, figuresOf } from './failover/figures.js';
import { Load } from './failover/load.js';
import { requireFailoverPrograms } from './failover/programs.js';
import { Scene } from './failover/scene.js';
import { loggedErrors, verdictOf } from './failover/verdict.js';
import { type Outage, outageSince, type Watch, watchPath, watchReadiness } from './failover/watch.js';

/** The promise. */
const TAKEN_WITHIN_MS = 5_000;
const [BACK_MS, WORK_ENDS_MS, CASE_MS] = [120_000, 120_000, 400_000];
/** A check that began before the path was lost may still succeed, and one may reach a new primary before the client does. */
const READY_SLACK_MS = 2_500;
const PROBES = 'probe.rows';

describe('two instances on three nodes with Patroni, HAProxy and PgBouncer', () => {
  let cluster: Cluster;
  let scene: Scene;
  let load: Load;
  let path: Watch;
  let readiness: Watch[] = [];
  beforeAll(async () => {
    requireFailoverPrograms();
    cluster = await Cluster.start();
    scene = await Scene.open(cluster);
    await cluster.onPrimary(`CREATE SCHEMA probe AUTHORIZATION haulbridge;
      CREATE TABLE ${PROBES} (at timestamptz DEFAULT now()); ALTER TABLE ${PROBES} OWNER TO haulbridge`);
    const urls = scene.instances.map(({ url }) => url);
    load = new Load(urls, scene.house);
    load.start();
    path = watchPath(cluster.url, PROBES);
    readiness = urls.map((url) => watchReadiness(url));
  }, CASE_MS);
  afterAll(async () => {
    await load?.settle(0);
    await Promise.all([path, ...readiness].map((watch) => watch?.stop()));
    await scene?.close();
    await cluster?.stop();
  }, CASE_MS);

  /** Lets the fault happen under load, and waits until the path takes writes, the nodes are complete, and work has ended. */
  async function during(name: string, happen: () => Promise<void>): Promise<void> {
    await scene.offerRecordings();
    await delay(2_000);
    const fault = { name, at: performance.now(), firstElement: load.elements.length };
    await happen();
    await eventually(() => outageOf(fault), BACK_MS);
    await cluster.whole();
    await delay(TAKEN_WITHIN_MS);
    const outage = outageOf(fault);
    const figures = figuresOf(fault, outage, load, scene.instances.length);
    reportFigures('failover', { ...figures });
    const { writable, taken } = figures;
    expect(taken - writable).toBeLessThan(TAKEN_WITHIN_MS / 1_000);
    for (const { samples } of readiness) expectUnreadyDuring(outage, samples);
    await eventually(
      async () => expect(await scene.recordings(cluster)).toEqual({ stored: scene.offered }),
      WORK_ENDS_MS,
    );
    for (const { child } of scene.instances) expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    expect(loggedErrors(scene)).toEqual([]);
    expect(load.wrong.splice(0)).toEqual([]);
  }

  function outageOf({ at }: Fault): Outage {
    const outage = outageSince(path.samples, at);
    if (outage === undefined) throw new Error(`the path has not come back\n${cluster.output()}`);
    return outage;
  }

  function expectUnreadyDuring({ beganAt, endedAt }: Outage, samples: Watch['samples']): void {
    const within = samples.filter((one) => one.beganAt > beganAt + READY_SLACK_MS && one.at < endedAt - READY_SLACK_MS);
    expect(within.filter(({ text }) => !text.startsWith('503'))).toEqual([]);
    expect(samples.at(-1)?.ok).toBe(true);
  }

  const fault = (name: string, happen: () => Promise<void>) =>
    test(`${name}: 503 until the path takes writes, and all goes on by itself`, () => during(name, happen), CASE_MS);

  fault('kill -9 of the primary', async () => {
    const primary = await cluster.primary();
    cluster.signalNode(primary, 'SIGKILL');
    await eventually(async () => expect(await cluster.primary()).not.toBe(primary), BACK_MS);
    cluster.startPatroni(primary);
  });

  fault('switchover', async () => cluster.switchover(await cluster.primary()));

  fault('kill -9 of PgBouncer', async () => {
    cluster.signalPgbouncer('SIGKILL');
    await delay(2_000);
    cluster.startPgbouncer();
  });

  fault('etcd without a quorum for 20 s', async () => {
    const some = MACHINES.slice(1);
    for (const machine of some) cluster.signalEtcd(machine, 'SIGKILL');
    await delay(20_000);
    for (const machine of some) cluster.startEtcd(machine);
  });

  fault('the primary stops for 30 s', async () => {
    const primary = await cluster.primary();
    cluster.signalNode(primary, 'SIGSTOP');
    await delay(30_000);
    cluster.signalNode(primary, 'SIGCONT');
  });

  test('nothing is wrong with a database that has its primary and both standbys', async () => {
    await cluster.whole();
    await eventually(async () => {
      const { body } = await scene.instances[0].admin<Attention>('GET', '/attention');
      expect(body.data.filter(({ kind }) => kind === 'database-trouble' || kind === 'replication')).toEqual([]);
      expect(body.checked.find(({ kind }) => kind === 'replication')).toMatchObject({ ok: true });
    }, 60_000);
  }, 120_000);

  test(
    'nothing that was acknowledged is lost or doubled, and every exchange is stored or counted',
    async () => {
      await load.settle(120_000);
      expect(load.open).toEqual([]);
      const verdict = await verdictOf(cluster, scene, load);
      reportFigures('failover', verdict.figures);
      expect(verdict).toMatchObject({ lost: [], doubled: [], others: [] });
    },
    CASE_MS,
  );
});
