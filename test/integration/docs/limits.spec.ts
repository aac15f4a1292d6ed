import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { VARIABLES } from '../../../src/config/variables.js';
import { MAX_RECORD_BYTES, MAX_WHOLE_BYTES } from '../../../src/contracts/common/answer-limits.js';
import { MAX_JSON_DEPTH } from '../../../src/contracts/common/json.js';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../../src/contracts/common/pagination.dto.js';
import { MAX_HOURS_AHEAD } from '../../../src/contracts/scale/scale.api.js';
import { LAST_ROW } from '../../../src/database/list-page.js';
import { GUIDES } from '../../../src/docs/guides.js';
import { SERVER_LIMITS } from '../../../src/http/http-server.js';
import { KEPT_FOR } from '../../../src/idempotency/idempotency.repository.js';
import { INTERVALS } from '../../../src/partner-client/connection.rules.js';
import { MAX_ATTEMPTS, MAX_RETRY_AFTER_MS } from '../../../src/partner-client/partner-failure.js';
import { MAX_SUBMITS } from '../../../src/vision/clips/clip-submit.rules.js';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = join(ROOT, 'docs/limits.md');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

interface Schema {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly additionalProperties: Schema;
}

const schemas = (name: string) =>
  (JSON.parse(read(`docs/openapi/${name}.json`)) as { components: { schemas: Record<string, Schema> } }).components
    .schemas;
const of = (name: string, schema: string, ...path: string[]): Schema => {
  const found = path.reduce<Schema | undefined>((at, each) => at?.properties[each], schemas(name)[schema]);
  if (found === undefined) throw new Error(`${name}.json has no ${schema} ${path.join('.')}`);
  return found;
};

const number = (value: number) => value.toLocaleString('en-US');
const mebibytes = (bytes: number) => `${number(bytes / 1_048_576)} MiB`;
const lengths = ({ minLength = 0, maxLength }: Schema) => `${minLength} to ${number(maxLength ?? NaN)} characters`;

function period(milliseconds: number): string {
  const units = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ] as const;
  // A day is written as 24 h.
  const [size, name] = units.find(([each]) => milliseconds % each === 0 && milliseconds > each) ?? [1_000, 's'];
  return `${milliseconds / size} ${name}`;
}

const BODY = mebibytes(VARIABLES.HTTP_BODY_LIMIT.fallback);
const ANSWER = mebibytes(VARIABLES.PARTNER_BODY_LIMIT.fallback);
const ANSWER_TIME = period(VARIABLES.PARTNER_ANSWER_TIMEOUT.fallback * 1).replace('1 min', '60 s');
const CONNECT_TIME = period(VARIABLES.PARTNER_CONNECT_TIMEOUT.fallback);
const RETRY_AFTER = period(MAX_RETRY_AFTER_MS);
const KEPT = KEPT_FOR.replace(' hours', ' h');
const CLIP = `${VARIABLES.VISION_MAX_CLIP_MINUTES.fallback} min`;

type Row = readonly [limit: string, value: string, setting?: keyof typeof VARIABLES];

/** What a partner sends. */
const SENT: readonly Row[] = [
  ['JSON body', BODY, 'HTTP_BODY_LIMIT'],
  ['nesting of JSON', `${MAX_JSON_DEPTH} levels`],
  ['time for the headers; for a JSON body', `${period(SERVER_LIMITS.headers)}; ${period(SERVER_LIMITS.jsonBody)}`],
  ['requests of a key in a minute, counted over all instances', 'no limit', 'RATE_LIMIT_PER_MINUTE'],
  [
    'materials of a ticket',
    `${of('scale', 'CreateScaleTicketRequest', 'materials').minItems} to ${number(of('scale', 'CreateScaleTicketRequest', 'materials').maxItems ?? NaN)}`,
  ],
  ['name of a material', lengths(of('scale', 'MaterialItem', 'name'))],
  ['ticket number', lengths(of('scale', 'FlowData', 'ticketNumber'))],
  ['custom fields of a ticket', number(of('scale', 'CreateScaleTicketRequest', 'customFields').maxProperties ?? NaN)],
  ['value of a custom field', lengths(of('scale', 'CreateScaleTicketRequest', 'customFields').additionalProperties)],
  ['`updatedAt` ahead of the clock of the platform', `${MAX_HOURS_AHEAD} h`],
  ['`accountName`', lengths(of('account', 'CreateAccountRequest', 'accountName'))],
  ['`Idempotency-Key`', '1 to 255 visible ASCII characters'],
  ['time for which an `Idempotency-Key` is kept', KEPT],
  ['`pageSize`', `${DEFAULT_PAGE_SIZE}, at most ${MAX_PAGE_SIZE}`],
  ['rows that `page` reaches; `cursor` goes on', number(LAST_ROW)],
];

/** What the platform waits for and takes when it calls a partner. */
const HOSTED: readonly Row[] = [
  ['time to connect', CONNECT_TIME, 'PARTNER_CONNECT_TIMEOUT'],
  ['time for a whole answer', ANSWER_TIME, 'PARTNER_ANSWER_TIMEOUT'],
  ['size of an answer with a list', ANSWER, 'PARTNER_BODY_LIMIT'],
  ['size of an answer without a list; of one record', `${mebibytes(MAX_WHOLE_BYTES)}; ${mebibytes(MAX_RECORD_BYTES)}`],
  ['attempts of a `GET`', String(MAX_ATTEMPTS)],
  ['attempts of the `POST` for a clip', String(MAX_SUBMITS)],
  ['`Retry-After` that a call waits for', RETRY_AFTER],
  ['interval of synchronisations', period(INTERVALS.site.standard * 1_000)],
  ['interval of reading continuous recordings', period(INTERVALS.vision.standard * 1_000)],
  ['how far back recordings are read again / how often', VARIABLES.VISION_REREAD.shownDefault, 'VISION_REREAD'],
  ['time for a clip from its request', VARIABLES.VISION_REQUEST_DEADLINE.shownDefault, 'VISION_REQUEST_DEADLINE'],
  ['length of one clip', CLIP, 'VISION_MAX_CLIP_MINUTES'],
  ['time for the first byte of a file', VARIABLES.VISION_FIRST_BYTE_TIMEOUT.shownDefault, 'VISION_FIRST_BYTE_TIMEOUT'],
  [
    'time in which a recording must become available',
    VARIABLES.VISION_DOWNLOAD_DEADLINE.shownDefault,
    'VISION_DOWNLOAD_DEADLINE',
  ],
  [
    'files at once from one connection; in all',
    `${VARIABLES.DOWNLOAD_CONCURRENCY_PER_CONNECTION.fallback}; ${VARIABLES.DOWNLOAD_CONCURRENCY.fallback}`,
    'DOWNLOAD_CONCURRENCY',
  ],
  ['life of a link of the partner side of haulbridge', VARIABLES.VISION_LINK_TTL.shownDefault, 'VISION_LINK_TTL'],
];

const table = (rows: readonly Row[]) =>
  [
    '| limit | value | setting |',
    '| --- | --- | --- |',
    ...rows.map(
      ([limit, value, setting]) => `| ${limit} | ${value} | ${setting === undefined ? '' : `\`${setting}\``} |`,
    ),
  ].join('\n');

const limitsPage = () => `# Limits

<!-- Generated from the code: \`npm run limits\` writes it. -->

Values are the defaults. Where a setting is named, the operator of the service may have chosen another value. What protects a service from its
callers is in the [operator guide](guides/operator.md#limits).

## If you call the platform

${table(SENT)}

## If you host Site or Vision

${table(HOSTED)}
`;

test('docs/limits.md has the limits of the code: UPDATE_LIMITS=1 writes it', () => {
  if (process.env['UPDATE_LIMITS'] === '1') writeFileSync(PAGE, limitsPage());
  expect(readFileSync(PAGE, 'utf8')).toBe(limitsPage());
  expect(limitsPage()).not.toMatch(/NaN|undefined/);
});

const oneLine = (text: string) => text.replace(/\s+/g, ' ');
const seconds = ANSWER_TIME.replace(' s', '');

/** Sentences that quote a limit, made from the same values. */
test.each([
  ['Swagger of Scale', GUIDES.scale, `A body of more than ${BODY} gets 413`],
  ['Swagger of Scale', GUIDES.scale, 'holds 1 to 255 visible ASCII characters'],
  ['Swagger of Scale', GUIDES.scale, `For ${KEPT.replace(' h', ' hours')} a repeat gets the first response`],
  ['Swagger of Site', GUIDES.site, `the whole response within ${seconds} seconds and in at most ${ANSWER}`],
  ['Swagger of Vision', GUIDES.vision, `the whole response within ${seconds} seconds and in at most ${ANSWER}`],
  ['Swagger of admin', GUIDES.admin, `\`pageSize\` (${DEFAULT_PAGE_SIZE} by default, at most ${MAX_PAGE_SIZE})`],
  ['partner-calling', read('docs/guides/partner-calling.md'), `too large (${BODY} by default)`],
  [
    'partner-hosting',
    read('docs/guides/partner-hosting.md'),
    `established within ${CONNECT_TIME}, and the complete answer must arrive within ${ANSWER_TIME}`,
  ],
  ['partner-hosting', read('docs/guides/partner-hosting.md'), `${ANSWER_TIME} for an answer (\`--timeout\`)`],
  [
    'partner-hosting',
    read('docs/guides/partner-hosting.md'),
    `${ANSWER} for a list, ${mebibytes(MAX_RECORD_BYTES)} for each record of it and ${mebibytes(MAX_WHOLE_BYTES)} for an acknowledgement`,
  ],
  [
    'operator',
    read('docs/guides/operator.md'),
    `a \`GET\` up to ${MAX_ATTEMPTS} times, \`Retry-After\` up to ${RETRY_AFTER}`,
  ],
  ['operator', read('docs/guides/operator.md'), `${ANSWER_TIME} each, ${CONNECT_TIME} to connect, ${ANSWER}`],
  [
    'operator',
    read('docs/guides/operator.md'),
    `Headers must arrive within ${period(SERVER_LIMITS.headers)} and a JSON body within ${period(SERVER_LIMITS.jsonBody)}`,
  ],
  ['decisions', read('docs/decisions.md'), `A body has at most ${BODY}`],
])('%s quotes the limits: %#', (_document, text, sentence) => {
  expect(oneLine(text)).toContain(sentence);
});

test.each(['partner-calling', 'partner-hosting', 'sandbox', 'admin'])(
  '%s links the table of limits, or quotes none',
  (name) => {
    const text = read(`docs/guides/${name}.md`);
    if (/\d+ ?(?:[KMG]i?B)\b/.test(text)) expect(text).toContain('](../limits.md)');
  },
);

/** Decision 16. */
test.each([
  ['Swagger of Scale', GUIDES.scale, /other body[^.]*422/, /other body[^.]*409/],
  ['Swagger of Account', GUIDES.account, /other body[^.]*409/, /other body[^.]*422/],
  [
    'partner-calling',
    read('docs/guides/partner-calling.md'),
    /other bytes is refused: 422 of a ticket, 409 of an account/,
    /refused: 409 of a ticket/,
  ],
  ['decisions', read('docs/decisions.md'), /other bytes are refused \(Scale 422, Account 409\)/, /Scale 409/],
])('%s says which status a reused key has', (_document, text, right, wrong) => {
  expect(oneLine(text)).toMatch(right);
  expect(oneLine(text)).not.toMatch(wrong);
});
