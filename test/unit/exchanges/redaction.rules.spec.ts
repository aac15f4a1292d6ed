import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { createKey } from '../../../src/auth/api-key.js';
import { bodyCells } from '../../../src/exchanges/exchange-row.js';
import { BodyCapture, keptBody } from '../../../src/core/http/body-capture.js';
import { redactBody, redactHeaders, redactPath } from '../../../src/exchanges/redaction.rules.js';
import { protectSecrets } from '../../../src/core/observability/known-secrets.js';
import { redacted, redactText } from '../../../src/core/observability/redaction.js';

const body = (text: string, secrets: string[] = []) => redactBody(text, 'every value', secrets).text;
const { key: KEY, prefix: PREFIX } = createKey();
const SECRET = 's3cr3t-Value/4711+=';

describe('members with secret names', () => {
  test.each([
    ['{"apiKey":"s3cret","a":1.50}', '{"apiKey":"[redacted]","a":1.50}'],
    ['{"a":[{"nextApiKey" : "s"}]}', '{"a":[{"nextApiKey" : "[redacted]"}]}'],
    ['{"token":12345,"n":12345678901234567890}', '{"token":"[redacted]","n":12345678901234567890}'],
    ['{"secret":{"a":["x",{"b":"}"}]},"c":1}', '{"secret":"[redacted]","c":1}'],
    ['{"password":["a","b"],"key":null}', '{"password":"[redacted]","key":"[redacted]"}'],
    ['{"\\u0061piKey":"s"}', '{"\\u0061piKey":"[redacted]"}'],
    ['{"key":"a\\"b","c":2}', '{"key":"[redacted]","c":2}'],
    ['\ufeff{"key":"a"}', '{"key":"[redacted]"}'],
    [
      '{"keyed":"stays","monkey":"stays","keyPrefix":"stays" }',
      '{"keyed":"stays","monkey":"stays","keyPrefix":"stays" }',
    ],
    ['{"a":"key","b":"token"}', '{"a":"key","b":"token"}'],
    ['{"a":{"password":"s"},"a":1}', '{"a":{"password":"[redacted]"},"a":1}'],
    ['{"a":1,"apiKey":"s3cr', '{"a":1,"apiKey":"[redacted]"'],
    ['{"apiKey":"s3cret" "broken', '{"apiKey":"[redacted]" "broken'],
    ['{"\\u0061pi_key":"s3cret" "broken', '{"\\u0061pi_key":"[redacted]" "broken'],
    ['{"a":1,"secret":{"b":"s3cret"', '{"a":1,"secret":"[redacted]"'],
    ['{"note":"{\\"apiKey\\":\\"s3cret\\"}"}', '{"note":"{\\"apiKey\\":\\"[redacted]\\"}"}'],
    ['api_key=s3cret&a=1', 'api_key=[redacted]&a=1'],
    ['api%5Fkey=s3cret&a=1', 'api%5Fkey=[redacted]&a=1'],
    ['a: 1\nX-Auth-Token: s3cret\nb: 2', 'a: 1\nX-Auth-Token: [redacted]\nb: 2'],
    ['<a><ns:ApiKey x="1">s3cret</ns:ApiKey></a>', '<a><ns:ApiKey x="1">[redacted]</ns:ApiKey></a>'],
    ['<apiKey><![CDATA[s3cret]]></apiKey>', '<apiKey>[redacted]</apiKey>'],
    ['<input name="password" value="s3cret">', '<input name="password" value="[redacted]">'],
  ])('%s', (given, expected) => expect(body(given)).toBe(expected));

  test.each([
    ...['apikey', 'ApiKey', 'API_KEY', 'api-key', 'X-Auth-Token', 'accessToken', 'client_secret', 'Authorization'],
    ...['refresh_token', 'id_token', 'Proxy-Authorization', 'Set-Cookie', 'X-Amz-Security-Token', 'sig', 'Passwd'],
    ...[
      'private_key',
      'aws_secret_access_key',
      'credentials',
      'jwt',
      'sessionId',
      'session_id',
      'AWSAccessKeyId',
      'access-key-id',
      'apiKey2',
      'PLATFORM-API-KEY',
      'pwd',
    ],
  ])('%s is secret in bodies, actions, headers, queries and log lines', (name) => {
    const texts = [
      body(JSON.stringify({ a: [{ [name]: 's3cret' }] })),
      body(`{"${name}":"s3cret`),
      JSON.stringify(redacted({ a: [{ [name]: ['s3cret'] }] })),
      redactHeaders({ [name]: 's3cret' }),
      redactPath(`/sites?a=1&${name}=s3cret`, 'signature'),
      body(`{"location":"/clips?${name}=s3cret"}`),
      redactText(`{"msg":"failed","${name}":"s3cret"} at /x?${name}=s3cret, {\\"${name}\\":\\"s3cret\\"}`),
    ];
    expect(texts.filter((text) => text.includes('s3cret') || !text.includes('[redacted]'))).toEqual([]);
  });
});

describe('links', () => {
  test.each([
    [
      '{"downloadUrl":"https://cdn.example/a.mp4?sig=s&e=1"}',
      '{"downloadUrl":"https://cdn.example/a.mp4?sig=[redacted]&e=[redacted]"}',
    ],
    ['{"u":"https:\\/\\/cdn.example\\/a?sig=s"}', '{"u":"https://cdn.example/a?sig=[redacted]"}'],
    ['{"u":"/a.mp4?x=s"}', '{"u":"/a.mp4?x=[redacted]"}'],
    ['{"u":"//cdn.example/a?s"}', '{"u":"//cdn.example/a?[redacted]"}'],
    ['<a href="https://cdn.example/a?sig=s">', '<a href="https://cdn.example/a?sig=[redacted]">'],
    ['{"u":"https://me:pass@cdn.example/#t=s"}', '{"u":"https://[redacted]@cdn.example/#t=[redacted]"}'],
    ['{"q":"Is it so? Yes = no"}', '{"q":"Is it so? Yes = no"}'],
  ])('of a partner lose every value: %s', (given, expected) => expect(body(given)).toBe(expected));

  test.each([
    ['Location', '/clips/1.mp4?x=s3cret'],
    ['Location', 'clips/1.mp4?X-Goog-Credential=s3cret&e=s3cret'],
    ['Link', '</clips/1.mp4?x=s3cret>; rel="next", <https://h.example/?x=s3cret>'],
    ['Referer', 'https://h.example/a?x=s3cret#y=s3cret'],
    ['Refresh', '0; url=/a?x=s3cret'],
    ['X-Trace', 'Bearer s3cret4711'],
  ])('in the header %s lose every value: %s', (name, value) => {
    expect(redactHeaders({ [name]: value })).not.toContain('s3cret');
  });

  test('of ours lose their signature', () => {
    expect(redactPath('/media/v1/clips/1.mp4?expires=5&signature=abc', 'signature')).toBe(
      '/media/v1/clips/1.mp4?expires=5&signature=[redacted]',
    );
    expect(redactPath('/sites?haulerId=1&api-key=abc&api%4Bey=x', 'signature')).toBe(
      '/sites?haulerId=1&api-key=[redacted]&api%4Bey=[redacted]',
    );
  });
});

/** The text in each form in which a secret of ours may be repeated. */
const forms = (secret: string): Readonly<Record<string, string>> => ({
  plain: secret,
  'upper case': secret.toUpperCase(),
  'percent-encoded': encodeURIComponent(secret),
  'percent-encoded in lower case': encodeURIComponent(secret).replace(/%../g, (octet) => octet.toLowerCase()),
  'in JSON': JSON.stringify(secret).slice(1, -1),
  'JSON in JSON': JSON.stringify({ a: JSON.stringify({ b: secret }) }).slice(1, -1),
});

/** The key of a partner, or a caller's that is none of ours: also as a partner may encode it (ADR 7). */
const encodedForms = (secret: string): Readonly<Record<string, string>> => ({
  ...forms(secret),
  'each letter percent-encoded': [...secret].map((each) => `%${each.charCodeAt(0).toString(16)}`).join(''),
  'encoded twice': encodeURIComponent(encodeURIComponent(secret)).replace(
    /^./,
    (each) => `%25${each.charCodeAt(0).toString(16)}`,
  ),
  'one letter escaped': `\\u00${secret.charCodeAt(0).toString(16)}${secret.slice(1)}`,
  'escaped as an entity': `&#${secret.charCodeAt(0)};&#x${secret.charCodeAt(1).toString(16)};${secret.slice(2)}`,
  hex: Buffer.from(secret).toString('hex'),
  base64: Buffer.from(secret).toString('base64'),
  'basic authentication': Buffer.from(`u:${secret}`).toString('base64'),
  'base64 behind two characters': Buffer.from(`ab${secret}cd`).toString('base64url'),
});

describe('a known secret is removed wherever it occurs', () => {
  const known = 'A-token:of%the"operator';
  protectSecrets([known]);

  test.each([
    ...Object.entries(forms(KEY)).map(([form, text]) => [`a key of ours, ${form}`, text] as const),
    ...Object.entries(encodedForms(SECRET)).map(([form, text]) => [`the key of a connection, ${form}`, text] as const),
    ...Object.entries(forms(known)).map(([form, text]) => [`a protected secret, ${form}`, text] as const),
  ])('%s', (_name, text) => {
    const json = JSON.stringify({ note: `a ${text}.`, [text]: [[text]] });
    const inJson = json.replaceAll('\\\\u00', '\\u00');
    const texts = {
      json: body(json, [SECRET]),
      escaped: body(inJson, [SECRET]),
      damaged: body(`${json}x`, [SECRET]),
      form: body(`a=1&note=${text}&b=2`, [SECRET]),
      markup: body(`<p>${text}</p>`, [SECRET]),
      path: redactPath(`/tickets/${text}?b=2`, 'signature', [SECRET]),
      header: redactHeaders({ 'x-request-id': text }, [SECRET]),
      sentence: redactText(`The partner returned ${text}, twice.`, [SECRET]),
      line: redactText(json, [SECRET]),
    };
    for (const [place, found] of Object.entries(texts)) {
      expect({ place, found: found.includes(text), isRedacted: found.includes('[redacted]') }).toEqual({
        place,
        found: false,
        isRedacted: true,
      });
    }
    for (const result of [texts.json, texts.escaped, texts.header])
      expect(() => JSON.parse(result) as unknown).not.toThrow();
  });

  test('the prefix of a key stays', () => {
    expect(body(`{"keyPrefix":"${PREFIX}"}`)).toBe(`{"keyPrefix":"${PREFIX}"}`);
  });
});

test('headers with keys, cookies and credentials lose their values', () => {
  const headers = { 'API-KEY': 'a', authorization: 'b', Cookie: 'c', 'set-cookie': ['d'], accept: '*/*' };
  expect(Object.values(JSON.parse(redactHeaders(headers)) as object)).toEqual([
    '[redacted]',
    '[redacted]',
    '[redacted]',
    '[redacted]',
    '*/*',
  ]);
});

describe('a body is redacted before it is cut', () => {
  const cells = (content: string | Buffer) =>
    bodyCells(keptBody(content, 16_384 + 65_536), { rule: 'signature', secrets: [], maxBytes: 16_384 });
  const stored = (content: string | Buffer) => {
    const { text } = cells(content);
    return `${text} ${Buffer.from(text ?? '', 'base64').toString('latin1')}`;
  };

  test.each([0, 20, 40, 51])('a key of which %i characters stand before the cut', (before) => {
    const text = `{"note":"${'x'.repeat(16_384 - 9 - before)}${KEY}","rest":"${'y'.repeat(200_000)}"}`;
    expect(stored(text)).not.toContain(KEY.slice(0, Math.max(before, 12)));
    expect(stored(text.slice(0, 30_000))).not.toContain('hb_');
    const member = `{"note":"${'x'.repeat(16_384 - 21 - before)}","apiKey":"s3cret${'s'.repeat(80)}`;
    expect(stored(`${member}${'s'.repeat(200_000)}"}`)).not.toContain('s3cr');
  });

  test.each([
    ['Latin-1', Buffer.from(`{"name":"\xe4","token":"s3cret","note":"${KEY}"}`, 'latin1')],
    ['UTF-16', Buffer.from(`{"token":"s3cret","note":"${KEY}"}`, 'utf16le')],
    ['gzip without a header that says so', gzipSync(`{"note":"${KEY}"}`)],
  ])('bytes that are no text: %s', (_name, bytes) => {
    const found = stored(bytes).replaceAll('\0', '');
    expect([KEY, 's3cret'].filter((secret) => found.includes(secret))).toEqual([]);
    expect(cells(bytes).text).not.toBe(bytes.toString('base64'));
  });
});

test('a long hostile body is redacted in linear time', () => {
  const started = performance.now();
  for (const text of [
    `{"key":${'['.repeat(100_000)}`,
    '['.repeat(100_000),
    '{"a":'.repeat(100_000),
    '"'.repeat(100_001),
    `{"a":"${'\\'.repeat(100_001)}`,
    `key${'\\'.repeat(100_001)}`,
    'key'.repeat(100_000),
    'key='.repeat(100_000),
    '<a '.repeat(100_000),
    '<key>'.repeat(100_000),
    `<a ${'key="'.repeat(100_000)}`,
    '?a='.repeat(100_000),
    '?'.repeat(100_000),
    '//'.repeat(100_000),
    '://'.repeat(100_000),
    '%68'.repeat(100_000),
    `aGJf${'A'.repeat(100_000)}`,
    'aGJf '.repeat(100_000),
    'bearer '.repeat(100_000),
    `"key":"${'\\"'.repeat(100_000)}`,
  ]) {
    body(text, [SECRET]);
    redactText(text, [SECRET]);
  }
  expect(performance.now() - started).toBeLessThan(20_000);
});

test('a captured body ends with a whole character', () => {
  const capture = new BodyCapture(4);
  capture.add('aäää');
  expect(capture.kept()).toMatchObject({ content: Buffer.from('aä'), sizeBytes: 7, truncated: true });
});
