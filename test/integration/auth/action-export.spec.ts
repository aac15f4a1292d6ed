import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Action } from '../../../src/contracts/admin/action.dto.js';
import { createHauler } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { commandsBeside, runCommand } from '../../support/command-line.js';
import { eventually } from '../../support/eventually.js';

const AUDITOR = { name: 'auditor', token: 'token-of-the-auditor-0123', role: 'viewer' } as const;
const COUNT = 12_000;

let service: TestApp;
let leave: () => void;
beforeAll(async () => {
  service = await startTestApp({ env: { ADMIN_TOKENS: [AUDITOR] } });
  leave = commandsBeside(service);
  await createHauler(service, 'Lone Star');
  await createHauler(service, 'Big Bend');
});
afterAll(async () => {
  leave();
  await service.close();
});

const headers = { Authorization: `Bearer ${AUDITOR.token}`, Accept: 'application/x-ndjson' };
const ask = (query = '') => fetch(`${service.url}/admin/v1/actions${query}`, { headers });
const actionsOf = (lines: string): Action[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Action);
const listed = async (query = '') =>
  (await service.admin<{ data: Action[] }>('GET', `/actions?pageSize=100${query}`)).body.data;

describe('Accept: application/x-ndjson on the action log', () => {
  test('answers 503 and no action if the export cannot be stored itself', async () => {
    await service.dataSource.query(
      "ALTER TABLE actions ADD CONSTRAINT full_log CHECK (action <> 'actions.exported') NOT VALID",
    );
    try {
      const answer = await ask();
      expect([answer.status, answer.headers.get('content-type')]).toEqual([503, 'application/json; charset=utf-8']);
      expect(await answer.json()).toMatchObject({
        error: { message: expect.stringMatching(/^the action log cannot be written/) },
      });
    } finally {
      await service.dataSource.query('ALTER TABLE actions DROP CONSTRAINT full_log');
    }
  });

  test('is printed by action export, which refuses as the service does', async () => {
    const before = await listed();
    const { code, out, err } = await runCommand('action', 'export', '--to', new Date().toISOString());
    expect([code, err]).toEqual([0, '']);
    expect(actionsOf(out)).toEqual(before);
    const wrong = await runCommand('action', 'export', '--from', 'yesterday');
    expect([wrong.code, wrong.out]).toEqual([2, '']);
    expect(wrong.err).toContain('--from');
  });
});

describe('a long action log', () => {
  beforeAll(async () => {
    await service.dataSource.query(
      `INSERT INTO actions (id, at, actor, action, resource, changes)
       SELECT uuidv7(), '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 ms', 'admin', 'retryRecordings', 'long', $2
       FROM generate_series(1, $1::int) AS n`,
      [COUNT, JSON.stringify({ reason: 'x'.repeat(900) })],
    );
  });

  /** The response as it arrives. */
  async function open(): Promise<IncomingMessage> {
    const request = get(`${service.url}/admin/v1/actions?resource=long`, { headers, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response.pause();
  }

  test('has every action once, beyond the last page of the list', async () => {
    const found = actionsOf(await text(await open()));
    expect(new Set(found.map(({ id }) => id)).size).toBe(COUNT);
    const times = found.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  test('breaks off when an error happens in the middle, so that no part looks complete', async () => {
    const response = await open();
    await service.dataSource.query('ALTER TABLE actions RENAME TO actions_away');
    try {
      await expect(text(response)).rejects.toThrow('aborted');
    } finally {
      await service.dataSource.query('ALTER TABLE actions_away RENAME TO actions');
    }
  });

  test('is read no further for a client that has left, nor for one that does not read', async () => {
    const read = jest.spyOn(service.dataSource, 'query');
    const response = await open();
    // Beside the statements of the service's own timers.
    const pages = () => read.mock.calls.filter(([sql]) => sql.startsWith('SELECT list.*')).length;
    const idle = async () => {
      const before = pages();
      await delay(500);
      expect(pages()).toBe(before);
    };
    await eventually(idle);
    // The whole log has twelve.
    expect(pages()).toBeLessThan(7);
    response.destroy();
    await eventually(idle);
    expect(pages()).toBeLessThan(8);
    read.mockRestore();
  });
});
