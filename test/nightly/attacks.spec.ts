import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type BuiltService, startService } from '../support/built-service.js';
import { reportFigures, shortOrLong } from '../support/faults.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { attempt, ATTACKS } from './attacks/attacks.js';

const READ_TOKEN = 'test-read-token-0123456789';

let database: TestDatabase;
let service: BuiltService;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ databaseUrl: database.url, env: { ADMIN_READ_TOKEN: READ_TOKEN } });
});
afterAll(async () => {
  await service.end('SIGKILL');
  await database.drop();
});

test.each(ATTACKS.map((attack) => [attack.row, attack.title, attack] as const))(
  '%s holds: %s',
  async (row, _title, attack) => {
    const target = {
      url: service.url,
      adminToken: 'test-admin-token-0123456789',
      readToken: READ_TOKEN,
      pid: service.child.pid,
      scale: shortOrLong(0.1, 1),
    };
    const { faults, figures } = await attempt(attack, target);
    reportFigures(row, figures);
    expect(faults).toEqual([]);
  },
  shortOrLong(60_000, 300_000),
);
