import { setTimeout as delay } from 'node:timers/promises';
import {
  admin,
  type Attack,
  call,
  Faults,
  honestPartner,
  json,
  pushAccount,
  scaled,
  silentConnection,
  type Target,
} from './target.js';

const FLOOD_MS = 20_000;
const PUSHES = 40;
const CALLERS = 4;

/** Calls unknown paths with long addresses and headers until `isOver`, and returns how many were answered. */
async function flood(target: Target, from: string, isOver: () => boolean): Promise<number> {
  let answered = 0;
  while (!isOver()) {
    const path = `/platform-api/v1/nothing/${'x'.repeat(4_000)}?${answered}`;
    const headers = { 'X-Noise': 'y'.repeat(6_000), 'X-Request-Id': `noise-${answered}` };
    if ((await call(target, path, { headers, from })).status !== 0) answered++;
  }
  return answered;
}

const logFlood: Attack = {
  row: 'A5',
  title: 'unknown paths with long addresses and headers, without a key',
  async run(target) {
    const faults = new Faults();
    const partner = await honestPartner(target);
    let isOver = false;
    const floods = Array.from({ length: CALLERS }, (_, i) => flood(target, `127.0.0.${10 + i}`, () => isOver));
    const every = scaled(target, FLOOD_MS, 4_000) / PUSHES;
    const ids = Array.from({ length: PUSHES }, (_, i) => `attack-flood-${Date.now()}-${i}`);
    for (const id of ids) {
      const { status } = await pushAccount(target, partner, id, id);
      faults.expect(status === 200, `an account was answered with ${status}`);
      await delay(every);
    }
    isOver = true;
    const answered = (await Promise.all(floods)).reduce((sum, count) => sum + count, 0);
    const logged = await Promise.all(ids.map((id) => admin(target, 'GET', `/exchanges?requestId=${id}`)));
    const missing = logged.filter((reply) => json<{ data: unknown[] }>(reply, 200).data.length !== 1).length;
    faults.expect(missing === 0, `${missing} of ${PUSHES} accepted accounts are not in the exchange log`);
    return faults.outcome({ refusedCalls: answered, accepted: PUSHES, missing });
  },
};

const SIGN_IN = '/console/api/session';
const MIB = 1024 * 1024;

const unfinishedSignIns: Attack = {
  row: 'A6',
  title: '16 unfinished sign-ins of 1 MiB from two addresses',
  async run(target) {
    const faults = new Faults();
    const head = `POST ${SIGN_IN} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    const texts = [
      `${head}Content-Length: ${MIB}\r\n\r\n{"token":"`,
      `${head}Transfer-Encoding: chunked\r\n\r\n10\r\n{"token":"000000\r\n`,
      `${head}Content-Length: 4000\r\nContent-Encoding: gzip\r\n\r\n`,
    ];
    const opened = await Promise.all(
      Array.from({ length: 16 * texts.length }, (_, i) =>
        silentConnection(target, texts[i % texts.length] ?? '', `127.0.0.${20 + (i % 2)}`),
      ),
    );
    await delay(500);
    const write = await admin(target, 'POST', '/haulers', { name: 'During the sign-ins' });
    faults.expect(write.status === 201, `an admin write was answered with ${write.status}`);
    const signIn = await call(target, SIGN_IN, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Console': '1' },
      body: JSON.stringify({ token: target.adminToken }),
    });
    faults.expect(signIn.status < 300, `a sign-in was answered with ${signIn.status}`);
    const large = await call(target, SIGN_IN, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Console': '1' },
      body: JSON.stringify({ token: 'x'.repeat(5_000) }),
    });
    faults.expect(large.status === 413, `a sign-in of 5 KB was answered with ${large.status}`);
    for (const socket of opened) socket?.destroy();
    return faults.outcome({ connections: opened.length, writeMs: write.ms, signInMs: signIn.ms });
  },
};

export const BODY_ATTACKS: readonly Attack[] = [logFlood, unfinishedSignIns];
