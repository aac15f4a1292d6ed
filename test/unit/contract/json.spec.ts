import { describe, expect, it } from '@jest/globals';
import {
  isDoubtfulText,
  JsonText,
  JsonTextCheck,
  parseJson,
  stringifyWithJsonText,
} from '../../../src/contracts/common/json.js';
import fc from '../../support/fast-check.js';

const UNICODE = 'valid Unicode without U+0000 and without lone surrogates';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

const violationsOf = (body: string) => new JsonTextCheck().check(parseJson(body)).with([]);

describe('a JSON body (decision 8)', () => {
  it.each([
    ['an object', '{"a":[1,"x",null]}', { a: [1, 'x', null] }],
    ['JSON after a byte order mark', '\ufeff{"a":1}', { a: 1 }],
    ['an escaped surrogate pair', '{"a":"\\ud83d\\ude00"}', { a: '😀' }],
    ['an escaped backslash before u0000', '{"a":"\\\\u0000"}', { a: '\\u0000' }],
    ['brackets in text', JSON.stringify({ a: '[{'.repeat(40) }), { a: '[{'.repeat(40) }],
    ['32 levels', nested(32), JSON.parse(nested(32)) as unknown],
  ])('is accepted: %s', (_name, body, value) => {
    expect(parseJson(body)).toEqual(value);
    expect(violationsOf(body)).toEqual([]);
  });

  it('keeps __proto__ as a plain name', () => {
    const value = parseJson('{"__proto__":"x"}') as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it.each([
    ['U+0000 in a value', '{"a":["x\\u0000"]}', 'a[0]', 'isText', `a[0] must be ${UNICODE}`],
    ['U+0000 as the body', '"\\u0000"', '', 'isText', `the body must be ${UNICODE}`],
    ['a lone high surrogate', '{"a":{"b.c":"\\ud83d"}}', 'a["b.c"]', 'isText', `a["b.c"] must be ${UNICODE}`],
    ['a lone low surrogate', '{"a":"\\uDE00"}', 'a', 'isText', `a must be ${UNICODE}`],
    ['U+0000 in a name', '{"a":{"x\\u0000":1}}', 'a', 'isText', `a must have field names that are ${UNICODE}`],
    ['33 levels', nested(33), '[0]'.repeat(32), 'maxDepth', `${'[0]'.repeat(32)} must not be nested deeper than 32`],
    ['100,000 levels', nested(100_000), '[0]'.repeat(32), 'maxDepth', undefined],
  ])('is refused: %s', (_name, body, path, rule, message) => {
    const violations = violationsOf(body);
    expect(violations).toMatchObject([{ path, rule }]);
    if (message !== undefined) expect(violations[0]?.message).toBe(message);
  });

  it('reports every fault, each path once', () => {
    const deep = `${'['.repeat(40)}1${']'.repeat(40)}`;
    const body = `{"a":"\\u0000","b":[1,{"\\ud800":1,"\\u0000":2},"\\udfff",[]],"c":{},"d":${deep},"e":"\\u0000"}`;
    expect(violationsOf(body).map(({ path, rule }) => `${path} ${rule}`)).toEqual([
      'a isText',
      'b[1] isText',
      'b[2] isText',
      `d${'[0]'.repeat(31)} maxDepth`,
      'e isText',
    ]);
  });

  it('reports a path once when its text and its field are both invalid', () => {
    const check = new JsonTextCheck().check({ a: '\0' });
    const ofFields = ['a', 'b'].map((path) => ({ path, rule: 'isLength' as const, message: '' }));
    expect(check.with(ofFields).map(({ path, rule }) => [path, rule])).toEqual([
      ['a', 'isText'],
      ['b', 'isLength'],
    ]);
  });

  it('locates a value that is part of a larger body', () =>
    expect(new JsonTextCheck().check({ a: '\0' }, ['sites', 7], 3).violations).toMatchObject([{ path: 'sites[7].a' }]));
});

describe('JSON text in a response', () => {
  it('is copied unchanged; other fields are written as by JSON.stringify', () => {
    const text = '{ "n" : [1e309, -0, 1.0, 12345678901234567890], "n":"\\u0041" }';
    const fields = { id: 'a"b', at: undefined, flow: { n: 1, none: undefined }, body: new JsonText(`\ufeff${text}`) };
    expect(stringifyWithJsonText(fields)).toBe(`{"id":"a\\"b","flow":{"n":1},"body":${text}}`);
  });
});

describe('a JSON text that is not doubtful', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('a', '\0', '\ud800', '\udfff', '\ud83d\ude00', '\\', 'u', '0', '[', '{', '"') }),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'large', withCrossShrink: true },
      fc.oneof(text, fc.constantFrom(1, null, true)),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  const deep = fc.tuple(value, fc.nat(40)).map(([inner, levels]) => {
    let all = inner;
    for (let i = 0; i < levels; i++) all = i % 2 === 0 ? [all] : { a: all };
    return all;
  });

  it('has nothing that decision 8 forbids', () => {
    fc.assert(
      fc.property(deep, fc.boolean(), (content, isUpper) => {
        const written = JSON.stringify(content);
        const sent = isUpper
          ? written.replace(/\\u[0-9a-f]{4}/g, (escape) => `\\u${escape.slice(2).toUpperCase()}`)
          : written;
        if (isDoubtfulText(sent)) return;
        expect(new JsonTextCheck().check(parseJson(sent)).with([])).toEqual([]);
      }),
    );
  });

  it.each([
    '{"a":"\\u0000"}',
    '{"a":"\\uD800"}',
    '{"\\udfFF":1}',
    nested(33),
    `${'{"a":'.repeat(20)}${nested(13)}${'}'.repeat(20)}`,
  ])('is not %s', (body) => expect(isDoubtfulText(body)).toBe(true));

  it.each(['{"a":"\\ud7ff\\ue000"}', '{"a":"\\u0001"}', nested(32)])('is %s', (body) =>
    expect(isDoubtfulText(body)).toBe(false),
  );
});
