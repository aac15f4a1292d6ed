import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { answerOf as answer, type CommandOutcome, commandsBeside, runCommand as run } from '../support/command-line.js';
import { CLOSED, doorOf, OPEN } from '../support/knock.js';
import { operationsOf, type ServedDocument, servedDocuments, type ServedOperation } from '../support/documents.js';
import { ScaleHouse } from '../support/scale-house.js';
import { createTestDatabase } from '../support/test-database.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

let service: TestApp;
let leave: () => void;
let haulerId: string;

beforeAll(async () => {
  service = await startTestApp();
  leave = commandsBeside(service);
  haulerId = (await answer<{ id: string }>('hauler', 'create', '--name', 'By shell')).id;
});
afterAll(async () => {
  leave();
  await service.close();
});

async function refusal(...words: string[]): Promise<CommandOutcome> {
  const outcome = await run(...words);
  expect(outcome.out).toBe('');
  expect(outcome.err).toMatch(/^error: /);
  expect(outcome.err).not.toContain('    at ');
  return outcome;
}

interface Key {
  readonly id: string;
  readonly key: string;
  readonly [field: string]: unknown;
}

const issue = (...more: string[]) =>
  answer<Key>('key', 'issue', '--interfaces', 'account', '--hauler-id', haulerId, ...more);

describe('hauler', () => {
  test('create answers as the admin API does, and the service knows it', async () => {
    const created = await answer<{ id: string }>(
      'hauler',
      'create',
      '--name',
      'Shell',
      '--id',
      UNKNOWN.replace('4', '5'),
    );
    const read = await service.admin('GET', `/haulers/${created.id}`);
    expect(read.body).toEqual(created);
    expect(await answer('hauler', 'show', created.id)).toEqual(created);
  });

  test('create for people shows every field; twice the same id is refused', async () => {
    const id = '11111111-0000-4000-8000-000000000000';
    const { code, out } = await run('hauler', 'create', '--name', 'Line\nend', '--id', id);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^id +${id}\nname +Line end\ncreatedAt +\\S+\n$`));
    expect(await refusal('hauler', 'create', '--name', 'x', '--id', id)).toMatchObject({ code: 1 });
  });

  test('show of an unknown one is a failure', async () => {
    expect((await refusal('hauler', 'show', UNKNOWN)).code).toBe(1);
  });

  test('list shows the newest first, in pages', async () => {
    const newest = await answer<{ id: string }>('hauler', 'create', '--name', 'Newest');
    const list = await answer<{ data: unknown[]; pagination: object }>('hauler', 'list', '--page-size', '1');
    expect(list.data).toEqual([newest]);
    expect(list.pagination).toMatchObject({ page: 1, pageSize: 1 });
    const { out } = await run('hauler', 'list');
    expect(out).toContain(newest.id);
    expect(out).toMatch(/^id +name +createdAt\n/);
    expect(out).toMatch(/\d+ in all, page 1 of 1\n$/);
  });
});

describe('key', () => {
  test('issue shows a key that opens the door, once', async () => {
    const issued = await issue('--name', 'Gate', '--expires-at', '2099-01-01T00:00:00Z');
    expect(issued).toMatchObject({
      haulerId,
      interfaces: ['account'],
      name: 'Gate',
      expiresAt: '2099-01-01T00:00:00Z',
    });
    expect(await doorOf(service, issued.key)).toBe(OPEN);
    const list = await run('key', 'list', '--hauler-id', haulerId);
    expect(list.out).toContain(issued.id);
    expect(list.out).not.toContain(issued.key);
  });

  test('issue takes several interfaces, and prints the key once for people', async () => {
    const { code, out, err } = await run('key', 'issue', '--interfaces', 'site, vision', '--customer-id', 'c');
    expect([code, err]).toEqual([0, '']);
    expect(out.match(/hb_[0-9A-Za-z]{49}/g)).toHaveLength(1);
    expect(out).toMatch(/^interfaces +site,vision$/m);
  });

  test('rotate, then the old key lives on for the overlap', async () => {
    const old = await issue();
    const next = await answer<Key>('key', 'rotate', old.id, '--overlap-seconds', '0');
    expect(await doorOf(service, old.key)).toBe(OPEN);
    expect(await doorOf(service, next.key)).toBe(OPEN);
    expect(await doorOf(service, old.key)).toBe(CLOSED);
  });

  test('revoke, and every instance learns of it', async () => {
    const { id } = await issue();
    const { code, out, err } = await run('key', 'revoke', id);
    expect({ code, out, err }).toEqual({ code: 0, out: '', err: '' });
    const { data } = await answer<{ data: Key[] }>('key', 'list', '--page-size', '1');
    expect(data[0]).toMatchObject({ id });
    expect(data[0]?.['revokedAt']).not.toBeNull();
    expect(await refusal('key', 'rotate', id)).toMatchObject({ code: 1 });
  });
});

describe('ticket', () => {
  let house: ScaleHouse;
  let id: string;
  beforeAll(async () => {
    house = await ScaleHouse.open(service);
    const flow = (second: number) => ({ ticketNumber: 'IN-1', updatedAt: `2026-01-31T08:30:0${second}Z` });
    const body = JSON.stringify(house.ticket({ inboundFlow: flow(2), customFields: { truck: '42\u009b' }, later: 1 }));
    // What reads such numbers as its own says 0, 12.5 and null of them.
    id = (await house.push(body.replace('12.5', '-0').replace('"later":1', '"later":[12.50,1e309]'))).body
      .disposalTicketId;
    await house.push(house.ticket({ inboundFlow: flow(1) }));
    await house.push(house.ticket({ outboundFlow: flow(3) }));
  });

  test('list, show and revisions answer as the admin API does', async () => {
    const api = async (path: string) => (await service.admin('GET', path)).body;
    expect(await answer('ticket', 'list')).toEqual(await api('/tickets'));
    expect(await answer('ticket', 'show', id)).toEqual(await api(`/tickets/${id}`));
    expect(await answer('ticket', 'revisions', id)).toEqual(await api(`/tickets/${id}/revisions`));
  });

  test('list of a hauler, a site, a number, a time, in pages', async () => {
    const count = async (...words: string[]) =>
      (await answer<{ data: unknown[] }>('ticket', 'list', '--hauler-id', house.haulerId, ...words)).data.length;
    expect(await count()).toBe(2);
    expect(await count('--page', '2', '--page-size', '1')).toBe(1);
    expect(await count('--ticket-number', 'IN-2')).toBe(0);
    expect(await count('--ticket-number', 'IN-1', '--site-id', house.siteId)).toBe(2);
    expect(await count('--site-id', UNKNOWN)).toBe(0);
    expect(await count('--from', '2026-01-31T08:30:00Z', '--to', '9999-01-01T00:00:00Z')).toBe(2);
    expect(await count('--to', '2000-01-01T00:00:00Z')).toBe(0);
    expect(await count('--from', '9999-01-01T00:00:00Z')).toBe(0);
  });

  test.each([[[]], [['--json']]])('numbers are told as they came (%j)', async (json) => {
    expect((await run('ticket', 'show', id, ...json)).out).toMatch(/"quantity": ?-0,/);
    const { out } = await run('ticket', 'revisions', id, ...json);
    expect(out.replace(/\s/g, '')).toContain('"later":[12.50,1e309]');
  });

  test('list and revisions for people are tables', async () => {
    const list = await run('ticket', 'list', '--hauler-id', house.haulerId);
    expect(list.out).toMatch(/^id +haulerId +siteId +materials +/);
    expect(list.out).toContain('2 in all, page 1 of 1');
    const revisions = await run('ticket', 'revisions', id, '--page-size', '1');
    expect(revisions.out).toMatch(
      /^revision +receivedAt +result +body\n1 +\S+ +created +\{.*\}\n2 in all, page 1 of 2\n$/,
    );
  });

  test('control characters within a field of fields keep out of the terminal too', async () => {
    for (const words of [['show', id], ['list'], ['revisions', id]]) {
      const { out } = await run('ticket', ...words);
      expect(out).toContain('"truck":"42 "');
      expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    }
  });

  test.each(['show', 'revisions'])('%s of an unknown ticket is a failure', async (word) => {
    expect((await refusal('ticket', word, UNKNOWN)).code).toBe(1);
  });
});

describe('wrong usage is exit code 2', () => {
  test.each<[string, string[]]>([
    ['an unknown command', ['nothing']],
    ['the help of an unknown command', ['zork', '--help']],
    ['the help of what is unknown, asked for first', ['-h', 'zork']],
    ['the help of an unknown command of a group', ['hauler', 'zork', '--help']],
    ['the help of a command that another group has', ['hauler', 'rotate', '--help']],
    ['an unknown option', ['hauler', 'list', '--nothing']],
    ['a missing option', ['hauler', 'create']],
    ['a missing argument', ['key', 'revoke']],
    ['an argument too many', ['hauler', 'list', 'all']],
    ['an empty name', ['hauler', 'create', '--name', '']],
    ['an id that is none', ['key', 'rotate', 'x']],
    ['no interface', ['key', 'issue', '--interfaces', '']],
    ['an unknown interface', ['key', 'issue', '--interfaces', 'scales']],
    ['scale without a hauler', ['key', 'issue', '--interfaces', 'scale']],
    ['an overlap that is no number', ['key', 'rotate', UNKNOWN, '--overlap-seconds', 'long']],
    ['an empty overlap', ['key', 'rotate', UNKNOWN, '--overlap-seconds', '']],
    ['a page of nothing', ['key', 'list', '--page', '0']],
    ['a ticket that is no id', ['ticket', 'show', 'IN-1']],
    ['pushes of what is no id', ['ticket', 'revisions', 'IN-1']],
    ['an empty ticket number', ['ticket', 'list', '--ticket-number', '']],
  ])('%s', async (_what, words) => {
    expect((await refusal(...words)).code).toBe(2);
  });

  test.each<[string, string[]]>([
    ['--hauler-id is required for scale and account', ['key', 'issue', '--interfaces', 'scale']],
    ['--hauler-id must be a UUID', ['key', 'list', '--hauler-id', 'x']],
    ['<id> must be a UUID', ['key', 'rotate', 'x']],
    ['--from must be an RFC 3339 date-time', ['ticket', 'list', '--from', 'yesterday']],
    ['--page-size must be', ['key', 'list', '--page-size', '0']],
  ])('%s: told by its option', async (sentence, words) => {
    expect((await refusal(...words)).err).toContain(`error: ${sentence}`);
  });

  test('no command, or a group alone, shows the help', async () => {
    for (const words of [[], ['key']]) {
      const { code, err } = await run(...words);
      expect(code).toBe(2);
      expect(err).toContain('Usage: npm run cli --');
    }
  });
});

describe('a failure is exit code 1', () => {
  test('an unknown key', async () => {
    expect((await refusal('key', 'revoke', UNKNOWN)).code).toBe(1);
  });

  test('a database that is away', async () => {
    await elsewhere('postgresql://nobody:secret@127.0.0.1:1/none', async () => {
      const { code, err } = await refusal('hauler', 'list');
      expect(code).toBe(1);
      expect(err).toContain('database');
      expect(err).not.toContain('secret');
    });
  });

  test('a database that lacks migrations is not migrated by the way', async () => {
    const empty = await createTestDatabase({ migrated: false });
    try {
      await elsewhere(empty.url, async () => {
        const { code, err } = await refusal('hauler', 'list');
        expect(code).toBe(1);
        expect(err).toContain('npm run migrate');
      });
    } finally {
      await empty.drop();
    }
  });

  test('an environment with a fault', async () => {
    await elsewhere('nonsense', async () => {
      const { code, err } = await refusal('hauler', 'list');
      expect(code).toBe(1);
      expect(err).toContain('DATABASE_URL');
    });
  });
});

async function elsewhere(databaseUrl: string, work: () => Promise<void>): Promise<void> {
  process.env['DATABASE_URL'] = databaseUrl;
  try {
    await work();
  } finally {
    process.env['DATABASE_URL'] = service.env.DATABASE_URL;
  }
}

test.each([
  [],
  ['hauler'],
  ['hauler', 'create'],
  ['hauler', 'list'],
  ['key'],
  ['key', 'issue'],
  ['key', 'rotate'],
  ['ticket', 'list'],
])('%s %s --help explains itself, and is no failure', async (...words) => {
  const { code, out, err } = await run(...words.filter((word) => word !== undefined), '--help');
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('Usage: npm run cli --');
  expect(out).toContain('--json');
});

test.each([[['help']], [['help', 'key']], [['key', 'help']], [['key', 'help', 'issue']], [['--help', 'key']]])(
  '%j is no failure either',
  async (words) => {
    const { code, out, err } = await run(...words);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('Usage: npm run cli --');
  },
);

/** What the admin API does, by the ids of its operations, and the command that does the same. */
const COMMANDS: Readonly<Record<string, string>> = {
  getAccounts: 'account list',
  getAccountsById: 'account show',
  postApiKeys: 'key issue',
  getApiKeys: 'key list',
  deleteApiKeysById: 'key revoke',
  postApiKeysByIdRotate: 'key rotate',
  postConnections: 'connection add',
  getConnections: 'connection list',
  getConnectionsById: 'connection show',
  patchConnectionsById: 'connection change',
  deleteConnectionsById: 'connection remove',
  postConnectionsByIdCheck: 'connection check',
  postConnectionsByIdSync: 'connection sync',
  getCoverage: 'coverage show',
  postHaulers: 'hauler create',
  getHaulers: 'hauler list',
  getHaulersById: 'hauler show',
  putHostedCameras: 'hosted-camera set',
  putHostedHaulersByHaulerIdSiteData: 'hosted-site-data replace',
  postHostedRecordings: 'recording import',
  getHostedVideoRequests: 'hosted-video-request list',
  getKiosks: 'kiosk list',
  getMaterials: 'material list',
  getRecordings: 'recording list',
  getRecordingsById: 'recording show',
  getSites: 'site list',
  getSyncRuns: 'sync-run list',
  getSyncRunsById: 'sync-run show',
  postSyncRunsByIdConfirm: 'sync-run confirm',
  getSyncRunsByIdQuarantine: 'sync-run quarantine',
  getTickets: 'ticket list',
  getTicketsById: 'ticket show',
  getTicketsByIdRevisions: 'ticket revisions',
  postVideoRequests: 'video-request create',
  getVideoRequests: 'video-request list',
  getVideoRequestsById: 'video-request show',
  postVideoSubscriptions: 'video-subscription create',
  getVideoSubscriptions: 'video-subscription list',
  getVideoSubscriptionsById: 'video-subscription show',
  patchVideoSubscriptionsById: 'video-subscription change',
  deleteVideoSubscriptionsById: 'video-subscription end',
  getVisionFindings: 'vision-finding list',
};

/** A film's bytes are read by HTTP alone, as the README says. */
const BY_HTTP_ALONE = ['getRecordingsByIdContent'];

/** Told otherwise by the command: films say when they end, and a file holds what the body does. */
const NO_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  postHostedRecordings: ['endTime'],
  putHostedHaulersByHaulerIdSiteData: ['sites', 'kiosks', 'materials'],
};

test('whatever the admin API does is done from a shell too, and told in options of the same names', async () => {
  const documents = await servedDocuments(service);
  const operations = operationsOf(documents).filter(({ name }) => name === 'admin');
  const known = [...Object.keys(COMMANDS), ...BY_HTTP_ALONE].sort();
  expect(operations.map(({ operation }) => operation.operationId).sort()).toEqual(known);
  for (const { operation } of operations) {
    const words = COMMANDS[operation.operationId];
    if (words === undefined) continue;
    const { out } = await run(...words.split(' '), '--help');
    expect(out).toContain(`Usage: npm run cli -- ${words} `);
    const without = NO_OPTIONS[operation.operationId] ?? [];
    const names = namesIn(operation, documents.get('admin')).filter((name) => !without.includes(name));
    expect([words, out.match(/(?<=^ +--)[a-z-]+/gm)]).toEqual([words, expect.arrayContaining(names.map(inWords))]);
  }
});

/** Of a query's parameters and of a body's fields. */
function namesIn({ parameters = [], requestBody }: ServedOperation, document?: ServedDocument): string[] {
  const { $ref = '' } = requestBody?.content['application/json']?.schema ?? {};
  const body = document?.components.schemas[$ref.replace('#/components/schemas/', '')];
  const query = parameters.filter((parameter) => parameter.in === 'query');
  return [...query.map(({ name }) => name), ...Object.keys(body?.properties ?? {})];
}

const inWords = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
