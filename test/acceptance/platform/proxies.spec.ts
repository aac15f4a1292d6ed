import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { rawRequest } from '../../support/raw-request.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { call } from '../support/target.js';

const CALLER = '203.0.113.7';

let service: OwnService;
beforeAll(async () => {
  service = await startOwnService({ env: { TRUST_PROXY: '127.0.0.1,10.0.0.0/8,fd00::/8', LOG_LEVEL: 'info' } });
});

const ask = (path: string, ...headers: string[]) => rawRequest(service.url + path, 'GET', headers);

describe('cookies in several header lines are those of one session (decision 57)', () => {
  let session: string;
  beforeAll(async () => {
    const headers = { 'X-Console': '1' };
    const reply = await call('POST', '/console/api/session', { headers, body: { token: service.adminToken } }, service);
    [session = ''] = (reply.headers.get('set-cookie') ?? '').split(';');
  });

  test.each([
    ['one line', (cookie: string) => [cookie]],
    ['the session first', (cookie: string) => [cookie, 'theme=dark']],
    ['the session last', (cookie: string) => ['theme=dark', cookie]],
    ['the session between others', (cookie: string) => ['a=1; b=2', `${cookie}; c=3`, 'd=4']],
    ['no blanks, and another name that ends alike', (cookie: string) => [`x${cookie};${cookie}`]],
    ['blanks around each', (cookie: string) => [` a=1 ;  ${cookie}  ; b`]],
  ])('%s', async (_what, lines) => {
    const headers = lines(session).flatMap((line) => ['Cookie', line]);
    expect((await ask('/admin/v1/haulers', ...headers)).status).toBe(200);
    const signedIn = await ask('/console/api/session', ...headers);
    expect([signedIn.status, JSON.parse(signedIn.text)]).toMatchObject([200, { kind: 'admin' }]);
  });

  test('of which none is a session opens nothing', async () => {
    expect((await ask('/admin/v1/haulers', 'Cookie', 'a=1', 'Cookie', `x${session}`)).status).toBe(401);
  });
});

describe('the address of a caller behind trusted proxies (decision 63)', () => {
  test.each([
    ['one address', [CALLER], CALLER],
    ['a list', [`198.51.100.1, ${CALLER}, 10.1.2.3`], CALLER],
    ['a list in several lines', ['198.51.100.1', `${CALLER},10.1.2.3`, '10.9.9.9'], CALLER],
    ['addresses with ports', [`198.51.100.1:4711,${CALLER}:50123 , 10.1.2.3:443`], CALLER],
    ['IPv6', ['198.51.100.1, 2001:db8::7, fd00::1'], '2001:db8::7'],
    ['IPv6 with ports', ['[2001:db8::7]:50123, [fd00::1]:443'], '2001:db8::7'],
    ['IPv6 in brackets', ['[2001:db8::7]'], '2001:db8::7'],
  ])('is read from X-Forwarded-For: %s', async (what, lines, address) => {
    const requestId = what.replaceAll(' ', '-');
    await ask('/nope', 'X-Request-Id', requestId, ...lines.flatMap((line) => ['X-Forwarded-For', line]));
    await eventually(() => {
      const line = service
        .output()
        .split('\n')
        .find((each) => each.includes(`"requestId":"${requestId}"`));
      expect(JSON.parse(line ?? '{}')).toMatchObject({ address });
    });
  });

  test('is one caller, from whichever port it guesses', async () => {
    const statuses = [];
    for (let n = 0; n < 12; n++) {
      const headers = { 'X-Console': '1', 'X-Forwarded-For': `203.0.113.99:${50_000 + n}` };
      const body = { token: `wrong-token-${n}-0123456789`.padStart(40, String(n)) };
      statuses.push((await call('POST', '/console/api/session', { headers, body }, service)).status);
    }
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
  });
});
