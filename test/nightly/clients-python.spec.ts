import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { requirePrograms } from '../support/programs.js';
import { type SandboxScene, startSandboxScene } from '../support/sandbox-scene.js';

const run = promisify(execFile);
const CLIENTS = join(import.meta.dirname, '../../clients');

beforeAll(() => requirePrograms('python3'));

/** Runs a program with the client of the repository, and returns what it prints. */
async function runPython(program: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  // The program ignores a proxy of the environment.
  const shared = { PYTHONPATH: join(CLIENTS, 'python'), PYTHONDONTWRITEBYTECODE: '1', NO_PROXY: '*' };
  return (await run('python3', ['-c', program], { env: { ...process.env, ...shared, ...env } })).stdout;
}

describe('the Python client and the service', () => {
  let scene: SandboxScene;
  beforeAll(async () => {
    scene = await startSandboxScene();
  });
  afterAll(() => scene?.service.close());

  /** Runs a program with `client`, which prints one JSON value. */
  async function runClient(lines: string[], key = scene.platformKey): Promise<unknown> {
    const setUp = [
      'import asyncio, json',
      'from haulbridge import *',
      `address = ("${scene.service.url}", "${key}")`,
      'client = Client(*address, timeout=20)',
      'item = MaterialItem(id="7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21", name="Debris", quantity=1, unit_of_measure="Ton")',
      'body = CreateScaleTicketRequest(site_id="0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10", materials=[item])',
    ];
    return JSON.parse(await runPython([...setUp, ...lines].join('\n')));
  }

  const tickets = async () =>
    (await scene.service.admin<{ pagination: { totalItems: number } }>('GET', `/tickets?haulerId=${scene.haulerId}`))
      .body.pagination.totalItems;

  test('the program of clients/README.md works as it is printed, twice', async () => {
    const [, program = ''] = /```python\n([\s\S]*?)```/.exec(readFileSync(join(CLIENTS, 'README.md'), 'utf8')) ?? [];
    const env = { URL: scene.service.url, KEY: scene.platformKey };
    const first = await runPython(program, env);
    expect(first).toMatch(/^account \S+\nticket [0-9a-f-]{36} created\ncreateTicket: 400 INVALID_PAYLOAD\n/);
    expect(first).toMatch(
      /\n {2}materials\[0\]\.unitOfMeasure: .*Ton, Gallon.* \(\w+\)\n {2}request id: \S+\n400 INVALID/,
    );
    const again = await runPython(program, env);
    expect(again.split('\n').slice(0, 2)).toEqual([
      first.split('\n')[0],
      String(first.split('\n')[1]).replace('created', 'unchanged'),
    ]);
  });

  test.each(['Client', 'AsyncClient'])(
    '%s: a lost answer and a 503 push a ticket without a flow once',
    async (type) => {
      const before = await tickets();
      await scene.start(`haulers/${scene.haulerId}`, 'answer-lost', { times: 1 });
      await scene.start(`haulers/${scene.haulerId}`, 'unavailable', { times: 1, parameters: { seconds: 0 } });
      const call =
        type === 'Client'
          ? 'answer = client.create_ticket(body)'
          : 'answer = asyncio.run(AsyncClient(*address).create_ticket(body))';
      expect(await runClient([call, 'print(json.dumps(answer.body.success))'])).toBe(true);
      expect((await tickets()) - before).toBe(1);
    },
  );

  test('a 422 names each element, is not repeated, and its key can be used for a later repeat', async () => {
    const result = await runClient([
      'body.site_id = item.id = "00000000-0000-4000-8000-000000000000"',
      'try:',
      '    client.create_ticket(body)',
      'except ApiError as error:',
      '    rules = [each.rule for each in error.violations]',
      '    print(json.dumps([error.status, error.attempts, len(error.idempotency_key), rules, str(error), error.headers["x-request-id"]]))',
    ]);
    const [status, attempts, keyLength, rules, printed, requestId] = result as [
      number,
      number,
      number,
      string[],
      string,
      string,
    ];
    expect([status, attempts, keyLength, rules.length]).toEqual([422, 1, 36, 2]);
    for (const part of ['422 VALIDATION_ERROR', 'siteId', 'materials[0].id', ...rules, requestId]) {
      expect(printed).toContain(part);
    }
  });

  test('429 raises at the end with Retry-After, and 401 and 409 at once', async () => {
    await scene.start(`haulers/${scene.haulerId}`, 'too-many-requests', { times: 2, parameters: { seconds: 1 } });
    const result = await runClient([
      'seen = []',
      'def call(name, **words):',
      '    try:',
      '        return client.create_account(CreateAccountRequest(account_name=name), **words)',
      '    except ApiError as error:',
      '        seen.append([error.status, error.attempts, error.retry_after, error.reason])',
      'call("Python", retries=1)',
      'call("Python")',
      'call("python")',
      'client = Client(address[0], "wrong")',
      'call("Python")',
      'print(json.dumps(seen))',
    ]);
    expect(result).toEqual([
      [429, 2, 1, null],
      [409, 1, null, 'NAME_TAKEN'],
      [401, 1, null, null],
    ]);
  });

  test('read sites and recordings', async () => {
    const sites = [
      `answer = client.get_sites(hauler_id="${scene.haulerId}")`,
      'again = client.get_sites(hauler_id="' + scene.haulerId + '", etag=answer.headers["ETag"])',
      'print(json.dumps([len(answer.body.data.sites), answer.body.data.sites[0].name != "", again.status]))',
    ];
    expect(await runClient(sites, scene.partnerKey)).toEqual([3, true, 304]);
    const recordings = [
      'day = {"start_time": "2026-01-31T08:00:00Z", "end_time": "2026-01-31T09:00:00Z"}',
      'answer = client.list_continuous(customer_id="ACME Hauling", truck_id="TRUCK-7", **day)',
      'print(json.dumps(len(answer.body.data.recordings)))',
    ];
    expect(await runClient(recordings, scene.partnerKey)).toBe(4);
  });
});

/** What the service never sends: a gateway, a server that is silent, a date in `Retry-After`. */
describe('the Python client and other answers', () => {
  const OK = JSON.stringify({ success: true, disposalTicketId: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10' });
  type Answer = { status: number; headers?: Record<string, string>; body: string } | 'silence';
  let answers: Answer[] = [];
  const received: { headers: IncomingHttpHeaders; body: string }[] = [];
  let server: Server;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const answerTo = (body: string) => {
        received.push({ headers: request.headers, body });
        const answer = answers.shift() ?? { status: 200, body: OK };
        if (answer !== 'silence') response.writeHead(answer.status, answer.headers).end(answer.body);
      };
      text(request).then(answerTo, () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Pushes a ticket, and returns what is printed: `ok`, or the text of the error. */
  async function push(quantity: string, words: string, ...given: Answer[]): Promise<string> {
    answers = given;
    received.length = 0;
    const { port } = server.address() as AddressInfo;
    const printed = await runPython(
      [
        'import uuid',
        'from decimal import Decimal',
        'from haulbridge import *',
        `client = Client("http://127.0.0.1:${port}", "k")`,
        `item = MaterialItem(id="m", name="ä", quantity=${quantity}, unit_of_measure="Ton")`,
        'try:',
        `    client.create_ticket(CreateScaleTicketRequest(site_id=uuid.UUID(int=1), materials=[item]), ${words})`,
        '    print("ok")',
        'except (CallError, TypeError, ValueError) as error:',
        '    print(f"{type(error).__name__}: {error}")',
      ].join('\n'),
    );
    return printed.trim();
  }

  test.each(['12.480', '0.1000000000000000055511151231257827', '-0.00', '1E+3', '9007199254740993'])(
    'a Decimal of %s is sent digit by digit',
    async (digits) => {
      expect(await push(`Decimal("${digits}")`, '')).toBe('ok');
      expect(received[0]?.body).toContain(`"quantity":${digits},`);
      expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ siteId: '00000000-0000-0000-0000-000000000001' });
    },
  );

  test('NaN is refused before it is sent, with its path', async () => {
    for (const value of ['float("nan")', 'Decimal("Infinity")']) {
      expect(await push(value, '')).toMatch(/^ValueError: materials\[0\]\.quantity: .* is not a JSON value/);
    }
    expect(received).toHaveLength(0);
  });

  test('every try has the same key and body; a date in Retry-After is honoured, and so is HTML of a gateway', async () => {
    const date = new Date(Date.now() - 5_000).toUTCString();
    const html = { status: 502, headers: { 'Content-Type': 'text/html' }, body: '<h1>Bad gateway</h1>' };
    const busy = { status: 503, headers: { 'Retry-After': date }, body: '' };
    const cut = { status: 200, headers: { 'Retry-After': '0' }, body: '{"success":' };
    expect(await push('1', '', html, busy, cut)).toBe('ok');
    expect(received).toHaveLength(4);
    expect(new Set(received.map(({ headers, body }) => `${String(headers['idempotency-key'])} ${body}`)).size).toBe(1);
    expect(received[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    const printed = await push('1', 'retries=0', html);
    expect(printed).toMatch(/^ApiError: createTicket: 502\n.*text\/html.*Bad gateway/);
    expect(received).toHaveLength(1);
  });

  test('a Retry-After of an hour ends the call at once', async () => {
    const busy = { status: 429, headers: { 'Retry-After': '3600' }, body: '{}' };
    expect(await push('1', '', busy)).toContain('retry after 3600 s');
    expect(received).toHaveLength(1);
  });

  test('the message of a timeout names the limit', async () => {
    const printed = await push('1', 'timeout=0.2, retries=1', 'silence', 'silence');
    expect(printed).toBe('ApiTimeoutError: createTicket: no whole answer within 0.2 s');
    expect(received).toHaveLength(2);
  });

  test('a refused connection is repeated to the end, and names the address', async () => {
    const program = [
      'from haulbridge import *',
      'client = Client("http://127.0.0.1:1", "k", retries=1)',
      'try:',
      '    client.create_ticket(CreateScaleTicketRequest("s", []))',
      'except ApiConnectionError as error:',
      '    print(error, error.attempts)',
    ];
    expect(await runPython(program.join('\n'))).toMatch(
      /^createTicket: no answer from http:\/\/127\.0\.0\.1:1\/\S+: .*refused.* 2$/m,
    );
  });
});
