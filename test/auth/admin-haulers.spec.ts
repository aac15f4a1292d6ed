import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ErrorAnswer } from '../shared/post-endpoint.js';
import { startTestApp, type TestApp } from '../support/app.js';

interface Hauler {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

interface List<T> {
  readonly data: T[];
  readonly pagination: { page: number; pageSize: number; totalItems: number; totalPages: number };
}

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const paths = (reply: { body: unknown }) =>
  (reply.body as { error: { details: { violations: { path: string }[] } } }).error.details.violations.map(
    (violation) => violation.path,
  );

describe('POST /admin/v1/haulers', () => {
  test('creates a hauler and returns its id, name and time', async () => {
    const { status, body } = await service.admin<Hauler>('POST', '/haulers', { name: 'Green Valley' });
    expect(status).toBe(201);
    expect(Object.keys(body).sort()).toEqual(['createdAt', 'id', 'name']);
    expect(body.name).toBe('Green Valley');
    expect(body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect(Math.abs(Date.parse(body.createdAt) - Date.now())).toBeLessThan(10_000);
  });

  test('accepts an id in lower case, and refuses it the second time', async () => {
    const id = '0197A1C4-7C1E-4B3A-9F7E-2C5D8E4F6A10';
    const first = await service.admin<Hauler>('POST', '/haulers', { id, name: 'Given' });
    expect(first.status).toBe(201);
    expect(first.body.id).toBe(id.toLowerCase());
    const second = await service.admin('POST', '/haulers', { id: id.toLowerCase(), name: 'Other' });
    expect(second.status).toBe(409);
    expect(second.body).toMatchObject({ success: false, error: { code: 'CONFLICT' } });
    const kept = await service.admin<Hauler>('GET', `/haulers/${id}`);
    expect(kept.body.name).toBe('Given');
  });

  test.each([
    ['no name', {}, 'name'],
    ['a name of null', { name: null }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of blanks', { name: '   ' }, 'name'],
    ['a name of 201 characters', { name: 'n'.repeat(201) }, 'name'],
    ['a name that is a number', { name: 7 }, 'name'],
    ['an id that is no uuid', { name: 'n', id: 'seven' }, 'id'],
  ])('refuses %s', async (_what, body, path) => {
    const reply = await service.admin('POST', '/haulers', body);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ success: false, error: { code: 'INVALID_PAYLOAD' } });
    expect(paths(reply)).toEqual([path]);
  });

  test('says that a name of blanks is blank', async () => {
    const { body } = await service.admin<ErrorAnswer>('POST', '/haulers', { name: '   ' });
    expect(body.error.message).toBe('name must be text that is not blank, of 1 to 200 characters');
  });

  test('counts code points: a name of 200 astral characters is taken', async () => {
    const reply = await service.admin<Hauler>('POST', '/haulers', { name: '🚛'.repeat(200) });
    expect(reply.status).toBe(201);
    expect(reply.body.name).toBe('🚛'.repeat(200));
  });
});

describe('GET /admin/v1/haulers', () => {
  test('lists newest first, in pages', async () => {
    for (const name of ['A', 'B', 'C']) await service.admin('POST', '/haulers', { name: `List ${name}` });
    const first = await service.admin<List<Hauler>>('GET', '/haulers?page=1&pageSize=2');
    expect(first.status).toBe(200);
    expect(first.body.data.map(({ name }) => name)).toEqual(['List C', 'List B']);
    const { totalItems } = first.body.pagination;
    expect(first.body.pagination).toEqual({ page: 1, pageSize: 2, totalItems, totalPages: Math.ceil(totalItems / 2) });
    const second = await service.admin<List<Hauler>>('GET', '/haulers?page=2&pageSize=2');
    expect(second.body.data[0]?.name).toBe('List A');
    const past = await service.admin<List<Hauler>>('GET', '/haulers?page=1000');
    expect(past.status).toBe(200);
    expect(past.body).toEqual({
      data: [],
      pagination: { ...past.body.pagination, page: 1000, pageSize: 20, totalItems },
    });
  });

  test.each(['page=0', 'page=-1', 'page=x', 'page=1.5', 'pageSize=0', 'pageSize=101', 'pageSize='])(
    'refuses ?%s',
    async (query) => {
      const reply = await service.admin('GET', `/haulers?${query}`);
      expect(reply.status).toBe(400);
      expect(paths(reply)).toEqual([query.split('=')[0]]);
    },
  );

  test('an unknown id is 404, what is no id 400', async () => {
    const unknown = await service.admin('GET', `/haulers/${UNKNOWN}`);
    expect(unknown.status).toBe(404);
    expect(unknown.body).toMatchObject({ error: { code: 'NOT_FOUND' } });
    const malformed = await service.admin('GET', '/haulers/seven');
    expect(malformed.status).toBe(400);
    expect(paths(malformed)).toEqual(['id']);
  });
});
