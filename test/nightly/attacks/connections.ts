import { setTimeout as delay } from 'node:timers/promises';
import {
  admin,
  type Attack,
  becomes,
  call,
  descriptors,
  Faults,
  honestPartner,
  type Outcome,
  pipelined,
  pushAccount,
  residentMiB,
  scaled,
  silentConnections,
  type Target,
} from './target.js';

const CONNECTIONS = 2_000;
/** How many descriptors may be open more than before: connections of the database and of this program. */
const SPARE_DESCRIPTORS = 20;
const MAX_GROWTH_MIB = 100;
const RELEASE_MS = 10_000;

/** Connections that ask for one path again and again, read nothing, and close. */
async function unread(target: Target, paths: readonly string[]): Promise<Outcome> {
  const faults = new Faults();
  // The first request of a file or document may read it into memory.
  for (const path of paths) await call(target, path);
  const before = { open: descriptors(target), rss: residentMiB(target) };
  let peak = before.rss ?? 0;
  const count = scaled(target, CONNECTIONS, 60);
  const groupSize = 50;
  for (let done = 0; done < count; done += groupSize) {
    const text = pipelined(paths[(done / groupSize) % paths.length] ?? '/');
    const sockets = await silentConnections(target, { count: groupSize, text });
    await delay(100);
    peak = Math.max(peak, residentMiB(target) ?? 0);
    for (const socket of sockets) socket.destroy();
  }
  const health = await call(target, '/health/ready');
  faults.expect(health.status === 200, `/health/ready answered ${health.status}`);
  if (before.open !== undefined && before.rss !== undefined) {
    const max = before.open + SPARE_DESCRIPTORS;
    const isReleased = await becomes(() => (descriptors(target) ?? 0) <= max, RELEASE_MS);
    faults.expect(isReleased, `${descriptors(target)} descriptors are open after 10 s; before: ${before.open}`);
    const growth = Math.round(peak - before.rss);
    faults.expect(growth <= MAX_GROWTH_MIB, `memory grew by ${growth} MiB`);
    return faults.outcome({ connections: count, descriptors: descriptors(target) ?? 0, growthMiB: growth });
  }
  return faults.outcome({ connections: count });
}

const staticFiles: Attack = {
  row: 'A1',
  title: 'static files are asked for 64 times on each of 2,000 connections and not read',
  run: (target) => unread(target, ['/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css', '/console', '/docs']),
};

const documents: Attack = {
  row: 'A2',
  title: 'documents are asked for 64 times on each of 2,000 connections and not read',
  run: (target) => unread(target, ['/docs/admin.json', '/docs/vision.yaml', '/docs/scale.json', '/nothing']),
};

/** The address that holds the connections. */
const LOUD = '127.0.0.3';

const idleConnections: Attack = {
  row: 'A7',
  title: '2,000 idle connections of one address',
  async run(target) {
    const faults = new Faults();
    const partner = await honestPartner(target);
    const text = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
    const count = scaled(target, CONNECTIONS, 700);
    const sockets = await silentConnections(target, { count, text, from: LOUD });
    await delay(500);
    const others = {
      health: await call(target, '/health/ready'),
      admin: await admin(target, 'GET', '/haulers'),
      push: await pushAccount(target, partner, `Idle ${Date.now()}`, 'attack-idle'),
    };
    for (const [what, { status, ms }] of Object.entries(others)) {
      faults.expect(status === 200, `${what} answered ${status} after ${ms} ms`);
    }
    const open = sockets.filter((socket) => !socket.destroyed && socket.readyState === 'open').length;
    for (const socket of sockets) socket.destroy();
    const isBack = await becomes(
      async () => (await call(target, '/health/live', { from: LOUD })).status === 200,
      10_000,
    );
    faults.expect(isBack, 'the address is still refused after its connections were closed');
    return faults.outcome({ connections: count, accepted: sockets.length, open, pushMs: others.push.ms });
  },
};

export const CONNECTION_ATTACKS: readonly Attack[] = [staticFiles, documents, idleConnections];
