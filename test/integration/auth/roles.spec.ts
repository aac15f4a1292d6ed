import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_API, ADMIN_ROUTES } from '../../../src/contracts/admin/admin.api.js';
import type { ApiRoute } from '../../../src/contracts/common/api-contract.js';
import { ADMIN_ROLES, type AdminRole, includesRole } from '../../../src/contracts/common/roles.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { callOf } from '../../support/admin-calls.js';

const READ_TOKEN = 'read-only-token-0123456789';
const tokenOf = (role: AdminRole) => `token-of-the-role-${role}`;

let service: TestApp;
beforeAll(async () => {
  const tokens = ADMIN_ROLES.map((role) => ({ name: `a-${role.replace('+', '-')}`, token: tokenOf(role), role }));
  service = await startTestApp({ env: { ADMIN_READ_TOKEN: READ_TOKEN, ADMIN_TOKENS: tokens, SANDBOX: true } });
});
afterAll(() => service.close());

interface Refusal {
  readonly error?: { readonly code: string; readonly message: string };
}

const call = (token: string, method: string, path: string, body?: unknown) =>
  service.call<Refusal>(method, path, { headers: { Authorization: `Bearer ${token}` }, body });

const routes = Object.entries(ADMIN_ROUTES);

it('each route of the admin API names a role, and no change is open to viewers', () => {
  expect(routes.filter(([, { role }]) => !ADMIN_ROLES.some((each) => each === role))).toEqual([]);
  const open = routes.filter(
    ([, { method, role }]) => method !== 'GET' && (role === 'viewer' || role === 'viewer+video'),
  );
  expect(open.map(([name]) => name)).toEqual([]);
});

describe.each(ADMIN_ROLES)('a token with the role %s', (role) => {
  it('may call what its role allows, and is refused with the role that it needs', async () => {
    const answers = [];
    for (const [name, route] of routes) {
      const { method, path, body } = callOf(route);
      const { status, body: reply } = await call(tokenOf(role), method, ADMIN_API.prefix + path, body);
      answers.push([name, status === 403 ? reply.error : [401, 403].includes(status) ? status : 'allowed']);
    }
    expect(answers).toEqual(
      routes.map(([name, route]) => {
        const needed = route.role as AdminRole;
        if (includesRole(role, needed)) return [name, 'allowed'];
        const message = `this needs the role ${needed}; a-${role.replace('+', '-')} has the role ${role}`;
        return [name, { code: 'FORBIDDEN', message }];
      }),
    );
  });

  it('reads the metrics', async () => {
    expect((await call(tokenOf(role), 'GET', '/metrics')).status).toBe(200);
  });
});

it('ADMIN_READ_TOKEN reads all, video too, may check a connection, and is refused with 401 where it may not act', async () => {
  const statuses = [];
  for (const [name, route] of routes) {
    const { method, path, body } = callOf(route);
    statuses.push([name, (await call(READ_TOKEN, method, ADMIN_API.prefix + path, body)).status === 401]);
  }
  const isOpen = ({ role, isOpenToReadToken }: ApiRoute) =>
    includesRole('viewer+video', role as AdminRole) || isOpenToReadToken === true;
  expect(statuses).toEqual(routes.map(([name, route]) => [name, !isOpen(route)]));
});

it('names the token in the action log', async () => {
  await call(tokenOf('admin'), 'POST', '/admin/v1/haulers', { name: 'Lone Star' });
  const { body } = await service.admin<{ data: { actor: string; sentence: string }[] }>('GET', '/actions');
  expect(body.data[0]).toMatchObject({
    actor: 'token:a-admin',
    sentence: expect.stringMatching(/^The token a-admin created/),
  });
});

it('signs in to the console with a named token, and shows its name and role', async () => {
  const headers = { 'X-Console': '1' };
  const { body } = await service.call('POST', '/console/api/session', {
    headers,
    body: { token: tokenOf('operator') },
  });
  expect(body).toMatchObject({ kind: 'admin', name: 'a-operator', role: 'operator' });
});
