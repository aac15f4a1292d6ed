import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { answerOf as answer, type CommandOutcome, commandsBeside, runCommand as run } from '../support/command-line.js';
import { CLOSED, doorOf, OPEN } from '../support/knock.js';
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
  });

  test('create for people shows every field; twice the same id is refused', async () => {
    const id = '11111111-0000-4000-8000-000000000000';
    const { code, out } = await run('hauler', 'create', '--name', 'Line\nend', '--id', id);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^id +${id}\nname +Line end\ncreatedAt +\\S+\n$`));
    expect(await refusal('hauler', 'create', '--name', 'x', '--id', id)).toMatchObject({ code: 1 });
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

describe('wrong usage is exit code 2', () => {
  test.each<[string, string[]]>([
    ['an unknown command', ['nothing']],
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
    ['a page of nothing', ['key', 'list', '--page', '0']],
  ])('%s', async (_what, words) => {
    expect((await refusal(...words)).code).toBe(2);
  });

  test.each<[string, string[]]>([
    ['--hauler-id is required for scale and account', ['key', 'issue', '--interfaces', 'scale']],
    ['--hauler-id must be a UUID', ['key', 'list', '--hauler-id', 'x']],
    ['<id> must be a UUID', ['key', 'rotate', 'x']],
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

test.each([[], ['hauler'], ['hauler', 'create'], ['hauler', 'list'], ['key'], ['key', 'issue'], ['key', 'rotate']])(
  '%s %s --help explains itself, and is no failure',
  async (...words) => {
    const { code, out, err } = await run(...words.filter((word) => word !== undefined), '--help');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('Usage: npm run cli --');
    expect(out).toContain('--json');
  },
);
